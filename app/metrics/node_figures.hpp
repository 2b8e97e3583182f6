#pragma once
// Everything that the port for machines says, as values: what the own node has answered, and what the process is seen to be.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/protocol/node_answers.hpp"
#include "app/process/process_figures.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

struct node_figures {
  moment now;
  std::string node;
  std::string version;
  node_answers told;                                // one of its `shards` for each that this node holds
  std::map<std::uint32_t, double> full_in_seconds;  // of the stores of those of which it is known
  process_figures process;
  bool stopping = false;
};

/// What the answer says of the shard, from wherever in it that stands: a gateway fills `shards`, a Scheduler the fields beside.
v1::ShardStatus shard_status_of(const v1::StatusReply& reply, std::uint32_t shard);

/// From this share of max_bytes on the store takes no new tasks: that is what "full" means to those who submit.
constexpr std::uint64_t full_at_percent = 90;

struct node_verdict {
  std::vector<std::string> reasons;  // why not; empty: all is well
  bool good() const noexcept { return reasons.empty(); }
};

/// Whether the process does its work: nothing has been given up, the gateway and the Schedulers here answer.
node_verdict healthy(const node_figures& all);
/// Whether it takes requests: healthy, not draining or stopping, tasks of an earlier process taken up again, and its agents registered.
node_verdict ready(const node_figures& all);

}  // namespace fairlead::app
