#include "tests/bench/bench_node.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "actors/agents/http.hpp"
#include "app/workflow_file.hpp"

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
  return {"services", "native", must(agents::make_native_backend(std::move(agent))), {}, {}};
}

local_agent http_services(int port) {
  agents::http_agent_config agent;
  agent.name = "services";
  agent.base_url = "http://127.0.0.1:" + std::to_string(port);
  agent.concurrency = 256;
  agent.calls["work"].url = "/";
  return {"services", "http", must(agents::make_http_backend(std::move(agent))), {}, {}};
}

result<std::unique_ptr<stores::lmdb_store>> open_store(const std::string& directory) {
  return stores::lmdb_store::open({directory, std::uint64_t{64} << 30, false});
}

}  // namespace

status recording_store::commit(const std::vector<stores::batch>& group) {
  for (const auto& batch : group) operations_ += batch.size();
  if (recording_) groups_.push_back(group);
  return inner_.commit(group);
}

v1::DeployRequest order_workflow() {
  const auto file = app::parse_workflow("order.yaml", order_yaml, nullptr);
  if (!file.problems.empty()) throw std::logic_error(to_text(file.problems.front()));
  v1::DeployRequest out;
  *out.mutable_definition() = file.definition;
  return out;
}

class bench_node::quiet_observer final : public observer {
 public:
  void on_transition(const transition&) override {}
  bool wants_transitions() const override { return false; }
  void on_note(note_level level, std::string_view, std::string_view sentence) override {
    if (level == note_level::error) std::fprintf(stderr, "bench: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
  }
};

class bench_node::config final : public caf::actor_system_config {
 public:
  config() {
    init_meta_objects(*this);
    set("scheduler.policy", caf::atom("sharing"));
    set("logger.verbosity", caf::atom("quiet"));
  }
};

bench_node::bench_node(const options& with)
    : store_(must(open_store(with.directory))),
      recorder_(*store_),
      log_(std::make_unique<quiet_observer>()),
      config_(std::make_unique<config>()) {
  if (with.record) recorder_.record();
  system_ = std::make_unique<caf::actor_system>(*config_);

  shard::world world;
  world.system = system_.get();
  world.time = &clock_;
  world.store = &recorder_;
  world.log = log_.get();
  world.expressions = &expressions_;
  world.describe_node = [](v1::StatusReply&) {};
  world.on_fatal = [](const error& why) {
    std::fprintf(stderr, "bench: %s\n", why.sentence.c_str());
    std::_Exit(1);
  };
  shard_options chosen;
  chosen.node = "bench";
  chosen.limits.running_tasks = with.running_tasks;
  chosen.archive_directory = with.directory + "/archive";
  if (with.with_agent) chosen.agents.push_back(with.http_port != 0 ? http_services(with.http_port) : native_services(with.on_work));
  shard_ = must(shard::start(world, std::move(chosen)));

  caf::scoped_actor self{*system_};
  std::string failure;
  self->request(gateway(), std::chrono::seconds{60}, order_workflow())
      .receive([&](const v1::DeployReply& reply) { failure = reply.error().sentence(); },
               [&](const caf::error&) { failure = "the gateway did not answer"; });
  if (!failure.empty()) throw std::runtime_error(failure);
}

bench_node::~bench_node() {
  shard_.reset();
  system_->await_all_actors_done();
  system_.reset();
}

}  // namespace fairlead::bench
