#pragma once
// A node whose stores are damaged gets its shards from the other nodes that hold them. Its own stores are set aside first, and only once those who
// lead the shards have said that a majority of the other nodes follows: nothing is set aside that may be the last whole copy.
//
// In the node's data folder there are, as text:
//   others      addresses of nodes that hold shards of this node, too; a line each
//   damaged     the stores are damaged: the inodes of their data files, and behind the first line the reason
//   rebuilding  the same, while they are set aside and new ones are made: what is there does not count

#include <optional>
#include <string>

#include "app/config/config.hpp"
#include "messages/error.hpp"
#include "messages/replica.pb.h"

namespace fairlead::app {

/// Notes where the other nodes of a shard are. From any thread; errors are left alone, for the addresses help only once the stores are damaged.
void note_others(const node_config& config, const v1::ShardNodes& nodes);

/// Notes that what is stored is damaged, so that the next start does not go on with it.
void note_damage(const node_config& config, const error& why);

/// What was noted, unless other stores have taken the place of the damaged ones.
std::optional<error> noted_damage(const node_config& config);

/// Sets the stores aside, and makes empty ones that get the shards from the other nodes. The node is not running. The error is `why`, with what
/// prevents it.
status rebuild_stores(const node_config& config, const error& why);

}  // namespace fairlead::app
