#pragma once
// What shards have done, and how fast: counters since their Schedulers started, and rates since they were last looked at.

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

/// Of one distribution: how many, and bounds that a share of them do not exceed.
struct latency_line {
  std::string name;
  std::uint64_t count = 0;
  double mean_ms = 0;
  std::uint64_t half_ms = 0;    // upper bounds of the classes that hold the 50th, 90th and 99th of a hundred;
  std::uint64_t ninety_ms = 0;  // the largest there is for what lies beyond all bounds
  std::uint64_t ninety_nine_ms = 0;
};

struct counters_view {
  double seconds = 0;  // since the last look; 0: this is the first
  std::vector<counter_line> counters;
  std::vector<latency_line> latencies;
};

class counters_memory {
 public:
  using moment = std::chrono::steady_clock::time_point;

  /// All shards together, or one. A shard whose Scheduler has been started again counts from that start, not below what it was.
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
  // One for all shards together and one for each that was asked for alone: their looks come at different times.
  std::map<std::optional<std::uint32_t>, last_look> looks_;
};

std::string counters_text(const counters_view& view);
std::string counters_json(const counters_view& view);

}  // namespace fairlead::app
