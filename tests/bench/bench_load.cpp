#include "tests/bench/bench_load.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "tests/bench/bench_load_actor.hpp"
#include "tests/bench/bench_node.hpp"
#include "tests/bench/bench_seed.hpp"

namespace fairlead::bench {

namespace {

using steady = std::chrono::steady_clock;

double seconds_since(steady::time_point start) { return std::chrono::duration<double>(steady::now() - start).count(); }

std::uint64_t number_after(const char* path, const std::string& name) {
  std::ifstream in{path};
  std::string word;
  while (in >> word)
    if (word == name && in >> word) return std::stoull(word);
  return 0;
}

/// Waits until `enough(progress)`; throws when the load fails or stands still for a minute.
template <class Predicate>
void wait_for(load_progress& progress, Predicate enough) {
  std::unique_lock lock{progress.guard};
  while (!enough(progress) && progress.failure.empty())
    if (progress.changed.wait_for(lock, std::chrono::seconds{60}) == std::cv_status::timeout) progress.failure = "no progress for 60 s";
  if (!progress.failure.empty()) throw std::runtime_error(progress.failure);
}

void fresh(const std::string& directory) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
}

}  // namespace

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double rss_anon_mb() { return static_cast<double>(number_after("/proc/self/status", "RssAnon:")) / 1024.0; }
std::uint64_t written_bytes() { return number_after("/proc/self/io", "write_bytes:"); }

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

load_result run_load(const load_options& options) {
  fresh(options.directory);
  if (options.seed_finished + options.seed_live > 0)
    seed_store(options.directory, order_workflow().definition(), options.seed_finished, options.seed_live);

  load_result out;
  out.in_flight = options.in_flight;
  const auto opening = steady::now();
  bench_node::options node_options;
  node_options.directory = options.directory;
  node_options.record = options.record;
  node_options.flow_steps = options.flow_steps;
  node_options.http_port = options.http_port;
  node_options.agent_elsewhere = options.agent_elsewhere;
  node_options.watched = options.watched;
  node_options.lmdb_only = options.lmdb_only;
  // Seeded tasks that wait count as running; room for the load is needed beside them.
  node_options.running_tasks += options.seed_live;
  bench_node node{node_options};
  out.open_s = seconds_since(opening);

  load_progress progress;
  const auto total = options.warm_up + options.tasks;
  const auto client = node.system().spawn(run_load_client, node.gateway(),
                                          load_plan{total, options.in_flight, options.flow_steps != 0 ? "flow" : "order"}, &progress);
  const auto ended = [&](std::uint64_t count) {
    wait_for(progress, [count](const load_progress& p) { return p.ended >= count; });
    const std::lock_guard lock{progress.guard};
    return progress.ended;
  };
  const auto first = ended(options.warm_up);
  const auto cpu = cpu_seconds();
  const auto written_by_node = [&] { return static_cast<double>(written_bytes()) - static_cast<double>(node.zeroed_bytes()); };
  const auto written = written_by_node();
  const auto operations = node.recorder().operations();
  const auto commits = node.recorder().commits();
  const auto start = steady::now();
  ended(first + (total - first) / 2);
  out.rss_anon_mb = rss_anon_mb();
  ended(total);
  const auto seconds = seconds_since(start);
  const auto counted = static_cast<double>(total - first);
  out.tasks_per_s = counted / seconds;
  out.cpu_s = cpu_seconds() - cpu;
  out.bytes_per_task = (written_by_node() - written) / counted;
  out.commits_per_task = static_cast<double>(node.recorder().commits() - commits) / counted;
  out.key_operations_per_task = static_cast<double>(node.recorder().operations() - operations) / counted;
  progress.latencies_us.erase(progress.latencies_us.begin(), progress.latencies_us.begin() + static_cast<std::ptrdiff_t>(first));
  out.p50_us = percentile(progress.latencies_us, 0.50);
  out.p99_us = percentile(progress.latencies_us, 0.99);
  node.stop();
  caf::anon_send_exit(client, caf::exit_reason::user_shutdown);
  out.groups = node.recorder().take();
  out.commit_p50_us = percentile(node.recorder().commits_us(), 0.50);
  out.commit_p99_us = percentile(node.recorder().commits_us(), 0.99);
  out.most_unapplied_mb = static_cast<double>(node.recorder().most_unapplied_bytes()) / 1e6;
  return out;
}

standing_result run_standing(const std::string& directory, std::uint64_t pending, std::chrono::seconds idle) {
  fresh(directory);
  bench_node::options options;
  options.directory = directory;
  options.running_tasks = 1;
  options.with_agent = false;  // nothing ever starts, so all but one task stay pending
  bench_node node{options};
  standing_result out;
  out.empty_rss_anon_mb = rss_anon_mb();
  load_progress progress;
  const auto client =
      node.system().spawn(run_load_client, node.gateway(), load_plan{pending, static_cast<std::uint32_t>(pending), "order"}, &progress);
  wait_for(progress, [pending](const load_progress& p) { return p.acknowledged >= pending; });
  caf::anon_send_exit(client, caf::exit_reason::user_shutdown);
  out.pending_rss_anon_mb = rss_anon_mb();
  const auto cpu = cpu_seconds();
  std::this_thread::sleep_for(idle);
  out.idle_cpu_percent = 100 * (cpu_seconds() - cpu) / static_cast<double>(idle.count());
  return out;
}

}  // namespace fairlead::bench
