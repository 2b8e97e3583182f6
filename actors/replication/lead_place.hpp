#pragma once
// Where the lead of a shard goes without need: away from a node that is drained, and to the node whose turn it is, so that the leaders of many
// shards are spread over the nodes. Pure: what the leader knows of the others comes in, and now and then somebody to hand over to comes out.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/core/raft/types.hpp"

namespace fairlead {

struct replica_view;

/// In which order these nodes are to lead a shard: the first that can, does. As many shards as there are nodes have a first one each, and of those
/// with the same first one each other node is the second of as many.
std::vector<std::string> order_of_leaders(std::uint32_t shard, std::vector<std::string> nodes);

class lead_place {
 public:
  /// `boot_ms`: now. The clock is one that nobody sets.
  lead_place(raft::replica_id self, std::int64_t election_ms, std::int64_t boot_ms);

  /// In this order (order_of_leaders); those that are not known yet are left out. Empty, as at first: the lead is not moved but by need.
  void prefer(std::vector<raft::replica_id> order) { order_ = std::move(order); }
  /// Its node is drained, or no longer.
  void decline(bool on);
  bool declines() const { return declines_; }
  /// It leads no longer, and knows nothing of the others.
  void forget() { fit_since_.clear(); }
  /// False: look() would say nothing, whatever is shown to it.
  bool is_due(std::int64_t boot_ms) const {
    return boot_ms >= (declines_ ? next_flight_ms_ : next_look_ms_) && (declines_ || !order_.empty());
  }
  /// As the leader. nullopt: the lead stays.
  std::optional<raft::replica_id> look(const replica_view& view, std::int64_t boot_ms, std::int64_t shard_ms);

 private:
  std::size_t rank_of(raft::replica_id id) const;
  void note_who_is_fit(const replica_view& view, std::int64_t boot_ms, std::int64_t shard_ms);

  const raft::replica_id self_;
  const std::int64_t election_ms_;
  std::vector<raft::replica_id> order_;
  bool declines_ = false;
  std::int64_t next_look_ms_;
  std::int64_t next_flight_ms_ = 0;
  std::map<raft::replica_id, std::int64_t> fit_since_;  // by the boot clock
};

}  // namespace fairlead
