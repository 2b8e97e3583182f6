#pragma once
// A worker over HTTP: its process (hand.hpp), and the nodes that carry it. Each node has a clock and links of its own; it carries the worker as
// actors/workers does, by a host of production over a session of production. A node dies and comes back; the worker goes on at another one, and
// the former host may live on, cut off. Requests and answers between worker and nodes are lost, late, and repeated.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "actors/agents/worker/session.hpp"
#include "tests/simulation/agents/agent_post.hpp"
#include "tests/simulation/agents/hand.hpp"

namespace fairlead::simulation {

class agents::worker {
 public:
  /// `clock`: of the first of its nodes.
  worker(world& in, services& behind, const agent_site& site, const core::planted_faults& planted, host_clock& clock,
         const std::vector<shard*>& shards, const std::vector<checker*>& judges);
  ~worker();

  void start();
  void node_started(std::uint32_t shard);
  void node_died(std::uint32_t shard);
  void core_died(std::uint32_t shard, std::uint64_t core);
  bool dead(std::uint64_t incarnation) const;
  bool all_told() const;
  /// Of the node that it speaks with.
  link& link_of(std::uint32_t shard) { return *nodes_[at_].links[shard]; }
  void heal();
  void to_host(std::uint64_t carrier, std::uint32_t shard, std::function<void(post&)> what);
  void judge_return(const fairlead::agents::attempt_key& which);

  // ---- requests of its process ----

  using session = fairlead::agents::worker_session;
  using process_call = std::function<void(const std::function<void(labour&)>&)>;
  /// Of a take.
  struct exchange {
    bool closed = false;      // whoever sent it does not wait any more
    bool is_noticed = false;  // and the node sees that
    std::uint64_t carrier = 0;
    std::uint64_t take = 0;  // for client_gone
  };
  /// The request comes to a node, or not, or twice; there it runs `then` if the node is up. Which of these is drawn.
  void send(std::size_t node, const std::function<void()>& then);
  /// An answer goes back, or is lost.
  void answer(std::size_t node, const process_call& self, std::function<void(hand&)> then);
  void takes(std::size_t node, std::uint64_t carrier, session::take_request what, const std::shared_ptr<exchange>& x, session::taker done);
  void close(std::size_t node, const std::shared_ptr<exchange>& x);
  void reports(std::size_t node, std::uint64_t carrier, const std::vector<session::report>& what,
               std::function<void(result<std::vector<session::report_answer>>)> done);
  void beats(std::size_t node, std::uint64_t carrier, const session::beat& what,
             std::function<void(result<std::vector<session::beat_answer>>)> done);
  void drains(std::size_t node, std::uint64_t carrier, const std::function<void(const status&)>& done);
  void leaves(std::size_t node, std::uint64_t carrier, bool abandoned, const std::function<void(const status&)>& done);
  /// Registers at the node; `then` gets an answer, or none because the node has died.
  void registers(std::size_t node, const hand_registration& what, std::function<void(result<hand_session>)> then);
  static constexpr std::size_t nodes = 2;

  // ---- what is known of its attempts ----

  lease_book& leases() { return leases_; }
  struct known_attempt {
    bool is_seen = false;      // by a process of the worker
    bool is_begun = false;     // likewise
    bool is_returned = false;  // the shard has heard that nobody has begun it
    bool is_accepted = false;  // its outcome
  };
  known_attempt& known(const v1::Perform& what) { return known_[fairlead::agents::key_of(what)]; }
  /// The worker says that answers up to this one have come to it.
  void judge_confirmed(std::uint64_t carrier, std::uint64_t answer);
  std::uint64_t past_incarnation() const { return past_incarnation_; }
  /// The hand speaks with that node now.
  void speaks_with(std::size_t node) { at_ = node; }

 private:
  struct carried {
    carried(fairlead::agents::worker_session::definition as, const clock& time) : session(std::move(as), time) {}
    std::uint64_t carrier = 0;
    fairlead::agents::worker_session session;
    std::unique_ptr<post> host;
    std::map<std::uint64_t, std::vector<v1::Perform>> answers;  // with attempts; those that are known to be lost are not in it
    std::vector<v1::Perform> lost;                              // what those have carried, until a later answer carries it
    std::unordered_set<fairlead::agents::attempt_key, fairlead::agents::attempt_key_hash> sent;  // in any answer
    std::uint64_t takes = 0;
    std::int64_t takes_until_us = 0;  // the newest
    bool has_moved = false;
    bool drains = false;  // and the worker was told so
  };
  struct place {
    std::unique_ptr<host_clock> own_clock;
    host_clock* clock = nullptr;
    std::vector<std::unique_ptr<link>> links;  // by shard
    bool up = true;
    std::unique_ptr<carried> now;
    std::int64_t cut_until_us = 0;  // the worker cannot reach it before
    std::uint64_t life = 0;
  };
  carried* at_node(std::size_t node, std::uint64_t carrier);
  static error gone();
  bool is_alive(const carried& at, const v1::Perform& what) const;
  bool is_seen(const v1::Perform& what) const;
  void lose(carried& at, std::uint64_t after) const;
  void judge_drained(const carried& at, const v1::Perform& what) const;
  void in_host(place& where, std::uint64_t carrier, const std::function<void(post&)>& what);
  void in_hand(std::uint64_t life, const std::function<void(hand&)>& what);
  void die(place& where);
  void hand_dies();
  void ask_for_session(place& where, std::uint64_t life, const hand_registration& what, std::int64_t until_us,
                       const std::shared_ptr<bool>& answered, std::function<void(result<hand_session>)> then);
  void carry(place& where, const hand_registration& what, std::uint64_t incarnation, const std::string& words,
             const std::function<void(result<hand_session>)>& then);
  void start_hand();
  void make_trouble();
  void make_ends();
  void host_ended(place& where, std::uint64_t incarnation, std::uint64_t carrier);

  world& world_;
  services& services_;
  const agent_site site_;
  const core::planted_faults& planted_;
  const std::vector<shard*>& shards_;
  const std::vector<checker*>& judges_;
  lease_book leases_;
  std::unordered_map<fairlead::agents::attempt_key, known_attempt, fairlead::agents::attempt_key_hash> known_;
  std::array<place, nodes> nodes_;
  std::size_t at_ = 0;
  std::unique_ptr<hand> hand_;
  std::uint64_t hands_ = 0;
  std::uint64_t carriers_ = 0;
  std::uint64_t past_incarnation_ = 0;  // the highest of those that have died
};

}  // namespace fairlead::simulation
