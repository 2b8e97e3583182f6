#pragma once
// Messages between the actors of one node about where shards are. They never leave the process.

#include <cstdint>
#include <string>
#include <vector>

#include <caf/actor_control_block.hpp>

#include "messages/api.pb.h"

namespace fairlead {

/// Where requests for a shard go from now on: the gateway of the node that holds it, this one's own included.
struct shard_route {
  std::uint32_t shard = 0;
  caf::strong_actor_ptr via;  // null: nobody who holds it is connected
  std::string node;
  std::string reason;  // why there is nobody
};

/// How many shards the cluster has, once that is known.
struct shard_total {
  std::uint32_t count = 0;
};

/// What the node's links to others look like.
struct link_report {
  std::vector<v1::PeerStatus> peers;
  std::vector<std::pair<std::string, caf::strong_actor_ptr>> gateways;  // of connected nodes, by name
  std::uint64_t refused_messages = 0;
};

}  // namespace fairlead
