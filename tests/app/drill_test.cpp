// A drill: an exception is planted in every live actor of a node in turn, guardians included, under load. Judged by what the agent's handler has
// counted and what the client was told.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "actors/agents/native.hpp"
#include "actors/client/client.hpp"
#include "app/files/workflow_file.hpp"
#include "app/node/runtime.hpp"

namespace fairlead::app {
namespace {

using namespace std::chrono_literals;

constexpr const char* workflow_yaml = R"(
workflow: drilled
steps:
  first:
    agent: svc
    call: work
    with: { order: "${ .task.id }" }
    timeout: 20s
    attempts: 20
    backoff: { first: 20ms, factor: 1, max: 20ms }
  second:
    needs: [first]
    agent: svc
    call: work
    with: { order: "${ .task.id + \"-x\" }" }
    timeout: 20s
    attempts: 20
    backoff: { first: 20ms, factor: 1, max: 20ms }
)";

/// A service that does each thing once: an idempotency key that comes again has no second effect.
struct service {
  std::mutex guard;
  std::map<std::string, int> effects;  // by task and step
  std::set<std::string> keys;

  agents::attempt_result work(const agents::native_context& context) {
    const std::lock_guard lock{guard};
    if (keys.insert(std::string{context.idempotency_key}).second)
      ++effects[std::string{context.task_id} + "/" + std::string{context.step_path}];
    return {"{}", std::nullopt, 1};
  }
};

class drill : public ::testing::Test {
 protected:
  drill() {
    auto folder = (std::filesystem::path{::testing::TempDir()} / "drill-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder for a store");
    folder_ = folder;
    const auto file = parse_node_config(
        folder_ + "/node.yaml",
        "node: { name: drilled, listen: 127.0.0.1:0, peers: [127.0.0.1:1] }\nroles: [shard, agent]\nstore: { path: " + folder_ +
            "/store, max_size: 1GiB }\nlog: { level: warning, file: " + folder_ +
            "/log }\nalerts: { commands: { nobody: { run: [/bin/true] } } }\n");
    if (!file.problems.empty()) throw std::runtime_error(to_text(file.problems.front()));
    node_parts parts;
    const auto* program = std::getenv("FAIRLEAD_BIN");
    parts.program = program == nullptr ? "" : program;
    parts.on_given_up = [this](const error& why) {
      const std::lock_guard lock{guard_};
      given_up_ = why.sentence;
    };
    given_agent agent;
    agent.name = "svc";
    agent.make = [this](std::uint32_t) -> result<std::shared_ptr<agents::backend>> {
      agents::native_agent_config config;
      config.calls["work"] = [this](const agents::native_context& context, std::string_view) { return service_.work(context); };
      auto made = agents::make_native_backend(std::move(config));
      if (!made) return made.failure();
      return std::shared_ptr<agents::backend>{std::move(*made)};
    };
    parts.agents.push_back(std::move(agent));
    start_failure failure;
    node_ = node_runtime::start(file.config, std::move(parts), failure);
    if (!node_) throw std::runtime_error(failure.why.sentence);
    auto connected = client::connect({{"127.0.0.1:" + std::to_string(node_->port())}, 30s, 10s});
    if (!connected) throw std::runtime_error(connected.failure().sentence);
    client_.emplace(std::move(*connected));
  }

  ~drill() override {
    stop_load();
    client_.reset();
    node_.reset();
    std::filesystem::remove_all(folder_);
  }

  v1::DeployRequest definition() {
    const auto file = parse_workflow("drilled.yaml", workflow_yaml, nullptr);
    EXPECT_TRUE(file.problems.empty()) << to_text(file.problems.front());
    v1::DeployRequest out;
    *out.mutable_definition() = file.definition;
    return out;
  }

  void start_load() {
    load_ = std::thread{[this] {
      for (int number = 0; !load_is_over_; ++number) {
        v1::SubmitRequest request;
        for (int i = 0; i < 10; ++i) {
          auto* item = request.add_items();
          item->set_id("t" + std::to_string(number) + "-" + std::to_string(i));
          item->set_workflow("drilled");
        }
        const auto reply = client_->submit(request);
        if (!reply.ok()) continue;
        {
          const std::lock_guard lock{guard_};
          for (const auto& one : reply->results())
            if (one.error().code() == v1::ERROR_CODE_OK) acknowledged_.push_back(one.id());
        }
        client_->wait("t" + std::to_string(number) + "-0", 1s);
      }
    }};
  }

  void stop_load() {
    load_is_over_ = true;
    if (load_.joinable()) load_.join();
  }

  /// Gives everything in the node that only works when asked something to do.
  void poke() {
    client_->deploy(definition());
    client_->doctor({});
    client_->status_of_node({});
    v1::RepliesRequest replies;
    replies.set_client("nobody");
    client_->replies(replies);
    v1::NodeOperateRequest level;
    level.set_verb(v1::NODE_VERB_LOG_LEVEL);
    level.set_who("drill");
    client_->operate_node(level);
  }

