#pragma once
// Which shard a request is about, and who holds that shard. Kept by the gateway alone; it only knows what it has been told.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/protocol/node_messages.hpp"
#include "actors/queries/shard_access.hpp"
#include "messages/error.hpp"

namespace fairlead {

class gateway_routes {
 public:
  gateway_routes(std::string node, std::vector<shard_desk> desks, std::uint32_t count);

  /// How many shards the cluster has; 0: not known yet.
  std::uint32_t count() const noexcept { return count_; }
  void set_count(std::uint32_t count);

  /// True: whoever held the shard until now does not hold it any more, so what it was asked will not be answered.
  bool learn(shard_route route);

  /// The desk of a shard of this node; null: it is none of this node's.
  const shard_desk* here(std::uint32_t shard) const;
  const std::vector<shard_desk>& desks() const noexcept { return desks_; }
  /// The gateway of the node that holds the shard; null: nobody who is connected, or this node itself.
  caf::strong_actor_ptr there(std::uint32_t shard) const;
  /// The name of the node that holds the shard; empty: nobody who is connected.
  std::string holder(std::uint32_t shard) const;
  std::string reason(std::uint32_t shard) const;

  /// Why nobody answers for a shard.
  error unreachable(std::uint32_t shard) const;
  /// Why there is no answer from the one who holds it.
  error silent(std::uint32_t shard) const;
  /// Why no shard can be named at all.
  error unknown_count() const;

 private:
  std::string node_;
  std::vector<shard_desk> desks_;
  std::uint32_t count_;
  std::map<std::uint32_t, shard_route> routes_;
};

}  // namespace fairlead
