#pragma once
// Compares the state of a replica with that of the others, now and then. The leader asks by an entry of the log; each replica reads its state as of that
// entry, in steps, and tells the leader a hash of it; the leader writes what came of it (v1::StateComparison). A replica whose state is not that of the
// majority asks whether its node may begin anew. Written against ports, without CAF. One thread.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "actors/replication/replica.hpp"
#include "messages/replica.pb.h"
#include "store/journaled/state_hash.hpp"
#include "store/journaled/store.hpp"

namespace fairlead {

class state_comparer {
 public:
  /// A replica that is in contact and does not answer is waited for so long, once the leader's own state is known.
  static constexpr std::int64_t answers_within_ms = 600'000;
  /// That its state is another one it says again, for its node may have to go on with that.
  static constexpr std::int64_t tell_again_ms = 60'000;
  static constexpr std::int64_t doubt_again_ms = 600'000;

  struct world {
    replica* of = nullptr;
    store::journaled_store* own = nullptr;
    std::uint32_t shard = 0;
    std::function<std::int64_t()> boot_ms;
    std::function<std::int64_t()> wall_unix_ms;
    std::function<void(v1::ReplicaCopy)> send;
    /// Something that operators want to know.
    std::function<void(const std::string& sentence)> note;
    std::function<std::string(raft::replica_id)> node_of;
    /// The comparison that an operator wants: this or a later one.
    std::function<std::uint64_t()> wanted;
    /// The store here is damaged: a value is not what was written.
    std::function<void(const error&)> on_damage;
    /// The state here is not that of the majority. If the shards of this node go on without it, the node gets them from the others.
    std::function<void(const error&)> on_difference;
    /// What is read in one tick.
    std::size_t bytes_a_tick = std::size_t{32} << 20;
  };

  explicit state_comparer(world in) : world_(std::move(in)) {}

  /// Some times a second.
  void tick();
  /// A copy of the state here was refused, maybe because a value in it is not what was written. All values are read, once in a while.
  void doubt();
  /// Another replica tells its state.
  void take(const v1::ReplicaCopy& what);

 private:
  struct own_state {
    std::uint64_t number = 0, index = 0;
    std::optional<store::state_reader> reader;  // nullopt: all is read
    store::state_hash hash;
  };

  void read_on();
  std::optional<bool> read_some(store::state_reader& from);
  bool is_known(std::uint64_t number) const { return own_ && own_->number == number && !own_->reader; }
  /// Its state as of that comparison is still to be read.
  bool reads(std::uint64_t number) const {
    return world_.own->marks_number() == number || (own_ && own_->number == number && own_->reader);
  }
  void lead(const replica_view& now, const std::optional<v1::StateComparison>& row);
  void begin(const std::optional<v1::StateComparison>& last);
  void end(const replica_view& now, const v1::StateComparison& asked);
  bool is_answered(const replica_view& now) const;
  v1::ReplicaCopy::State state_of_own(std::uint64_t number) const;
  void answer(const replica_view& now, const v1::StateComparison& asked);
  void look_at_verdict(const v1::StateComparison& what);

  world world_;
  std::optional<own_state> own_;
  std::optional<store::state_reader> doubted_;  // it is read for the damage alone
  std::optional<std::int64_t> doubted_ms_;      // boot time
  std::uint64_t judged_ = 0;                    // the last comparison whose end was looked at
  std::int64_t told_ms_ = 0;                    // boot time: when it has said last that its state is another one
  std::int64_t answered_ms_ = 0;                // boot time of the last answer
  // As the leader:
  std::uint64_t epoch_ = 0;
  std::int64_t leads_since_ms_ = 0;  // boot time
  std::uint64_t begun_ = 0;          // the comparison that was proposed last
  std::uint64_t collects_ = 0;       // for which comparison answers are here
  std::int64_t waits_since_ms_ = 0;  // boot time: since when only others are waited for
  std::uint64_t ended_ = 0;          // the comparison whose end was proposed
  std::map<raft::replica_id, v1::ReplicaCopy::State> answers_;
};

}  // namespace fairlead
