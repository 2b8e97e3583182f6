#pragma once
// One replica with its disk: a journal of records of which the end may be lost, and the applied position of its state.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "actors/core/raft/consensus.hpp"
#include "tests/simulation/consensus/judge.hpp"
#include "tests/simulation/world/random.hpp"

namespace fairlead::simulation {

/// What records leave of a log, worked out apart from production's own.
class recorded_log {
 public:
  void take(const raft::record& one);
  const std::map<raft::log_index, raft::log_term>& terms() const { return terms_; }
  const raft::members& members_in_force() const { return members_.rbegin()->second; }

 private:
  std::map<raft::log_index, raft::log_term> terms_;
  std::map<raft::log_index, raft::members> members_;
};

class consensus_host {
 public:
  consensus_host(raft::settings how, raft::base first);

  /// Starts from what the disk has.
  void start(raft::moment now, random_stream& chance);
  /// Loses what was not durable, but for some of it, and the state that was not.
  void stop(random_stream& chance);
  /// Its state and log are replaced by a copy of another's, of which this is the end. What it has voted stays.
  void install(const raft::base& copied);
  bool is_up() const { return replica_.has_value(); }
  raft::consensus& replica() { return *replica_; }
  const raft::consensus& replica() const { return *replica_; }

  /// One step; the judge sees it. Messages, confirmations and what was accepted are the caller's.
  raft::output step(const raft::input& in, raft::moment now, consensus_judge& judge);

  /// True: records wait for the disk, and it is not at work.
  bool wants_to_write() const { return written_ > durable_ && !writes_; }
  bool writes() const { return writes_; }
  /// The disk begins with all that waits, and its end is told by finish_write. The position that is then durable.
  std::uint64_t begin_write();
  void finish_write(std::uint64_t position);
  /// The state becomes durable up to what was given out.
  void sync_state() { durable_applied_ = given_out_; }

  raft::replica_id id() const { return how_.self; }
  raft::log_index given_out() const { return given_out_; }
  raft::log_index durable_applied() const { return durable_applied_; }
  std::uint64_t life() const { return life_; }
  /// The last step gave a vote to another.
  bool has_voted() const { return voted_; }
  std::int64_t stopped_until_ms = 0;  // as by SIGSTOP
  std::int64_t writes_since_ms = 0;   // as of the last begin_write()
  std::int64_t wall_skew_ms = 0;

 private:
  raft::recovered recover() const;

  raft::settings how_;
  std::optional<raft::consensus> replica_;
  std::vector<raft::record> journal_;  // the first `durable_` of them are durable
  std::uint64_t durable_ = 0;          // counts from the start of the journal, as do the next
  std::uint64_t written_ = 0;
  recorded_log in_memory_;
  recorded_log on_disk_;
  std::uint64_t started_at_ = 0;  // records before the current start: positions of the replica count from there
  bool writes_ = false;
  bool voted_ = false;
  raft::log_index given_out_;
  raft::log_index durable_applied_;
  std::uint64_t life_ = 0;
};

}  // namespace fairlead::simulation
