#pragma once
// What operators are told of a replica. Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "actors/replication/replica.hpp"
#include "messages/status.pb.h"

namespace fairlead {

struct replication_facts {
  std::string node;                             // of this replica
  std::map<std::string, raft::replica_id> ids;  // by node, of all that hold the shard; 0: not met yet
  std::set<std::string> leaving;                // of these nodes
  std::optional<replica_view> view;             // nullopt: the shard has not begun here
  std::int64_t election_ms = 0;
  std::int64_t boot_ms = 0;        // now
  std::int64_t shard_unix_ms = 0;  // now, by the time of the shard
  std::int64_t wall_unix_ms = 0;   // and by this node's clock
  std::uint32_t format = 1;        // in which the shard is written
  std::string cannot_read = {};    // why it takes no further entries; empty: it does
  std::optional<v1::StateComparison> comparison = {};
  std::map<std::string, std::int64_t> damaged = {};  // by node: when it began with an empty store because its own was damaged
};

v1::ReplicationStatus describe_replication(const replication_facts& from);

}  // namespace fairlead
