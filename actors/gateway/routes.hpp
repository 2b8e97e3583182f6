#pragma once
// Maps requests to shards, and shards to the nodes that hold them. Used by the gateway alone, which fills it from shard_route messages.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/protocol/node_messages.hpp"
#include "actors/queries/shard_access.hpp"
#include "messages/error.hpp"
#include "messages/time.hpp"

namespace fairlead {

class gateway_routes {
 public:
  gateway_routes(std::string node, std::vector<shard_desk> desks, std::uint32_t count);

  /// Number of shards of the cluster; 0: not known yet.
  std::uint32_t count() const noexcept { return count_; }
  void set_count(std::uint32_t count);

  /// True: the earlier holder does not hold the shard any more, so its open requests will not be answered.
  bool learn(shard_route route, moment now);
  /// Until when a request may wait from now on for a leader of the shard, which several nodes hold; nullopt: it may not.
  std::optional<moment> leader_may_come_until(std::uint32_t shard, moment now) const;
  bool is_of_several(std::uint32_t shard) const;

  /// The desk of a shard that this node holds, as its leader or not; null: it does not.
  const shard_desk* desk(std::uint32_t shard) const;
  /// The desk of a shard of this node; null: the shard is not here, or another node leads it.
  const shard_desk* here(std::uint32_t shard) const;
  /// The replica of a shard on this node; null: there is none.
  replica_actor replica_here(std::uint32_t shard) const;
  const std::vector<shard_desk>& desks() const noexcept { return desks_; }
  /// The gateway of the node that holds the shard; null: no connected node holds it, or this node does.
  caf::strong_actor_ptr there(std::uint32_t shard) const;
  /// The name of the node that holds the shard; empty: no connected node holds it.
  std::string holder(std::uint32_t shard) const;
  std::string reason(std::uint32_t shard) const;

  /// The error for a shard that no connected node holds.
  error unreachable(std::uint32_t shard) const;
  /// The error for a shard whose holder does not answer.
  error silent(std::uint32_t shard) const;
  /// The error for a replicated shard of which this node does not know that it still leads it.
  error led_elsewhere(std::uint32_t shard) const;
  /// The error while the number of shards is unknown.
  error unknown_count() const;

 private:
  std::string node_;
  std::vector<shard_desk> desks_;
  std::uint32_t count_;
  struct known_route {
    shard_route now;
    std::optional<moment> lost_at;  // it had a leader before, and has none
  };
  std::map<std::uint32_t, known_route> routes_;
};

}  // namespace fairlead
