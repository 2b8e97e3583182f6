#pragma once
// Replicas of one shard in a simulated world: a network that loses, doubles, delays and cuts one way; disks that are slow and stand still;
// kills, pauses, wrong clocks; members that come and go; clients that do not wait for each other. A seed replays.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/raft/planted_faults.hpp"
#include "tests/simulation/consensus/host.hpp"
#include "tests/simulation/consensus/judge.hpp"
#include "tests/simulation/world/random.hpp"

namespace fairlead::simulation {

struct consensus_run {
  std::uint64_t seed = 0;
  raft::planted_faults planted;
  bool transcript = false;
};

struct consensus_verdict {
  std::string rule;  // empty: nothing was broken
  std::string sentence;
  std::uint64_t hash = 0;
  std::map<std::string, std::uint64_t> counts;  // what has happened
  std::vector<std::string> transcript;
};

consensus_verdict run_consensus(const consensus_run& what);

class consensus_world {
 public:
  explicit consensus_world(const consensus_run& what);
  consensus_verdict run();

 private:
  struct event {
    std::int64_t at_ms = 0;
    std::uint64_t number = 0;
    std::function<void()> what;
    bool operator<(const event& other) const { return std::pair{at_ms, number} > std::pair{other.at_ms, other.number}; }
  };

  void after(std::int64_t ms, std::function<void()> what);
  void say(const std::string& line);
  void count(const char* what) { ++verdict_.counts[what]; }

  consensus_host& add_host(raft::base first);
  void start(consensus_host& who);
  void kill(consensus_host& who);
  void tick(consensus_host& who, std::uint64_t life);
  void feed(consensus_host& who, raft::input in);
  void write(consensus_host& who);
  void judge_stalled(const consensus_host& who, const std::vector<raft::message>& said) const;
  void transmit(const raft::message& what);
  void deliver(const std::shared_ptr<const std::string>& bytes);
  raft::moment clock_of(const consensus_host& who) const;

  // People: world_people.cpp
  void keep_proposing();
  void keep_asking();
  void keep_changing_members();
  void change_members_at(consensus_host& leader);
  void keep_tidying();
  void bring_copies();

  // Faults: world_faults.cpp
  void keep_failing();
  void fail_once();
  void strike_new_leader(consensus_host& who);
  void strike_first_commit(consensus_host& who);
  void strike_voter(consensus_host& who);
  void silence(consensus_host& who, std::uint64_t per_mille);
  void mend();

  std::vector<consensus_host*> leaders();
  /// Those who are to keep up: members of the latest leader, before and after a change in progress. Empty: nobody leads.
  std::vector<consensus_host*> members_now();
  std::string where_of(const consensus_host& late);
  /// Durable in the state of all of them. 0: nobody leads.
  raft::log_index applied_everywhere();

  consensus_run what_;
  random_stream chance_;
  consensus_verdict verdict_;
  consensus_judge judge_;
  std::int64_t now_ms_ = 0;
  std::int64_t faults_end_ms_ = 0;
  std::int64_t end_ms_ = 0;
  std::priority_queue<event> events_;
  std::uint64_t event_number_ = 0;
  std::map<raft::replica_id, std::unique_ptr<consensus_host>> hosts_;
  raft::replica_id next_id_ = 1;
  std::set<std::pair<raft::replica_id, raft::replica_id>> cut_;  // from, to
  std::map<std::pair<raft::replica_id, raft::replica_id>, std::int64_t> last_arrival_ms_;
  std::set<raft::replica_id> falls_at_first_commit_;                             // new leaders: no message after their first commit leaves
  std::map<raft::replica_id, std::pair<std::int64_t, std::int64_t>> slow_disk_;  // a write takes from to ms

  // What differs from seed to seed.
  bool members_change_ = false;
  std::int64_t change_members_within_ms_ = 0;
  bool log_is_compacted_ = false;
  bool log_leaves_some_behind_ = false;  // entries that a member lacks are not kept, and it gets a copy of the state
  std::uint64_t new_leaders_fall_per_mille_ = 0;
  std::int64_t longest_calm_ms_ = 0;
  std::int64_t propose_every_ms_ = 10;
  std::size_t max_message_bytes_ = 64;
  std::int64_t least_latency_ms_ = 0;
  std::uint64_t loss_per_mille_ = 20;

  struct asked {
    raft::replica_id who = 0;
    std::uint64_t life = 0;
    raft::log_index known = 0;
    std::int64_t at_ms = 0;
  };
  std::map<std::uint64_t, asked> tickets_;
  std::uint64_t next_ticket_ = 1;
  std::uint64_t next_value_ = 1;
  std::map<raft::replica_id, std::map<raft::log_index, std::uint64_t>> proposed_;  // by replica: index and value, until it is stopped
  std::int64_t last_commit_ms_ = 0;
};

}  // namespace fairlead::simulation
