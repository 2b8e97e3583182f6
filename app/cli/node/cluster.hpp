#pragma once
// What `fairlead cluster status` shows: who leads each shard, what the shard survives, and how far its replicas are.

#include <string>
#include <vector>

#include "app/json/writer.hpp"
#include "messages/api.pb.h"

namespace fairlead::app {

std::string cluster_json(const v1::StatusReply& reply);
std::string cluster_text(const v1::StatusReply& reply);

/// False: it lives on one node. One that is down may be held by several.
inline bool may_be_replicated(const v1::ShardStatus& shard) { return shard.has_replication() || !shard.up(); }
/// `n1, n2, n3`
std::string names_of(const std::vector<std::string>& nodes);
/// The last comparison of the states of its replicas, or null.
void write_comparison(json_writer& out, const v1::ReplicationStatus& of);
/// `Shard 0: n1, n2, n3 have the same state, as of entry 1204, 3h ago.`, and a line for each that has not; empty: none has ended yet.
std::string comparison_text(const v1::ShardStatus& shard);

}  // namespace fairlead::app
