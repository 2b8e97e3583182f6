#pragma once
// The nodes that are to hold a shard. Operators change the list, and the leader follows it with the shard's replicas (raft/member_plan.hpp). Pure.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "messages/error.hpp"
#include "messages/replica.pb.h"

namespace fairlead::core {

/// Five replicas vote, and two more may stand by.
inline constexpr int most_shard_nodes = 7;

/// A list as a node file gives it: names alone, version 0.
v1::ShardNodes shard_nodes_of(std::vector<std::string> names);

/// `n1, n2, n3`.
std::string names_of(const v1::ShardNodes& all);

/// Whether a node can have made the list.
bool valid_shard_nodes(const v1::ShardNodes& what);

/// In which the shard is written.
inline std::uint32_t format_of(const v1::ShardNodes& of) { return std::max(of.format(), 1U); }
/// The latest that a node knows.
inline std::uint32_t reads(const v1::ReplicaHello& who) { return std::max(who.reads(), 1U); }

/// `Node n2 does not know format 2, in which shard 0 is written: it has release 0.1.0.` Without what is not known or not so: empty.
std::string unknown_format(const std::string& node, const std::string& release, std::uint32_t format, const std::string& written_in_it);

/// nullptr: the list does not have the node.
const v1::ShardNodes::Node* find_node(const v1::ShardNodes& in, const std::string& name);

/// The list after the request, under the next version, or the same list if it is so already. Errors: invalid_argument, conflict, not_found,
/// wrong_state. Whether the shard can do without a node that leaves is for the leader to say. `is_linked`: a node of that name is.
result<v1::ShardNodes> after_request(const v1::ShardNodes& now, const v1::ShardNodesRequest& what, bool is_linked);

/// The list as it is to be by now, under the next version: with the replicas that the nodes have introduced themselves with, and without the
/// nodes that have left. None has left while a member has no node: it may be that one's. nullopt: this list. `met`: 0, if the node has not
/// introduced itself. `members`: of the shard, by id.
std::optional<v1::ShardNodes> brought_up_to_date(const v1::ShardNodes& now,
                                                 const std::function<std::uint64_t(const std::string& node)>& met,
                                                 const std::vector<std::uint64_t>& members);

/// The list with that format, under the next version, or the same list if it has it already. Error: wrong_state, a node does not know the format, or is not
/// connected. `hello`: of a node that is connected, else null.
result<v1::ShardNodes> with_format(const v1::ShardNodes& now, std::uint32_t format,
                                   const std::function<const v1::ReplicaHello*(const std::string& node)>& hello);

}  // namespace fairlead::core
