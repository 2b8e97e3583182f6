#pragma once
// Counters of shards since the start of their Schedulers, and rates since the last look.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/api.pb.h"

namespace fairlead::app {

struct counter_line {
  std::string name;
  std::uint64_t total = 0;
  std::uint64_t since = 0;           // since the last look
  std::optional<double> per_second;  // none at the first look
};

/// One histogram: the count, the mean and upper bounds of quantiles.
struct latency_line {
  std::string name;
  std::uint64_t count = 0;
  double mean_ms = 0;
  std::uint64_t half_ms = 0;    // upper bounds of the buckets with the 50th, 90th and 99th percentile;
  std::uint64_t ninety_ms = 0;  // for values above all bounds, the largest bound
  std::uint64_t ninety_nine_ms = 0;
};

struct counters_view {
  double seconds = 0;  // since the last look; 0: the first look
  std::vector<counter_line> counters;
  std::vector<latency_line> latencies;
};

class counters_memory {
 public:
  using moment = std::chrono::steady_clock::time_point;

  /// Reads the counters of one shard or, without `shard`, of all shards together. After a
  /// Scheduler's restart a counter begins at zero again; its whole value is then new.
  counters_view look(const v1::StatusReply& reply, std::optional<std::uint32_t> shard, moment now);

 private:
  struct seen {
    std::uint64_t epoch = 0;
    std::vector<std::uint64_t> values;
  };
  struct last_look {
    moment at;
    std::map<std::uint32_t, seen> shards;
  };
  // One entry for all shards together, and one for each single shard, because their looks come at
  // different times.
  std::map<std::optional<std::uint32_t>, last_look> looks_;
};

std::string counters_text(const counters_view& view);
std::string counters_json(const counters_view& view);

}  // namespace fairlead::app
