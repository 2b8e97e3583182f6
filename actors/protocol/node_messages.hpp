#pragma once
// Messages between the actors of one node about the locations of shards. They never leave the process.

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <caf/actor_control_block.hpp>

#include "messages/api.pb.h"

namespace fairlead {

/// The route for requests to a shard from now on: the gateway of the node that holds it, which may be this node's.
struct shard_route {
  std::uint32_t shard = 0;
  caf::strong_actor_ptr via;  // null: no connected node holds the shard
  std::string node;
  std::string reason;    // why there is no route
  bool several = false;  // several nodes can hold the shard: the route follows its leader
};

/// Of a shard_route that is the gateway's own reminder of requests that wait for a route.
inline constexpr std::uint32_t no_shard = std::numeric_limits<std::uint32_t>::max();

/// Number of shards of the cluster, once known.
struct shard_total {
  std::uint32_t count = 0;
};

/// The state of the node's connections to others.
struct link_report {
  std::vector<v1::PeerStatus> peers;
  std::vector<std::pair<std::string, caf::strong_actor_ptr>> gateways;  // of connected nodes, by name
  std::uint64_t refused_messages = 0;
  std::map<std::uint32_t, v1::Lineage> lineages;  // by shard: the one that counts most of all that were heard of
};

}  // namespace fairlead