  std::map<std::string, v1::SupervisedActor> tree() {
    std::map<std::string, v1::SupervisedActor> out;
    for (auto& one : node_->tree().describe()) out[one.path()] = one;
    return out;
  }

  std::string give_up_reason() {
    const std::lock_guard lock{guard_};
    return given_up_;
  }

  /// Waits until it runs again, started once more than `before` says.
  ::testing::AssertionResult back(const std::string& path, std::uint32_t before) {
    for (const auto until = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < until;) {
      if (!give_up_reason().empty()) return ::testing::AssertionFailure() << "the tree has given up: " << give_up_reason();
      const auto now = tree()[path];
      if (now.restarts() > before && now.state() == "running") return ::testing::AssertionSuccess();
      poke();
    }
    return ::testing::AssertionFailure() << path << " did not come back";
  }

  ::testing::AssertionResult crash(const std::string& path) {
    // The actor that was crashed before may have taken this one with it, as the branch's strategy says.
    auto before = tree()[path].restarts();
    for (const auto until = std::chrono::steady_clock::now() + 60s; !node_->tree().plant_crash(path); before = tree()[path].restarts())
      if (std::chrono::steady_clock::now() > until) return ::testing::AssertionFailure() << path << " does not run";
    const auto began = std::chrono::steady_clock::now();
    auto out = back(path, before);
    std::printf("%s: back after %.2f s\n", path.c_str(), std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    return out;
  }

  std::string shown(const std::string& id) {
    v1::TaskShowRequest request;
    request.set_id(id);
    const auto reply = client_->show(request);
    return reply.ok() ? reply->DebugString() : reply.failure().sentence;
  }

  std::uint64_t acknowledged() {
    const std::lock_guard lock{guard_};
    return acknowledged_.size();
  }

  std::string folder_;
  service service_;
  std::unique_ptr<node_runtime> node_;
  std::optional<client> client_;
  std::thread load_;
  std::atomic<bool> load_is_over_{false};
  std::mutex guard_;
  std::vector<std::string> acknowledged_;
  std::string given_up_;
};

TEST_F(drill, of_every_actor_in_turn_loses_no_task_and_doubles_no_effect) {
  ASSERT_TRUE(client_->deploy(definition()).ok());
  start_load();
  std::vector<std::string> leaves;
  for (const auto& one : node_->tree().describe())
    if (!one.guardian()) leaves.push_back(one.path());
  // What the design names, whatever else there is.
  for (const auto* needed :
       {"node/shards/0/core/store", "node/shards/0/core/scheduler", "node/shards/0/core/supervisor", "node/shards/0/core/cron",
        "node/shards/0/archiver", "node/network/connector-1", "node/agents/svc", "node/desk/gateway", "node/network/links"})
    EXPECT_NE(std::find(leaves.begin(), leaves.end(), needed), leaves.end()) << needed;
  for (const auto& path : leaves) {
    const auto before = acknowledged();
    ASSERT_TRUE(crash(path));
    // The load goes on: what was crashed serves again.
    for (const auto until = std::chrono::steady_clock::now() + 30s; acknowledged() == before && std::chrono::steady_clock::now() < until;)
      std::this_thread::yield();
    EXPECT_GT(acknowledged(), before) << "nothing was taken any more after " << path;
  }
  EXPECT_EQ(outside_actors().load(), 0) << "an actor hangs in no tree";
  // The branches themselves, each with all that hangs below it.
  for (const auto* guardian : {"node/shards/0/core", "node/shards/0", "node/agents", "node/network", "node/desk"})
    ASSERT_TRUE(crash(guardian));
  stop_load();

  ASSERT_GT(acknowledged_.size(), 100u) << "hardly anything was submitted: the drill says nothing";
  for (const auto& id : acknowledged_) {
    const auto end = client_->wait(id, 60s);
    ASSERT_TRUE(end.ok()) << id << ": " << end.failure().sentence << "\n" << shown(id);
    ASSERT_EQ(end->state(), v1::TASK_STATE_COMPLETED) << id << " " << end->reason();
  }
  const std::lock_guard lock{service_.guard};
  for (const auto& id : acknowledged_)
    for (const auto* step : {"/first", "/second"}) EXPECT_EQ(service_.effects[id + step], 1) << id << step;
  EXPECT_EQ(give_up_reason(), "");
}

TEST_F(drill, of_a_crash_loop_ends_with_a_named_reason) {
  ASSERT_TRUE(client_->deploy(definition()).ok());
  for (const auto until = std::chrono::steady_clock::now() + 90s; give_up_reason().empty() && std::chrono::steady_clock::now() < until;) {
    node_->tree().plant_crash("node/shards/0/core/scheduler");
    std::this_thread::yield();
  }
  EXPECT_NE(give_up_reason().find("node/shards/0/core/scheduler"), std::string::npos) << give_up_reason();
  EXPECT_NE(give_up_reason().find("planted"), std::string::npos) << give_up_reason();
}

}  // namespace
}  // namespace fairlead::app
