#pragma once
// The process of a worker over HTTP. It keeps the eight rules of docs/any-language.md by a monotonic clock of its own, whose rate is a little
// off, and works on its attempts as other agents' processes do.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/agents/worker/session.hpp"
#include "tests/simulation/agents/agent_work.hpp"

namespace fairlead::simulation {

/// What a worker says of itself when it registers, and what it gets.
struct hand_registration {
  std::string session;  // of a former registration; empty: none
  std::uint64_t moves = 0;
  std::uint64_t incarnation = 0;
  std::vector<std::string> have;
  bool vouched = false;
  std::function<bool()> is_wanted;  // whether the worker still waits for a first registration
};
struct hand_session {
  std::uint64_t carrier = 0;
  std::string session;
  std::uint64_t moves = 0;
  std::uint64_t incarnation = 0;
};

class agents::hand final : public labour {
 public:
  hand(world& in, services& behind, const agent_site& site, worker& of, surroundings around);

  void begin();
  /// It goes on at another node, or at the same one; answers of the former host may still come.
  void move();
  /// It is told to end: it finishes what it holds for a while, and abandons the rest.
  void end();
  std::uint64_t incarnation() const { return me_.incarnation; }
  bool all_told() const { return held_.empty(); }
  labour& work() { return *this; }

 private:
  using session = fairlead::agents::worker_session;
  struct item {
    v1::Perform what;
    fairlead::agents::attempt_key key;
    std::int64_t ends_us = 0;   // its lease, by the steady clock here
    std::int64_t heard_us = 0;  // when the message left that said so
    std::uint64_t beats = 0;
    std::optional<fairlead::agents::attempt_result> result;
    bool is_spoken_of = false;
  };

  void begins(const fairlead::agents::attempt_key&, const v1::Perform&) override {}
  void tells(const fairlead::agents::attempt_key& key, fairlead::agents::attempt_progress what) override;
  void after_message() override {}

  std::int64_t steady_us() const;
  void sign_in();
  void signed_in(std::uint64_t attempt, std::size_t node, const result<hand_session>& answer);
  void failed(std::uint64_t session);
  void take();
  void take_once(std::uint64_t number);
  void taken(std::uint64_t number, std::int64_t stamp_us, const result<session::take_answer>& answer);
  void keep(const session::attempt& one, std::int64_t stamp_us, std::int64_t waited_ms);
  void judge_lease(const item& one) const;
  void set_end(item& one, std::int64_t stamp_us, std::int64_t lease_ms);
  void drain();
  void drained(std::uint64_t carrier, const status& answer);
  void leave();
  void left(std::uint64_t number, std::uint64_t carrier, const status& answer);
  void let_go();
  void finished(const fairlead::agents::attempt_key& key, fairlead::agents::attempt_result result);
  void report();
  void report_once(std::uint64_t number);
  void reported(std::uint64_t number, const std::vector<std::string>& tickets, const result<std::vector<session::report_answer>>& answer);
  void beat(const std::string& ticket, fairlead::agents::attempt_progress what);
  void beat_on(const std::string& ticket);
  void end_lease(const std::string& ticket);
  item* find(const fairlead::agents::attempt_key& key, std::string* ticket = nullptr);
  std::int64_t luck_ms(std::int64_t low, std::int64_t high) { return world_.doors.between(low, high) * millisecond; }
  void later(std::int64_t delay_us, std::function<void(hand&)> what);

  worker& of_;
  std::function<void(const std::function<void(labour&)>&)> self_;
  const host_clock* wall_;
  const std::int64_t origin_us_;
  const std::int64_t rate_ppm_;
  std::map<std::string, item> held_;  // by ticket; until the outcome is taken
  std::set<std::string> begun_;       // tickets
  std::size_t node_ = 0;
  std::uint64_t carrier_ = 0;  // 0: it has to register
  std::string session_;
  std::uint64_t moves_ = 0;
  std::uint64_t sign_ins_ = 0;
  std::uint64_t after_ = 0;
  std::uint64_t takes_ = 0;    // requests; answers of earlier ones than the latest do not come any more
  std::uint64_t reports_ = 0;  // likewise
  bool takes_now_ = false;
  bool reports_now_ = false;
  int failures_ = 0;           // in a row
  std::set<std::string> had_;  // what it said to have when it registered last
  bool drains_ = false;        // it wants no more, and says so to each node that carries it
  bool is_drained_ = false;    // its node has confirmed that
  bool leaves_now_ = false;    // it holds nothing, and has asked to leave
  bool abandons_ = false;      // it has let go of what it held
  std::int64_t abandons_at_us_ = 0;
  std::uint64_t leaves_ = 0;  // requests
  int unheard_leaves_ = 0;    // in a row, while it held nothing
};

}  // namespace fairlead::simulation
