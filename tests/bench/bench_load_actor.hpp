#pragma once
// The client of the load: keeps a number of tasks in flight and takes the time of each.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "actors/protocol/handles.hpp"

namespace fairlead::bench {

/// What the load's actor and the measuring thread share.
struct load_progress {
  std::mutex guard;
  std::condition_variable changed;
  std::uint64_t acknowledged = 0;
  std::uint64_t ended = 0;
  std::string failure;
  std::vector<double> latencies_us;  // in the order of the ends
};

struct load_plan {
  std::uint64_t tasks = 0;
  std::uint32_t in_flight = 0;
  std::string workflow;
  std::uint64_t first = 0;  // number of the first order
};

client_sink::behavior_type run_load_client(client_sink::stateful_pointer<struct load_state> self, gateway_actor gateway, load_plan plan,
                                           load_progress* shared);

struct load_state {
  std::uint64_t submitted = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t ended = 0;
  std::vector<std::chrono::steady_clock::time_point> started;
  static inline const char* name = "load";
};

}  // namespace fairlead::bench
