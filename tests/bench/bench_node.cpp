#include "tests/bench/bench_node.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <caf/io/all.hpp>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "actors/agents/http/http.hpp"
#include "actors/core/cluster/hello.hpp"
#include "app/files/workflow_file.hpp"
#include "messages/time.hpp"

namespace fairlead::bench {

namespace {

constexpr const char* order_yaml = R"(
workflow: order
steps:
  reserve:
    agent: services
    call: work
    with: { order: "${ .task.id }", items: "${ .input.items }" }
  charge:
    needs: [reserve]
    agent: services
    call: work
    with: { order: "${ .task.id }", amount_cents: "${ .input.amount_cents }", reservation: "${ .steps.reserve.id }" }
  ship:
    needs: [charge]
    agent: services
    call: work
    with: { order: "${ .task.id }", address: "${ .input.address }" }
)";

/// 100 bytes of JSON.
agents::attempt_result work(const agents::native_context& context, std::string_view) {
  std::string out = R"({"id":")" + std::string{context.step_path} + R"(-1","receipt":")";
  out.append(98 - std::min<std::size_t>(out.size(), 98), 'r');
  return {out + "\"}", std::nullopt, 1};
}

template <class T>
T must(result<T> given) {
  if (!given) throw std::runtime_error(given.failure().sentence);
  return std::move(*given);
}

local_agent native_services(const std::function<void(const agents::native_context&)>& told) {
  agents::native_agent_config agent;
  agent.calls["work"] = told ? agents::native_handler{[told](const agents::native_context& context, std::string_view input) {
    told(context);
    return work(context, input);
  }}
                             : agents::native_handler{work};
  agent.capacity = 100'000;
  return {"services", "native", must(agents::make_native_backend(std::move(agent))), {}, {}, {}};
}

local_agent http_services(int port) {
  agents::http_agent_config agent;
  agent.name = "services";
  agent.base_url = "http://127.0.0.1:" + std::to_string(port);
  agent.concurrency = 256;
  agent.calls["work"].url = "/";
  return {"services", "http", must(agents::make_http_backend(std::move(agent))), {}, {}, {}};
}

constexpr std::uint64_t store_bytes = std::uint64_t{64} << 30;

result<std::unique_ptr<stores::disk_stores>> open_behind_journal(const std::string& directory) {
  stores::disk_stores_options options;
  options.shards.push_back({0, directory});
  options.journal = stores::journal_in(directory);
  options.max_bytes = store_bytes;
  return stores::disk_stores::open(std::move(options));
}

}  // namespace

status recording_store::commit(const std::vector<stores::batch>& group) {
  for (const auto& batch : group) operations_ += batch.size();
  if (recording_) groups_.push_back(group);
  const auto start = std::chrono::steady_clock::now();
  auto done = inner_.commit(group);
  const auto took = std::chrono::nanoseconds{std::chrono::steady_clock::now() - start};
  commit_ns_ += took.count();
  commits_us_.push_back(static_cast<double>(took.count()) / 1e3);
  if (unapplied_bytes) most_unapplied_bytes_ = std::max(most_unapplied_bytes_, unapplied_bytes());
  ++commits_;
  return done;
}

std::uint64_t bench_node::zeroed_bytes() const {
  if (!journaled_) return 0;
  v1::StoreStatus now;
  journaled_->describe(0, now);
  return (now.journal().segments() + now.journal().spare_segments()) * now.journal().segment_bytes();
}

namespace {

v1::DeployRequest deployment(const std::string& yaml) {
  const auto file = app::parse_workflow("bench.yaml", yaml, nullptr);
  if (!file.problems.empty()) throw std::logic_error(to_text(file.problems.front()));
  v1::DeployRequest out;
  *out.mutable_definition() = file.definition;
  return out;
}

}  // namespace

v1::DeployRequest order_workflow() { return deployment(order_yaml); }

v1::DeployRequest flow_workflow(std::uint32_t steps) {
  std::string yaml = "workflow: flow\nsteps:\n";
  for (std::uint32_t i = 0; i < steps; ++i) {
    const auto before = "s" + std::to_string(i - 1);
    yaml += "  s" + std::to_string(i) + ":\n    agent: services\n    call: work\n";
    if (i > 0) yaml += "    needs: [" + before + "]\n";
    yaml += R"(    with: { order: "${ .task.id }", amount_cents: "${ .input.amount_cents }")" +
            (i > 0 ? R"(, before: "${ .steps.)" + before + R"(.id }")" : std::string{}) + " }\n";
  }
  return deployment(yaml);
}

v1::DeployRequest list_workflow(std::uint32_t at_once) {
  return deployment(R"(
workflow: list
steps:
  each:
    for_each: { items: "${ .input.items }", at_once: )" +
                    std::to_string(at_once) + R"( }
    agent: services
    call: work
    with: { item: "${ .item }", number: "${ .index }" }
)");
}

