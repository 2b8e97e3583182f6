#pragma once
// An agent host in a world that the test holds in its hands: a clock that stands still, a backend that does nothing by itself, and a record of
// everything that left.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/agent_host/host.hpp"
#include "actors/agents/attempt_results.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {

/// Completes nothing by itself, unless told to complete at once.
class fake_backend final : public agents::backend {
 public:
  void start(const v1::Perform& what, agents::completion done) override {
    started.push_back(what);
    if (at_once) done(agents::key_of(what), result_at_once);
    completions.push_back(std::move(done));
  }
  void stop(const agents::attempt_key& which) override { stopped.push_back(which); }
  std::vector<std::string> calls() const override { return {"do", "undo"}; }
  std::vector<std::string> lookups() const override { return looked_up; }
  std::uint32_t capacity() const override { return 3; }
  std::vector<v1::CallPolicy> policies() const override { return promised; }
  void report_progress_to(agents::progress_sink to) override { sink = std::move(to); }
  bool beats_itself() const override { return hangs; }
  void shut_down() override {}

  bool at_once = false;
  bool hangs = false;
  agents::attempt_result result_at_once{"1", std::nullopt, 1};
  std::vector<std::string> looked_up{"do"};
  std::vector<v1::CallPolicy> promised;
  agents::progress_sink sink;
  std::vector<v1::Perform> started;
  std::vector<agents::completion> completions;
  std::vector<agents::attempt_key> stopped;
};

class fake_outbox final : public agent_outbox {
 public:
  void outcomes(v1::OutcomeBatch what) override { sent.push_back(std::move(what)); }
  void heartbeats(v1::HeartbeatBatch what) override {
    for (auto& one : *what.mutable_items()) beats.push_back(std::move(one));
  }
  void refused(v1::OutcomeBatch what) override { turned_down.push_back(std::move(what)); }
  void finish_later(agents::attempt_key key, agents::attempt_result result) override { later.emplace_back(key, std::move(result)); }
  void progress_later(agents::attempt_key key) override { told.push_back(key); }
  std::vector<v1::OutcomeBatch> sent;
  std::vector<v1::OutcomeBatch> turned_down;
  std::vector<v1::Heartbeat> beats;
  std::vector<std::pair<agents::attempt_key, agents::attempt_result>> later;
  std::vector<agents::attempt_key> told;
};

class agent_host_test : public ::testing::Test {
 protected:
  agent_host& host() { return *own_host; }

  v1::Perform attempt(std::uint64_t task, std::uint32_t number = 1, std::int64_t lease_ms = 5'000) const {
    v1::Perform out;
    out.set_task_number(task);
    out.set_attempt(number);
    out.set_call("do");
    out.set_complete_by_unix_ms(time.now_ms + lease_ms);
    return out;
  }

  void hand_over(const std::vector<v1::Perform>& items, std::uint64_t epoch = 1) {
    v1::PerformBatch batch;
    batch.set_epoch(epoch);
    for (const auto& one : items) *batch.add_items() = one;
    host().perform(std::move(batch));
    host().flush();
  }

  v1::Perform lookup(std::uint64_t task, const std::string& call = "do") const {
    auto out = attempt(task);
    out.set_direction(v1::DIRECTION_LOOKUP);
    out.set_call(call);
    return out;
  }

  v1::Outcome found(std::uint64_t task, agents::attempt_result result) {
    hand_over({lookup(task)});
    host().finished({task, 0, v1::DIRECTION_LOOKUP, 1}, std::move(result));
    host().flush();
    return out.sent.back().items(0);
  }

  void finish(std::uint64_t task, std::uint32_t number = 1, agents::attempt_result result = {"7", std::nullopt, 2}) {
    host().finished({task, 0, v1::DIRECTION_PERFORM, number}, std::move(result));
    host().flush();
  }

  void acknowledge(std::uint64_t task, std::uint32_t number = 1, bool accepted = true) {
    v1::OutcomeAckBatch batch;
    auto* ack = batch.add_items();
    ack->set_task_number(task);
    ack->set_attempt(number);
    ack->set_accepted(accepted);
    host().acknowledged(batch);
  }

  void pass(std::int64_t ms) {
    time.now_ms += ms;
    host().expire();
    host().flush();
  }

  /// Another host over the same backend: on a node with this address for callbacks.
  void restart_at(const std::string& callback_url) {
    agent_host::identity who{"svc", "n1/svc", 4, "native", {}, {}};
    who.callback_url = callback_url;
    own_host = std::make_unique<agent_host>(std::move(who), backend, time, out);
  }

  /// Another host over the same backend: with these settings.
  void restart(agents::agent_settings settings, std::shared_ptr<const agents::secrets> secrets = nullptr) {
    own_host = std::make_unique<agent_host>(agent_host::identity{"svc", "n1/svc", 4, "native", std::move(settings), std::move(secrets)},
                                            backend, time, out);
  }

  const v1::Outcome& last() const { return out.sent.back().items(0); }

  manual_clock time;
  fake_backend backend;
  fake_outbox out;
  std::unique_ptr<agent_host> own_host =
      std::make_unique<agent_host>(agent_host::identity{"svc", "n1/svc", 4, "native", {}, {}}, backend, time, out);
};

}  // namespace fairlead::testing
