#pragma once
// Compares the state of a replica with that of the others, now and then. The leader asks by an entry of the log; each replica reads its state as of that
// entry, in steps, and tells the leader a hash of it; the leader writes what came of it (v1::StateComparison). A replica whose state is not that of the
// majority says that its store is damaged. Written against ports, without CAF. One thread.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "actors/replication/replica.hpp"
#include "messages/replica.pb.h"
#include "store/check/state_hash.hpp"
#include "store/journaled/store.hpp"

namespace fairlead {

class state_comparer {
 public:
  /// One replica that answers is waited for so long.
  static constexpr std::int64_t answers_within_ms = 3'600'000;

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
    /// An operator wants a comparison.
    std::function<bool()> is_wanted;
    /// The store here is damaged.
    std::function<void(const error&)> on_damage;
    /// What is read in one tick.
    std::size_t bytes_a_tick = std::size_t{16} << 20;
  };

  explicit state_comparer(world in) : world_(std::move(in)) {}

  /// Some times a second.
  void tick();
  /// Another replica tells its state.
  void take(const v1::ReplicaCopy& what);

 private:
  struct own_state {
    std::uint64_t number = 0, index = 0;
    std::optional<store::state_reader> reader;  // nullopt: all is read
    store::state_hash hash;
  };

  void read_on();
  bool is_known(std::uint64_t number) const { return own_ && own_->number == number && !own_->reader; }
  void lead(const replica_view& now, const std::optional<v1::StateComparison>& row);
  void begin(const std::optional<v1::StateComparison>& last);
  void end(const replica_view& now, const v1::StateComparison& asked);
  bool is_answered(const replica_view& now) const;
  void answer(const replica_view& now, const v1::StateComparison& asked);
  void look_at_verdict(const v1::StateComparison& what);

  world world_;
  std::optional<own_state> own_;
  std::uint64_t judged_ = 0;      // the last comparison whose end was looked at
  std::int64_t answered_ms_ = 0;  // boot time of the last answer
  // As the leader:
  std::uint64_t epoch_ = 0;
  std::int64_t leads_since_ms_ = 0;                  // boot time
  std::uint64_t begun_ = 0;                          // the comparison that was proposed last
  std::pair<std::uint64_t, std::int64_t> collects_;  // for which comparison, since which boot time
  std::uint64_t ended_ = 0;                          // the comparison whose end was proposed
  std::map<raft::replica_id, v1::ReplicaCopy::State> answers_;
};

}  // namespace fairlead
