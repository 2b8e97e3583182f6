#pragma once
// What the cron costs: the next instant of an expression, ten thousand jobs that are due in the same second, and a hundred thousand that are not.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "messages/api.pb.h"
#include "messages/job.pb.h"

namespace fairlead::bench {

/// Of one expression in one zone, from moments spread over a year or from one moment.
struct next_cost {
  std::string expression;
  std::string zone;
  std::string from;
  double p50_ns = 0;
  double p99_ns = 0;
  double ratio = 0;  // of the medians, to one lookup of a moment in the same zone
};

std::vector<next_cost> run_next();

/// A whole shard with `jobs` jobs, of which `due` are due in the same second. The floor is the same number of tasks of the same workflow,
/// submitted in requests of 1,000 to the same shard.
struct herd_costs {
  double recorded_s = 0;  // until all were durable: from the request or from the nominal second on
  double completed_s = 0;
  double cpu_s = 0;     // of this process until then,
  double commit_s = 0;  // the time its store was at work
  std::uint64_t commits = 0;
};

struct herd_round {
  herd_costs submitted;
  herd_costs launched;
  double recorded_p50_ms = 0;  // what the launches' records say, later than nominal
  double recorded_p99_ms = 0;
  double recorded_max_ms = 0;
  double durable_p50_ms = 0;  // as seen in the store from outside the shard
  double durable_p99_ms = 0;
  double durable_max_ms = 0;
};

struct herd_result {
  std::uint64_t jobs = 0;
  std::uint64_t due = 0;
  double deployed_per_s = 0;
  double rss_anon_mb = 0;
  std::vector<herd_round> rounds;
};

herd_result run_herd(const std::string& directory, std::uint64_t jobs, std::uint64_t due, int rounds);

/// A `fairlead node` of its own that holds `jobs` jobs, none of which is due for days.
struct idle_node_result {
  std::uint64_t jobs = 0;
  double deployed_per_s = 0;     // through the client
  double empty_cpu_percent = 0;  // of one core, before the jobs were deployed
  double cpu_percent = 0;
  double empty_rss_mb = 0;
  double rss_mb = 0;  // with the pages of the store that it has touched
  double rss_anon_mb = 0;
};

idle_node_result run_idle_node(const std::string& directory, std::uint64_t jobs, std::chrono::seconds idle);

/// What the jobs launch: one step, done by the agent `services`.
v1::DeployRequest tick_workflow();

/// A job that is not due for days; all of them are spread over weeks. Named by its number.
v1::JobSpec idle_job(std::uint64_t number);

std::string next_to_text(const std::vector<next_cost>& costs);
std::string herd_to_text(const herd_result& herd);
std::string idle_node_to_text(const idle_node_result& node);
/// Any of the three may be missing.
std::string cron_to_json(const std::vector<next_cost>* costs, const herd_result* herd, const idle_node_result* node);

}  // namespace fairlead::bench