namespace {

class quiet_observer final : public observer {
 public:
  void on_transition(const transition&) override {}
  bool wants_transitions() const override { return false; }
  void on_note(note_level level, std::string_view, std::string_view sentence) override {
    if (level == note_level::error) std::fprintf(stderr, "bench: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
  }
};

class config final : public caf::actor_system_config {
 public:
  explicit config(bool with_network) {
    init_meta_objects(*this);
    if (with_network) load<caf::io::middleman>();
    init_options(*this);
  }
};

[[noreturn]] void die(const error& why) {
  std::fprintf(stderr, "bench: %s\n", why.sentence.c_str());
  std::_Exit(1);
}

v1::Hello hello(const std::string& name, std::uint32_t shards) {
  v1::Hello out;
  out.set_protocol(core::protocol_version);
  out.set_least_protocol(core::least_protocol_version);
  out.set_cluster("bench");
  out.set_node(name);
  out.set_node_id(name);
  out.set_run_id(name);
  out.set_incarnation(1);
  out.set_version("bench");
  out.set_shard_count(shards);
  out.add_roles(shards > 0 ? "shard" : "agent");
  return out;
}

node_tree::world world_of(caf::actor_system& system, const clock& time, observer& log, expression_pool& expressions) {
  node_tree::world out;
  out.system = &system;
  out.time = &time;
  out.log = &log;
  out.expressions = &expressions;
  out.on_fatal = die;
  out.on_given_up = die;
  out.next_incarnation = []() -> result<std::uint64_t> { return std::uint64_t{2}; };
  return out;
}

}  // namespace

bench_node::bench_node(const options& with)
    : alone_(with.lmdb_only ? must(stores::lmdb_store::open({with.directory, store_bytes, false})) : nullptr),
      journaled_(with.lmdb_only ? nullptr : must(open_behind_journal(with.directory))),
      replica_(with.lmdb_only ? nullptr : std::make_unique<replica>(journaled_->at(0), replica_settings{}, now_boot_ms)),
      recorder_(with.lmdb_only ? static_cast<stores::store&>(*alone_) : *replica_),
      log_(std::make_unique<quiet_observer>()),
      config_(std::make_unique<config>(with.agent_elsewhere || with.watched)) {
  if (with.record) recorder_.record();
  if (journaled_) {
    journaled_->begin_applying([](const error& why) { die(why); }, {}, {});
    recorder_.unapplied_bytes = [this] { return journaled_->at(0).unapplied_bytes(); };
  }
  system_ = std::make_unique<caf::actor_system>(*config_);

  node_tree_options chosen;
  chosen.who = hello("bench", 1);
  auto* claim = chosen.who.add_shards();
  claim->set_store_id("bench");
  if (with.with_agent && !with.agent_elsewhere)
    chosen.agents.push_back(with.http_port != 0 ? http_services(with.http_port) : native_services(with.on_work));
  node_tree::shard_part part;
  part.store = part.commits = &recorder_;
  part.archives = journaled_ ? journaled_->archives(0) : std::make_shared<stores::archive>(stores::archives_in(with.directory));
  part.store_id = "bench";
  part.lineage.set_made_unix_ms(1);
  part.options.node = "bench";
  part.options.limits.running_tasks = with.running_tasks;
  part.options.limits.cron = with.cron;
  tree_ = must(node_tree::start(world_of(*system_, clock_, *log_, expressions_), std::move(chosen), {std::move(part)}));
  deploy(order_workflow());
  if (with.flow_steps != 0) deploy(flow_workflow(with.flow_steps));
  if (with.items_at_once != 0) deploy(list_workflow(with.items_at_once));
  if (with.agent_elsewhere) begin_agents_elsewhere();
  if (with.watched) {
    const auto program = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fairlead").string();
    start_beside({program, "console", "--node", publish(), "-c", "watch -n 1 --times 100000 tasks"});
  }
}

void bench_node::deploy(v1::DeployRequest what) {
  caf::scoped_actor self{*system_};
  std::string failure;
  self->request(gateway(), std::chrono::seconds{60}, std::move(what))
      .receive([&](const v1::DeployReply& reply) { failure = reply.error().sentence(); },
               [&](const caf::error&) { failure = "the gateway did not answer"; });
  if (!failure.empty()) throw std::runtime_error(failure);
}

std::string bench_node::publish() {
  const auto port = system_->middleman().publish(gateway(), 0, "127.0.0.1");
  if (!port) throw std::runtime_error("the gateway cannot be published");
  return "127.0.0.1:" + std::to_string(*port);
}

int bench_node::start_beside(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::fflush(stdout);  // or the child would write it once more
  const auto process = fork();
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (std::freopen("/dev/null", "w", stdout) == nullptr) std::_Exit(127);
    execv(words[0], words.data());
    std::_Exit(127);
  }
  beside_.push_back(process);
  return process;
}

void bench_node::begin_agents_elsewhere() {
  start_beside({"/proc/self/exe", "agent-node", publish()});
  caf::scoped_actor self{*system_};
  for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{10}; std::chrono::steady_clock::now() < until;) {
    bool there = false;
    self->request(gateway(), std::chrono::seconds{10}, v1::StatusRequest{})
        .receive([&there](const v1::StatusReply& reply) { there = reply.agents_size() > 0; }, [](const caf::error&) {});
    if (there) return;
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  throw std::runtime_error("the node with the agent did not join");
}

bench_node::~bench_node() {
  for (const auto process : beside_) {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
  tree_.reset();
  system_->await_all_actors_done();
  system_.reset();
}

int run_agent_node(const std::string& shard_address) {
  config with{true};
  caf::actor_system system{with};
  const system_clock time;
  quiet_observer log;
  expression_pool expressions;
  node_tree_options chosen;
  chosen.who = hello("bench-agents", 0);
  chosen.peers = {shard_address};
  chosen.agents.push_back(native_services({}));
  const auto tree = must(node_tree::start(world_of(system, time, log, expressions), std::move(chosen), {}));
  for (;;) pause();
}

}  // namespace fairlead::bench
