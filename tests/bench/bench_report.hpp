#pragma once
// What the bench prints.

#include <string>
#include <vector>

#include "tests/bench/bench_load.hpp"
#include "tests/bench/bench_store.hpp"
#include "tests/bench/replicated/replicated.hpp"

namespace fairlead::bench {

struct floor_costs {
  double fdatasync_p50_us = 0;
  double replay_tasks_per_s = 0;
  double replay_p50_us = 0;
};

/// As printf does it, in up to 511 characters.
__attribute__((format(printf, 1, 2))) std::string format(const char* pattern, ...);

/// The batches of a run, committed to LMDB at once and through the journal.
struct stores_compared {
  std::uint32_t in_flight = 0;
  store_cost lmdb;
  journal_cost journal;
};

/// The order workload through http agents, and what bare libcurl gets from the same server in the same run.
struct http_runs {
  double bare_requests_per_s = 0;
  std::vector<load_result> runs;
};

/// Medians with the agent in the node's process and on another node.
std::string network_to_text(std::uint32_t in_flight, double here_per_s, double there_per_s, double here_p50_us, double there_p50_us);

/// The same loads on one node and on three.
std::string replicated_to_text(const remote_runs& one, const remote_runs& three);

/// The order workload in all forms of one run of the bench.
struct order_runs {
  std::vector<load_result> native;
  std::vector<load_result> on_lmdb;  // the same, without a journal; empty with a store that held tasks before
  std::vector<stores_compared> stores;
  http_runs http;
};

std::string to_json(const floor_costs& with, const order_runs& runs);
std::string to_table(const floor_costs& with, const order_runs& runs);

}  // namespace fairlead::bench
