#pragma once
// Merges the statuses of all shards into the status of a cluster. Pure; no CAF.

#include <cstdint>
#include <string>
#include <vector>

#include "messages/api.pb.h"

namespace fairlead {

/// The answer of one shard; with an error if the shard could not be asked.
struct shard_answer {
  std::uint32_t shard = 0;
  std::string holder;  // empty: no connected node
  bool here = false;
  v1::StatusReply reply;
};

/// Sums, and one line for each shard; the gateway adds the values that only its node knows. An error only if the cluster's shards are known
/// here and none has answered.
v1::StatusReply merge_status(std::vector<shard_answer> answers);

}  // namespace fairlead
