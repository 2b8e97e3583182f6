#pragma once
// The order workload on one node and on three that hold the same shard, each a process of its own, with the client in this one.

#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::bench {

/// Of nodes that hold one shard; each has an agent.
struct remote_load {
  std::uint32_t in_flight = 0;
  double tasks_per_s = 0;
  double p50_us = 0;
  double p99_us = 0;
  double leader_cpu_us = 0;    // a task
  double follower_cpu_us = 0;  // a task, of one of them
};

struct remote_runs {
  std::size_t nodes = 0;
  std::vector<remote_load> loads;
  double idle_leader_percent = 0;  // of one core, while nothing is to be done
  double idle_follower_percent = 0;
};

/// Starts the program `fairlead` beside this one as so many nodes. Throws std::runtime_error with a sentence.
remote_runs run_remote(const std::string& directory, std::size_t nodes, const std::vector<std::uint32_t>& in_flight, double scale);

}  // namespace fairlead::bench
