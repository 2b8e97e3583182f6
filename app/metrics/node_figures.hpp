#pragma once
// All figures of the monitoring port as values: the node's answers, and the operating system's view of the process.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/protocol/node_answers.hpp"
#include "app/process/process_figures.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

/// Of the API since the node started.
struct api_figures {
  struct answer_count {
    std::string method;
    unsigned status = 0;
    std::uint64_t count = 0;
  };

  std::int64_t certificate_ends_unix_ms = 0;                             // 0: it has none
  std::map<std::string, std::int64_t> token_ends;                        // by the names of those that end, in unix milliseconds
  std::int64_t connections = 0, streams = 0, requests = 0, workers = 0;  // now
  std::vector<answer_count> answers;
  v1::Distribution answer_micros;
  std::uint64_t audit_entries = 0, audit_entries_lost = 0;
};

struct node_figures {
  moment now;
  std::string node;
  std::string version;
  std::map<std::uint32_t, v1::ShardStatus> replicas;  // store and replication of the shards here that other nodes hold, too
  node_answers told;                                  // `shards` has an element for each shard that this node leads
  std::map<std::uint32_t, double> full_in_seconds;    // for the stores whose growth is known
  std::size_t set_aside = 0;                          // folders with damaged stores
  std::optional<api_figures> api;                     // nullopt: the node has none
  process_figures process;
  bool stopping = false;
};

/// Whether the shard runs here: other nodes may hold it, too.
bool leads(const node_figures& all, std::uint32_t shard);

/// The answer's facts about the shard: a gateway fills `shards`, a Scheduler the fields beside it.
v1::ShardStatus shard_status_of(const v1::StatusReply& reply, std::uint32_t shard);

/// From this share of max_bytes on the store takes no new tasks: for submitters it is full.
constexpr std::uint64_t full_at_percent = 90;

struct node_verdict {
  std::vector<std::string> reasons;  // why not; empty: good
  bool good() const noexcept { return reasons.empty(); }
};

/// Whether the process works: the tree has given nothing up, the gateway and the Schedulers here answer, and no replica stands aside for good.
/// A shard without a leader is no reason: it is not for a restart to mend.
node_verdict healthy(const node_figures& all);
/// Whether the node takes requests: healthy, not draining or stopping, tasks of an earlier process resumed, its agents registered, and the
/// leader of each shard is known.
node_verdict ready(const node_figures& all);

}  // namespace fairlead::app
