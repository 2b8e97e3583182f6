#include "tests/bench/replicated/replicated.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <caf/io/all.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "actors/protocol/meta_objects.hpp"
#include "app/files/workflow_file.hpp"
#include "messages/error.hpp"
#include "tests/bench/bench_load.hpp"
#include "tests/bench/bench_load_actor.hpp"

namespace fairlead::bench {

namespace {

using steady = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint16_t first_port = 7240;

/// The order of bench_node, for an agent that every node has: it gives back what it is given.
constexpr const char* echo_yaml = R"(
workflow: order
steps:
  reserve:
    agent: echo
    call: echo
    with: { order: "${ .task.id }", items: "${ .input.items }" }
  charge:
    needs: [reserve]
    agent: echo
    call: echo
    with: { order: "${ .task.id }", amount_cents: "${ .input.amount_cents }", reservation: "${ .steps.reserve.order }" }
  ship:
    needs: [charge]
    agent: echo
    call: echo
    with: { order: "${ .task.id }", address: "${ .input.address }" }
)";

class network_config final : public caf::actor_system_config {
 public:
  network_config() {
    init_meta_objects(*this);
    load<caf::io::middleman>();
    init_options(*this);
  }
};

double cpu_seconds_of(int process) {
  std::ifstream in{"/proc/" + std::to_string(process) + "/stat"};
  std::string text;
  std::getline(in, text);
  std::istringstream fields{text.substr(text.rfind(')') + 2)};  // from the third field on
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0, kernel = 0;
  fields >> user >> kernel;
  return (user + kernel) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

class remote_nodes {
 public:
  remote_nodes(const std::string& directory, std::size_t count) : directory_(directory), system_(config_) {
    std::filesystem::remove_all(directory);
    std::filesystem::create_directories(directory);
    for (std::size_t i = 0; i < count; ++i) start(i, count);
    gateway_ = gateway_of(0);
    until("the shard is led, and every node's agent is registered", [&] {
      const auto now = status();
      return now.shards_size() == 1 && now.shards(0).up() && registered(now) == count;
    });
    leader_ = static_cast<std::size_t>(status().shards(0).node().back() - '1');
    gateway_ = gateway_of(leader_);
    deploy();
  }
  ~remote_nodes() {
    for (const auto process : processes_) kill(process, SIGTERM);
    for (const auto process : processes_) waitpid(process, nullptr, 0);
    std::filesystem::remove_all(directory_);
  }

  remote_load load(std::uint32_t in_flight, std::uint64_t tasks) {
    load_progress progress;
    const auto warm_up = std::max<std::uint64_t>(tasks / 10, 100);
    const auto client = system_.spawn(run_load_client, gateway_, load_plan{warm_up + tasks, in_flight, "order", next_order_}, &progress);
    next_order_ += warm_up + tasks;
    wait_for(progress, warm_up);
    const auto first = progress.ended;
    const auto before = cpu();
    const auto began = steady::now();
    wait_for(progress, warm_up + tasks);
    const auto took = std::chrono::duration<double>(steady::now() - began).count();
    const auto after = cpu();
    caf::anon_send_exit(client, caf::exit_reason::user_shutdown);
    const auto counted = static_cast<double>(warm_up + tasks - first);
    remote_load out;
    out.in_flight = in_flight;
    out.tasks_per_s = counted / took;
    progress.latencies_us.erase(progress.latencies_us.begin(), progress.latencies_us.begin() + static_cast<std::ptrdiff_t>(first));
    out.p50_us = percentile(progress.latencies_us, 0.5);
    out.p99_us = percentile(progress.latencies_us, 0.99);
    std::tie(out.leader_cpu_us, out.follower_cpu_us) = each(before, after, 1e6 / counted);
    return out;
  }

  /// Of one core, in per cent: the leader's, and that of one of the others.
  std::pair<double, double> idle(seconds how_long) {
    std::this_thread::sleep_for(seconds{3});
    const auto before = cpu();
    std::this_thread::sleep_for(how_long);
    return each(before, cpu(), 100.0 / static_cast<double>(how_long.count()));
  }

 private:
  static std::uint16_t port_of(std::size_t node) { return static_cast<std::uint16_t>(first_port + node); }

  void start(std::size_t number, std::size_t count) {
    const auto name = "n" + std::to_string(number + 1);
    std::string peers, replicas;
    for (std::size_t i = 0; i < count; ++i) {
      replicas += (i > 0 ? ", n" : "n") + std::to_string(i + 1);
      if (i != number) peers += (peers.empty() ? "127.0.0.1:" : ", 127.0.0.1:") + std::to_string(port_of(i));
    }
    const auto file = directory_ + "/" + name + ".yaml";
    std::ofstream{file} << "node: { name: " << name << ", cluster: bench, listen: 127.0.0.1:" << port_of(number) << ", peers: [" << peers
                        << "] }\n"
                        << "shards: { count: 1, here: [0]" << (count > 1 ? ", replicas: [" + replicas + "]" : "") << " }\n"
                        << "store: { path: " << std::filesystem::absolute(directory_).string() << "/" << name << ", max_size: 16GiB }\n"
                        << "log: { level: error }\n"
                        << "agents: { echo: { kind: native, handler: echo, concurrency: 4096 } }\n";
    const auto program = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fairlead").string();
    const auto log = directory_ + "/" + name + ".log";
    const auto process = fork();
    if (process == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const auto out = open(log.c_str(), O_CREAT | O_WRONLY, 0600);
      dup2(out, STDOUT_FILENO);
      dup2(out, STDERR_FILENO);
      execl(program.c_str(), program.c_str(), "node", "--config", file.c_str(), nullptr);
      std::_Exit(127);
    }
    processes_.push_back(process);
  }

  static void until(const char* what, const std::function<bool()>& is) {
    for (const auto end = steady::now() + seconds{30}; steady::now() < end;) {
      if (is()) return;
      std::this_thread::sleep_for(milliseconds{20});
    }
    throw std::runtime_error(std::string("not within 30 s: ") + what);
  }

  gateway_actor gateway_of(std::size_t node) {
    gateway_actor out;
    until("a node answers", [&] {
      auto found = system_.middleman().remote_actor<gateway_actor>("127.0.0.1", port_of(node));
      if (found) out = *found;
      return static_cast<bool>(found);
    });
    return out;
  }

  v1::StatusReply status() {
    v1::StatusReply out;
    caf::scoped_actor self{system_};
    self->request(gateway_, seconds{5}, v1::StatusRequest{})
        .receive([&](v1::StatusReply& reply) { out = std::move(reply); }, [](caf::error&) {});
    return out;
  }

  static std::size_t registered(const v1::StatusReply& from) {
    std::size_t out = 0;
    for (const auto& one : from.agents()) out += one.instance().empty() || one.away() ? 0 : 1;
    return out;
  }

  void deploy() {
    const auto file = app::parse_workflow("order.yaml", echo_yaml, nullptr);
    if (!file.problems.empty()) throw std::logic_error(to_text(file.problems.front()));
    v1::DeployRequest request;
    *request.mutable_definition() = file.definition;
    caf::scoped_actor self{system_};
    std::string failure = "the gateway did not answer";
    self->request(gateway_, seconds{60}, std::move(request))
        .receive([&](const v1::DeployReply& reply) { failure = reply.error().sentence(); }, [](const caf::error&) {});
    if (!failure.empty()) throw std::runtime_error(failure);
  }

  static void wait_for(load_progress& progress, std::uint64_t ended) {
    std::unique_lock lock{progress.guard};
    while (progress.ended < ended && progress.failure.empty())
      if (progress.changed.wait_for(lock, seconds{60}) == std::cv_status::timeout) progress.failure = "no progress for 60 s";
    if (!progress.failure.empty()) throw std::runtime_error(progress.failure);
  }

  std::vector<double> cpu() const {
    std::vector<double> out;
    for (const auto process : processes_) out.push_back(cpu_seconds_of(process));
    return out;
  }
  /// The leader's, and the mean of the others.
  std::pair<double, double> each(const std::vector<double>& before, const std::vector<double>& after, double times) const {
    double others = 0;
    for (std::size_t i = 0; i < after.size(); ++i) others += i == leader_ ? 0 : after[i] - before[i];
    const auto rest = std::max<std::size_t>(after.size() - 1, 1);
    return {(after[leader_] - before[leader_]) * times, others / static_cast<double>(rest) * times};
  }

  const std::string directory_;
  network_config config_;
  caf::actor_system system_;
  gateway_actor gateway_;
  std::vector<int> processes_;
  std::size_t leader_ = 0;
  std::uint64_t next_order_ = 0;
};

}  // namespace

remote_runs run_remote(const std::string& directory, std::size_t nodes, const std::vector<std::uint32_t>& in_flight, double scale) {
  remote_nodes all{directory, nodes};
  remote_runs out;
  out.nodes = nodes;
  std::tie(out.idle_leader_percent, out.idle_follower_percent) = all.idle(seconds{10});
  for (const auto one : in_flight) out.loads.push_back(all.load(one, static_cast<std::uint64_t>((one == 1 ? 2'000 : 60'000) * scale)));
  return out;
}

}  // namespace fairlead::bench
