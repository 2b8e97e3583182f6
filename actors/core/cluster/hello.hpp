#pragma once
// Decides from two nodes' hellos whether they may work together. Pure: connected nodes and what was seen before come in as values.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/core/cluster/routing.hpp"
#include "messages/error.hpp"
#include "messages/node.pb.h"
#include "messages/time.hpp"

namespace fairlead::core {

/// The newest and the oldest protocol that this release speaks. Protocol 1 knew no other nodes, so no node speaks it with another.
inline constexpr std::uint32_t protocol_version = 2;
inline constexpr std::uint32_t least_protocol_version = 2;

/// A process of a node.
struct seen_process {
  std::uint64_t incarnation = 0;
  std::string run_id;
};

struct hello_view {
  const v1::Hello& me;                              // with the shards that are up here
  std::uint32_t shard_count = 0;                    // of the cluster; 0: not known yet
  std::vector<const v1::Hello*> connected;          // other nodes
  const std::map<std::string, seen_process>& seen;  // by node_id: that of the highest incarnation ever connected
  const std::map<std::uint32_t, v1::Lineage>&
      lineages;                                     // by shard: the one that counts most of all that were ever claimed, here or elsewhere
  const std::map<std::string, std::string>& names;  // by node name: the node_id last connected under it, unless forgotten
};

enum class hello_verdict {
  join,
  itself,  // this very process, reached through one of its own addresses
  refuse,
};

struct hello_judgement {
  hello_verdict verdict = hello_verdict::refuse;
  error why;                            // of a refusal; names both nodes, because both show it
  bool senseless = false;               // no release would send such a hello
  std::vector<std::string> replaced;    // names of connected nodes that are earlier processes of the newcomer, which takes their place
  std::optional<v1::ShardClaim> later;  // of a refusal: the newcomer holds a shard in a later lineage than this node
  std::vector<std::string> outlived;  // names of connected nodes with a shard whose later lineage the newcomer holds; they are disconnected
};

/// What is known of the lineages after this claim.
void learn(std::map<std::uint32_t, v1::Lineage>& known, const v1::ShardClaim& claim);

/// A node that conflicts with a connected one is refused, unless it is that node's restart. A name stays with its node_id even while that
/// node is away, until an operator has the name forgotten.
hello_judgement judge_hello(const v1::Hello& you, const hello_view& known);

/// How long to wait before connecting again after `failures` (from 1) in a row: doubled from `first` up to `longest`, then spread over its
/// upper half by `seed`, so that nodes that lost the same peer do not come back together.
duration reconnect_delay(duration first, duration longest, std::uint32_t failures, const std::string& seed);

}  // namespace fairlead::core
