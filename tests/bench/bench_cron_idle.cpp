// What a real node costs that holds many jobs of which none is due.

#include <arpa/inet.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "actors/client/client.hpp"
#include "tests/bench/bench_cron.hpp"

namespace fairlead::bench {

namespace {

using steady = std::chrono::steady_clock;

constexpr int in_a_request = 1'000;
constexpr std::chrono::seconds settling{5};  // what the deployment leaves to be done is no part of being idle

/// A port that nobody listens on now.
int free_port() {
  const auto socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const auto found = socket >= 0 && ::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (socket >= 0) ::close(socket);
  if (!found) throw std::runtime_error("there is no free port");
  return ntohs(address.sin_port);
}

/// A process of the program that stands beside this one; ends with it.
class node_process {
 public:
  explicit node_process(const std::string& config) {
    auto program = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fairlead").string();
    if (!std::filesystem::exists(program)) throw std::runtime_error("there is no " + program + ": build the target fairlead too");
    std::string node = "node", option = "--config", file = config;
    char* words[] = {program.data(), node.data(), option.data(), file.data(), nullptr};
    process_ = fork();
    if (process_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv(words[0], words);
    std::_Exit(127);
  }
  ~node_process() {
    kill(process_, SIGTERM);
    waitpid(process_, nullptr, 0);
  }
  node_process(const node_process&) = delete;
  node_process& operator=(const node_process&) = delete;

  /// Of all its threads. /proc/PID/stat counts in hundredths of a second, which is more than such a node may use in ten.
  double cpu_seconds() const {
    clockid_t clock{};
    timespec used{};
    if (clock_getcpuclockid(process_, &clock) != 0 || clock_gettime(clock, &used) != 0) throw std::runtime_error("the node has ended");
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
  }

  double memory_mb(const std::string& name) const {
    std::ifstream in{"/proc/" + std::to_string(process_) + "/status"};
    for (std::string word; in >> word;)
      if (word == name && in >> word) return std::stod(word) / 1024;
    throw std::runtime_error("the node has ended");
  }

  double cpu_percent(std::chrono::seconds of) const {
    const auto cpu = cpu_seconds();
    const auto start = steady::now();
    std::this_thread::sleep_for(of);
    return 100 * (cpu_seconds() - cpu) / std::chrono::duration<double>(steady::now() - start).count();
  }

 private:
  pid_t process_ = -1;
};

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
  const node_process node{write_config(directory, port)};
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
