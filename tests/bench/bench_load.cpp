#include "tests/bench/bench_load.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "actors/agents/native.hpp"
#include "actors/meta_objects.hpp"
#include "actors/shard.hpp"
#include "app/workflow_file.hpp"
#include "store/lmdb_store.hpp"
#include "tests/bench/bench_load_actor.hpp"
#include "tests/bench/bench_seed.hpp"

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

class quiet final : public observer {
 public:
  void on_transition(const transition&) override {}
  bool wants_transitions() const override { return false; }
  void on_note(note_level level, std::string_view, std::string_view sentence) override {
    if (level == note_level::error) std::fprintf(stderr, "bench: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
  }
};

namespace stores = fairlead::store;  // inside a class derived from store::store the name `store` is the class

/// The store, remembering the groups as they were committed.
class recording_store final : public stores::store {
 public:
  explicit recording_store(stores::lmdb_store& inner) : inner_(inner) {}
  status commit(const std::vector<stores::batch>& group) override {
    for (const auto& batch : group) operations_ += batch.size();
    if (recording_) groups_.push_back(group);
    return inner_.commit(group);
  }
  result<std::uint64_t> raise_epoch() override { return inner_.raise_epoch(); }
  std::unique_ptr<stores::snapshot> read() const override { return inner_.read(); }
  stores::usage get_usage() const override { return inner_.get_usage(); }

  void record() { recording_ = true; }
  std::uint64_t operations() const { return operations_; }
  std::vector<std::vector<stores::batch>> take() { return std::move(groups_); }

 private:
  stores::lmdb_store& inner_;
  bool recording_ = false;
  std::uint64_t operations_ = 0;
  std::vector<std::vector<stores::batch>> groups_;
};

class bench_config final : public caf::actor_system_config {
 public:
  bench_config() {
    init_meta_objects(*this);
    set("scheduler.policy", caf::atom("sharing"));
    set("logger.verbosity", caf::atom("quiet"));
  }
};

v1::DeployRequest order_workflow() {
  const auto file = app::parse_workflow("order.yaml", order_yaml, nullptr);
  if (!file.problems.empty()) throw std::logic_error(to_text(file.problems.front()));
  v1::DeployRequest out;
  *out.mutable_definition() = file.definition;
  return out;
}

}  // namespace

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

namespace {

std::uint64_t number_after(const char* path, const std::string& name) {
  std::ifstream in{path};
  std::string word;
  while (in >> word)
    if (word == name && in >> word) return std::stoull(word);
  return 0;
}

}  // namespace

double rss_anon_mb() { return static_cast<double>(number_after("/proc/self/status", "RssAnon:")) / 1024.0; }
std::uint64_t written_bytes() { return number_after("/proc/self/io", "write_bytes:"); }

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

load_result run_load(const load_options& options) {
  std::filesystem::remove_all(options.directory);
  std::filesystem::create_directories(options.directory);
  if (options.seed_finished + options.seed_live > 0)
    seed_store(options.directory, order_workflow().definition(), options.seed_finished, options.seed_live);

  const auto opening = std::chrono::steady_clock::now();
  auto opened = store::lmdb_store::open({options.directory, std::uint64_t{64} << 30, false});
  if (!opened) throw std::runtime_error(opened.failure().sentence);
  recording_store recorder{**opened};
  if (options.record) recorder.record();

  agents::native_agent_config agent;
  agent.calls["work"] = work;
  agent.capacity = 100'000;
  auto backend = agents::make_native_backend(std::move(agent));
  if (!backend) throw std::runtime_error(backend.failure().sentence);

  const system_clock clock;
  quiet log;
  expression_pool expressions;
  bench_config config;
  load_result out;
  out.in_flight = options.in_flight;
  load_progress progress;
  {
    caf::actor_system system{config};
    shard::world world;
    world.system = &system;
    world.time = &clock;
    world.store = &recorder;
    world.log = &log;
    world.expressions = &expressions;
    world.describe_node = [](v1::StatusReply&) {};
    world.on_fatal = [](const error& why) {
      std::fprintf(stderr, "bench: %s\n", why.sentence.c_str());
      std::_Exit(1);
    };
    shard_options shard_with;
    shard_with.node = "bench";
    shard_with.archive_directory = options.directory + "/archive";
    shard_with.agents.push_back({"services", "native", std::move(*backend)});
    auto shard = shard::start(world, std::move(shard_with));
    if (!shard) throw std::runtime_error(shard.failure().sentence);
    {
      caf::scoped_actor self{system};
      std::string failure;
      self->request((*shard)->gateway(), std::chrono::seconds{60}, order_workflow())
          .receive([&](const v1::DeployReply& reply) { failure = reply.error().sentence(); },
                   [&](const caf::error&) { failure = "the gateway did not answer"; });
      if (!failure.empty()) throw std::runtime_error(failure);
    }
    out.open_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - opening).count();

    const auto total = options.warm_up + options.tasks;
    const auto client = system.spawn(run_load_client, (*shard)->gateway(), load_plan{total, options.in_flight, "order"}, &progress);
    const auto wait_for = [&](std::uint64_t ended) {
      std::unique_lock lock{progress.guard};
      while (progress.ended < ended && progress.failure.empty()) {
        if (progress.changed.wait_for(lock, std::chrono::seconds{60}) == std::cv_status::timeout) progress.failure = "no progress for 60 s";
      }
      if (!progress.failure.empty()) throw std::runtime_error(progress.failure);
      return progress.ended;
    };
    const auto first = wait_for(options.warm_up);
    const auto cpu = cpu_seconds();
    const auto written = written_bytes();
    const auto operations = recorder.operations();
    const auto start = std::chrono::steady_clock::now();
    wait_for(first + (total - first) / 2);
    out.rss_anon_mb = rss_anon_mb();
    wait_for(total);
    const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto counted = static_cast<double>(total - first);
    out.tasks_per_s = counted / seconds;
    out.cpu_s = cpu_seconds() - cpu;
    out.bytes_per_task = static_cast<double>(written_bytes() - written) / counted;
    out.key_operations_per_task = static_cast<double>(recorder.operations() - operations) / counted;
    progress.latencies_us.erase(progress.latencies_us.begin(), progress.latencies_us.begin() + static_cast<std::ptrdiff_t>(first));
    out.p50_us = percentile(progress.latencies_us, 0.50);
    out.p99_us = percentile(progress.latencies_us, 0.99);
    (*shard)->stop(std::chrono::seconds{10});
    caf::anon_send_exit(client, caf::exit_reason::user_shutdown);
    shard->reset();
    system.await_all_actors_done();
  }
  out.groups = recorder.take();
  return out;
}

}  // namespace fairlead::bench
