// What a real node costs that holds many jobs of which none is due.

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "actors/client/client.hpp"
#include "tests/bench/bench_cron.hpp"
#include "tests/bench/process/process.hpp"

namespace fairlead::bench {

namespace {

using steady = std::chrono::steady_clock;

constexpr int in_a_request = 1'000;
constexpr std::chrono::seconds settling{5};  // what the deployment leaves to be done is no part of being idle

std::string write_config(const std::string& directory, int port) {
  const auto path = directory + "/node.yaml";
  std::ofstream{path} << "node: { name: bench, listen: \"127.0.0.1:" << port << "\" }\n"
                      << "roles: [shard, agent]\n"
                      << "store: { path: data, max_size: 16GiB }\n"
                      << "log: { level: warning, format: text }\n"
                      << "agents:\n"
                      << "  services:\n"
                      << "    kind: http\n"
                      << "    base_url: http://127.0.0.1:9\n"  // never called
                      << "    calls:\n"
                      << "      work: { method: POST, path: / }\n";
  return path;
}

template <class T>
T must(result<T> given) {
  if (!given) throw std::runtime_error(given.failure().sentence);
  return std::move(*given);
}

void deploy_workflow(client& to) {
  const auto reply = must(to.deploy(tick_workflow()));
  if (reply.error().code() != v1::ERROR_CODE_OK) throw std::runtime_error(reply.error().sentence());
}

/// Jobs a second, as `fairlead job deploy` sends them.
double deploy_jobs(client& to, std::uint64_t jobs) {
  const auto start = steady::now();
  for (std::uint64_t next = 0; next < jobs;) {
    v1::JobApplyRequest request;
    request.set_who("bench");
    for (int i = 0; i < in_a_request && next < jobs; ++i) *request.add_jobs() = idle_job(next++);
    const auto reply = must(to.apply_jobs(request));
    for (const auto& one : reply.results())
      if (!one.created()) throw std::runtime_error("a job was not taken: " + one.error().sentence());
  }
  return static_cast<double>(jobs) / std::chrono::duration<double>(steady::now() - start).count();
}

}  // namespace

idle_node_result run_idle_node(const std::string& directory, std::uint64_t jobs, std::chrono::seconds idle) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  const auto port = free_port();
  const child_process node{{program_beside("fairlead"), "node", "--config", write_config(directory, port)}};
  client_options options;
  options.nodes = {"127.0.0.1:" + std::to_string(port)};
  options.connect_timeout = std::chrono::seconds{20};
  options.request_timeout = std::chrono::seconds{60};
  idle_node_result out;
  out.jobs = jobs;
  {
    auto to = must(client::connect(options));
    deploy_workflow(to);
  }
  std::this_thread::sleep_for(settling);
  out.empty_rss_mb = node.memory_mb("VmRSS:");
  out.empty_cpu_percent = node.cpu_percent(idle);
  {
    auto to = must(client::connect(options));
    out.deployed_per_s = deploy_jobs(to, jobs);
  }
  std::this_thread::sleep_for(settling);
  out.cpu_percent = node.cpu_percent(idle);
  out.rss_mb = node.memory_mb("VmRSS:");
  out.rss_anon_mb = node.memory_mb("RssAnon:");
  return out;
}

}  // namespace fairlead::bench
