#pragma once
// What a step costs that a worker takes over HTTP, beside the same step of an http agent and of a native one, in turns on one node.

#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::bench {

/// Rounds in turns; the ratios are those of each round.
struct workers_result {
  std::vector<double> worker_per_s, http_per_s, native_per_s;        // tasks of three steps
  std::vector<double> worker_step_us, http_step_us, native_step_us;  // p50 of a task at 1 in flight, by its steps
};

/// Starts the program `fairlead` beside this one, and the worker. Throws std::runtime_error with a sentence.
workers_result run_workers(const std::string& directory, double scale, int service_port);
std::string workers_to_text(const workers_result& of);

/// `fairlead_bench bench-worker PORT`: a worker of the agent `remote`, with two threads; ends with its parent.
int run_bench_worker(int port);

}  // namespace fairlead::bench
