#pragma once
// Whether a shard can do without a node, or without a node's store. Its leader judges by what it knows of the others. Pure.

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "actors/core/raft/member_plan.hpp"
#include "actors/core/raft/types.hpp"
#include "messages/error.hpp"

namespace fairlead::raft {

struct known_nodes {
  std::uint32_t shard = 0;                    // for sentences
  std::map<std::string, node_replica> nodes;  // that are to hold it, by name
  std::set<replica_id> follow;                // the leader's own, and those that have what it has
  members all;
};

/// The node may leave: of those that stay a majority follows. Error: wrong_state.
status can_leave(const known_nodes& of, const std::string& node);

/// The node may begin with a new store, for nothing that counts is in its former one alone: a majority of the votes is with other nodes that follow.
/// `listed`: its replica as the list of nodes has it. Not while another node is being filled. Error: wrong_state.
status can_rebuild(const known_nodes& of, const std::string& node, replica_id listed);

}  // namespace fairlead::raft
