#pragma once
// What all shards say of themselves, as the status of a cluster. Pure; no CAF.

#include <cstdint>
#include <string>
#include <vector>

#include "messages/api.pb.h"

namespace fairlead {

/// What one shard has answered; with an error when it could not be asked.
struct shard_answer {
  std::uint32_t shard = 0;
  std::string holder;  // empty: nobody who is connected
  bool here = false;
  v1::StatusReply reply;
};

/// Sums and one line a shard; what only the asked node knows of itself is added by its gateway. An error only when shards are known here
/// and none of the cluster's has answered.
v1::StatusReply merge_status(std::vector<shard_answer> answers);

}  // namespace fairlead
