#pragma once
// One worker over HTTP: a backend whose attempts are carried out by a process elsewhere, which asks for them. (docs/any-language.md has the
// worker's side.)
//
// The worker takes attempts by long polls, whose answers are numbered. Each take names the last answer that has arrived, so attempts of later
// answers are sent again: a lost answer costs a round trip. The worker counts leases by its own clock, from before it sent the take or the
// heartbeat. The times of an answer are counted from when the request had come, so its lease never ends later than the one of the host.
//
// An attempt that no answer carried has not begun. It is given back as such once nobody takes for `give_back_after`, or shortly before
// its lease ends, and the Scheduler hands it to another instance at once. An attempt that may have been carried by an answer of another
// node is never given back.
//
// Outcomes and heartbeats are answered once the shard has recorded or refused them. All functions belong to the host's thread: see
// host_call in actors/protocol/local_messages.hpp.
//
// Files: session.cpp takes and gives back attempts, reports.cpp handles outcomes and heartbeats.

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "actors/agents/carried.hpp"
#include "actors/core/planted_faults.hpp"
#include "messages/time.hpp"

namespace fairlead::agents {

/// Rests of a worker, in milliseconds for its registration's answer.
inline constexpr duration worker_silence{15'000};    // without a request for so long it is away
inline constexpr duration worker_forgotten{60'000};  // without one, and with no attempt, for so long its session ends
inline constexpr duration longest_take{60'000};
inline constexpr std::uint32_t most_worker_attempts = 1'000;  // capacity
inline constexpr std::size_t most_worker_items = 1'000;       // of one request

class worker_session final : public carried_backend {
 public:
  struct definition {
    std::vector<std::string> calls;
    std::vector<std::string> lookups;
    std::vector<v1::CallPolicy> policies;
    std::uint32_t capacity = 1;
    /// The session has been at another node, or at this one before: the worker holds the attempts of these tickets.
    bool moved = false;
    std::vector<std::string> have;
    const core::planted_faults* planted = nullptr;  // tests only
  };

  worker_session(definition as, const clock& time);

  // ---- the worker's requests; `came`: when the request had come, by the steady clock ----

  struct attempt {
    v1::Perform what;
    std::int64_t lease_ms = 0;  // from when the take had come, less `waited_ms`
  };
  struct take_answer {
    std::uint64_t number = 0;
    std::int64_t waited_ms = 0;
    std::vector<attempt> attempts;
    bool draining = false;
  };
  struct take_request {
    std::uint32_t most = 1;
    duration wait{};
    std::uint64_t after = 0;
    moment came;
    std::function<bool()> is_waiting{};  // whoever sent it; empty: it is
  };
  using taker = std::function<void(result<take_answer>)>;
  /// `done` is called once. A take that comes later ends this one. Returns a number for `client_gone`.
  std::uint64_t take(const take_request& what, taker done);
  /// Whoever sent the take does not wait any more.
  void client_gone(std::uint64_t take);
  /// Nothing of the answer was sent: it has carried nothing.
  void unsent(std::uint64_t answer);

  struct beat {
    std::string ticket;
    std::uint64_t sequence = 0;  // rises; an earlier one changes nothing. 0: not given
    attempt_progress progress;
  };
  struct beat_answer {
    bool held = false;
    std::int64_t lease_ms = 0;    // from when the request had come
    bool never_was_held = false;  // here or, by what the worker named as it registered, at another node
  };
  /// Answers in the order of the items. `unavailable`: a shard has not answered in time; the request may be sent again.
  void heartbeats(std::vector<beat> items, moment came, std::function<void(result<std::vector<beat_answer>>)> done);

  struct report {
    std::string ticket;
    attempt_result result;
  };
  enum class report_result { accepted, repeated, not_held };
  struct report_answer {
    report_result result = report_result::not_held;
    std::string why;              // if it is not held, or another than the one that is repeated
    bool never_was_held = false;  // as of heartbeats
  };
  /// As heartbeats().
  void outcomes(std::vector<report> items, std::function<void(result<std::vector<report_answer>>)> done);

  /// The worker takes no more.
  status drain();
  /// The worker ends. An error while attempts are held, unless they are `abandoned`: these are then in doubt.
  status leave(bool abandoned);
  /// The node ends: takes are answered, and what no answer carried is given back.
  void close();
  /// Attempts that the worker holds, or may hold, also those that no shard has handed over again since it moved.
  std::size_t held() const;

  // ---- backend ----

  void start(const v1::Perform& what, completion done) override;
  void stop(const attempt_key& which) override;
  std::vector<std::string> calls() const override { return as_.calls; }
  std::vector<std::string> lookups() const override { return as_.lookups; }
  /// What the shards may send: what the worker holds and, while it asks for more, as much as it asked for.
  std::uint32_t capacity() const override { return planted(&core::planted_faults::offer_without_take) ? as_.capacity : offered_; }
  std::vector<v1::CallPolicy> policies() const override { return as_.policies; }
  void report_progress_to(progress_sink sink) override { sink_ = std::move(sink); }
  bool beats_itself() const override { return true; }
  void shut_down() override;

  void recorded(const attempt_key& which, bool accepted) override;
  void beat_sent(const attempt_key& which, std::uint64_t sequence) override;
  void renewed(const attempt_key& which, std::uint64_t sequence, moment lease_end) override;
  void welcomed(std::uint32_t shard, std::uint32_t held) override;
  void caught_up() override;
  std::optional<moment> next_wake() const override;
  wish wants() const override;
  void superseded() override;

 private:
  /// Several items of one request that wait for their shards.
  template <class Answer>
  struct pending {
    std::vector<Answer> answers;
    std::size_t open = 0;  // answers that are still to come
    moment came;
    moment until;
    std::function<void(result<std::vector<Answer>>)> done;  // empty: answered

    void answer_one() {
      if (--open == 0) answer(std::move(answers));
    }
    void answer(result<std::vector<Answer>> what) {
      if (done) std::exchange(done, nullptr)(std::move(what));
    }
  };
  using pending_beats = std::shared_ptr<pending<beat_answer>>;
  using pending_reports = std::shared_ptr<pending<report_answer>>;

  struct awaited_beat {
    pending_beats of;
    std::size_t item = 0;
    std::uint64_t sequence = 0;  // of the host's heartbeat; 0: it has not been sent
  };
  struct held_attempt {
    v1::Perform what;
    completion done;
    moment lease_end;
    moment came;
    std::uint64_t answer = 0;   // that carried it last; 0: none of this node
    bool is_carried = false;    // an answer has carried it
    bool was_carried = false;   // one before the latest that did
    bool is_known = false;      // the worker has it
    bool may_be_known = false;  // the answer of another node may have carried it
    std::uint64_t last_beat = 0;
    std::vector<awaited_beat> beats{};
  };
  struct awaited_report {
    pending_reports of;
    std::size_t item = 0;
    std::size_t outcome = 0;
  };
  struct reported {
    std::string ticket;
    std::size_t outcome = 0;  // fingerprint of the first one, as of those that wait
    std::vector<awaited_report> waiting;
  };
  struct told_report {
    report_result how = report_result::not_held;
    std::size_t outcome = 0;  // fingerprint; 0 of an attempt that has ended without one
  };
  struct waiting_take {
    std::uint64_t number = 0;
    take_request what;
    taker done;
  };
  struct side {
    std::optional<moment> welcomed{};  // first
    std::uint32_t held = 0;            // by the shard's records then
    std::uint32_t seen = 0;            // attempts handed over since
  };
  using held_attempts = std::unordered_map<attempt_key, held_attempt, attempt_key_hash>;

  moment now() const { return time_.steady(); }
  bool planted(bool core::planted_faults::*which) const { return as_.planted != nullptr && as_.planted->*which; }
  static error gone();
  static std::int64_t lease_from(moment lease_end, moment from);
  bool is_over() const { return leaves_ || ends_; }
  void heard() { last_request_ = now(); }
  bool settled(std::uint32_t shard) const;
  bool may_be_on_its_way(const std::string& ticket) const;
  bool was_held(const std::string& ticket) const;
  std::size_t carried() const;
  void set_known(held_attempt& one);

  void confirm(std::uint64_t after);
  void end_take();
  void deliver();
  moment given_back_at(const held_attempt& one) const;
  void give_back(bool all);
  void look_at_offer();
  moment last_sign() const;
  bool is_silent() const;
  void forget(held_attempts::iterator which);
  void answer_beats(held_attempt& one, bool held);
  void end_late_requests();
  void remember(const std::string& ticket, told_report what);
  std::string ticket_of_step(const std::string& ticket) const;

  const definition as_;
  const clock& time_;
  progress_sink sink_;

  held_attempts attempts_;
  std::unordered_map<std::string, attempt_key> tickets_;                 // of attempts_
  std::list<attempt_key> queue_;                                         // of those that the next answers carry, in order
  std::unordered_map<attempt_key, reported, attempt_key_hash> reports_;  // outcomes on their way to the shard
  std::unordered_map<std::string, attempt_key> reported_;                // tickets of reports_
  std::unordered_map<std::string, told_report> told_;                    // tickets of recorded and refused outcomes
  std::deque<std::string> told_order_;                                   // the same, oldest first
  std::unordered_set<std::string> have_;
  std::map<std::uint32_t, side> shards_;

  std::optional<waiting_take> take_;
  std::uint64_t takes_ = 0;
  std::uint64_t answers_ = 0;  // that have carried attempts
  std::uint32_t most_ = 0;     // of the latest take
  moment last_request_;
  moment last_turn_;  // take or outcomes: a worker that sends heartbeats alone asks for nothing
  moment last_take_;  // its end
  std::uint32_t offered_ = 0;
  std::vector<pending_beats> waiting_beats_;
  std::vector<pending_reports> waiting_reports_;
  bool drains_ = false;
  bool drain_told_ = false;
  bool leaves_ = false;
  bool abandons_ = false;  // it leaves, whatever it holds
  bool ends_ = false;
};

}  // namespace fairlead::agents
