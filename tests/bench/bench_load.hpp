#pragma once
// The order workload against a whole shard in this process: real store, Scheduler, gateway and agents; the client is an actor beside them.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/batch.hpp"

namespace fairlead::bench {

struct load_options {
  std::string directory;            // of the store; must not exist
  std::uint32_t in_flight = 1;      // tasks submitted and not yet ended
  std::uint64_t tasks = 1000;       // to run
  std::uint64_t warm_up = 100;      // of them, not counted
  std::uint32_t flow_steps = 0;     // not 0: tasks of so many steps in place of the order's three
  bool record = false;              // keep every batch, for the replay
  bool lmdb_only = false;           // without a journal
  bool watched = false;             // by a console that lists tasks every second
  bool agent_elsewhere = false;     // in another process, through CAF's network
  int http_port = 0;                // of bench_http_server: the agents are of kind http; 0: native
  std::uint64_t seed_finished = 0;  // tasks that stand finished in the store before the run
  std::uint64_t seed_live = 0;      // tasks that stand live (waiting for a far moment) in the store before the run
};

struct load_result {
  std::uint32_t in_flight = 0;
  double tasks_per_s = 0;
  double p50_us = 0;
  double p99_us = 0;
  double cpu_s = 0;           // of this process during the counted part
  double rss_anon_mb = 0;     // highest seen during the run
  double bytes_per_task = 0;  // handed to the disk by this process (/proc/self/io write_bytes), but for the zeros of new segments
  double commits_per_task = 0;
  double commit_p50_us = 0;
  double commit_p99_us = 0;
  double most_unapplied_mb = 0;  // durable in the journal and not yet in the tables; kept in memory
  double key_operations_per_task = 0;
  double open_s = 0;                              // from opening the store to the shard's first answer
  std::vector<std::vector<store::batch>> groups;  // as committed, when recorded
};

load_result run_load(const load_options& options);

/// What a node costs that does nothing: `pending` tasks are submitted and none can start.
struct standing_result {
  double empty_rss_anon_mb = 0;    // before the submissions
  double pending_rss_anon_mb = 0;  // after them; the load's own memory (about 40 bytes a task) included
  double idle_cpu_percent = 0;     // of one core
};

standing_result run_standing(const std::string& directory, std::uint64_t pending, std::chrono::seconds idle);

/// Numbers of the operating system about this process.
double cpu_seconds();
double rss_anon_mb();
std::uint64_t written_bytes();

/// The `share`-th value of `sorted`, 0..1.
double percentile(std::vector<double> values, double share);

}  // namespace fairlead::bench
