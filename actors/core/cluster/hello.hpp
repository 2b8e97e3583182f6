#pragma once
// Whether two nodes may work together, decided from what each says of itself. Pure: who is connected and what was seen come in as values.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/core/cluster/routing.hpp"
#include "messages/error.hpp"
#include "messages/node.pb.h"
#include "messages/time.hpp"

namespace fairlead::core {

/// What this release speaks best, and the oldest that it still speaks. Protocol 1 knew no other nodes, so that nobody can speak it with one.
inline constexpr std::uint32_t protocol_version = 2;
inline constexpr std::uint32_t least_protocol_version = 2;

struct hello_view {
  const v1::Hello& me;                                   // with the shards that are up here
  std::uint32_t shard_count = 0;                         // of the cluster; 0: not known yet
  std::vector<const v1::Hello*> connected;               // other nodes
  const std::map<std::string, std::uint64_t>& seen;      // by node_id: the highest incarnation that was ever connected
  const std::map<std::uint32_t, v1::Lineage>& lineages;  // by shard: the latest that was ever claimed, here or elsewhere
  const std::map<std::string, std::string>& names;  // by node name: the node_id that was connected under it last, unless it was forgotten
};

enum class hello_verdict {
  join,
  itself,  // this very process, reached through an address of its own
  refuse,
};

struct hello_judgement {
  hello_verdict verdict = hello_verdict::refuse;
  error why;                          // of a refusal; names both nodes, because both show it
  bool senseless = false;             // no release would say such a thing
  std::vector<std::string> replaced;  // connected nodes by name that are earlier processes of this one: it takes their place
  std::vector<std::string> outlived;  // connected nodes by name with a shard whose later lineage the newcomer holds: they are let go
};

/// Who is there first keeps its place: a newcomer that cannot be beside those who are connected is refused, unless it is one of them, restarted.
/// A name stays with its node_id also while that is away, until an operator says that it is to be forgotten.
hello_judgement judge_hello(const v1::Hello& you, const hello_view& known);

/// How long to wait before connecting again after `failures` (from 1) in a row: doubled from `first` up to `longest`, then spread over its upper
/// half by `seed`, so that nodes that lost the same peer do not come back together.
duration reconnect_delay(duration first, duration longest, std::uint32_t failures, const std::string& seed);

}  // namespace fairlead::core
