#pragma once
// What `fairlead cluster status` shows: who leads each shard, what the shard survives, and how far its replicas are.
// As JSON: app/json/node/cluster.hpp.

#include <string>
#include <vector>

#include "messages/api.pb.h"

namespace fairlead::app {

std::string cluster_text(const v1::StatusReply& reply);

/// False: it lives on one node. One that is down may be held by several.
inline bool may_be_replicated(const v1::ShardStatus& shard) { return shard.has_replication() || !shard.up(); }
/// `n1, n2, n3`
std::string names_of(const std::vector<std::string>& nodes);
/// `Shard 0: n1, n2, n3 have the same state, as of entry 1204, 3h ago.`, and a line for each that has not; empty: none has ended yet.
std::string comparison_text(const v1::ShardStatus& shard);

}  // namespace fairlead::app
