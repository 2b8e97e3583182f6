#pragma once
// A worker's session with the production host around it: a clock that stands still, and a record of everything that left.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/agent_host/host.hpp"
#include "actors/agents/attempt_results.hpp"
#include "actors/agents/worker/session.hpp"
#include "messages/tickets.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {

class worker_test : public ::testing::Test, public agent_outbox {
 protected:
  using session = agents::worker_session;
  template <class T>
  using answered = std::shared_ptr<std::optional<result<T>>>;

  worker_test() { begin(); }

  /// Another session, as at another node after a move.
  void begin(bool moved = false, std::vector<std::string> have = {}) {
    own_host.reset();
    worker = std::make_unique<session>(session::definition{{"send", "look"}, {"send"}, {}, 4, moved, std::move(have)}, time);
    own_host = std::make_unique<agent_host>(agent_host::identity{"mailer", "mail-1", 7, {"worker", {}, nullptr}}, *worker, time, *this);
  }

  static std::string ticket(std::uint64_t task, v1::Direction direction = v1::DIRECTION_PERFORM) {
    return make_ticket("the shard's key", {0, task, 0, direction, 1}, "mail-1", 7);
  }

  v1::Perform attempt(std::uint64_t task, std::int64_t lease_ms = 60'000, v1::Direction direction = v1::DIRECTION_PERFORM) const {
    v1::Perform out;
    out.set_task_number(task);
    out.set_attempt(1);
    out.set_direction(direction);
    out.set_call("send");
    out.set_ticket(ticket(task, direction));
    out.set_complete_by_unix_ms(time.now_ms + lease_ms);
    return out;
  }

  void hand_over(const std::vector<v1::Perform>& items) {
    v1::PerformBatch batch;
    batch.set_epoch(1);
    for (const auto& one : items) *batch.add_items() = one;
    own_host->perform(std::move(batch));
    settle();
  }

  void welcome(std::uint32_t held = 0) {
    v1::AgentWelcome what;
    what.set_epoch(1);
    what.set_held(held);
    own_host->welcomed(what);
    settle();
  }

  /// What the actor does after each message.
  void settle() {
    worker->caught_up();
    for (auto& [key, what] : std::exchange(ended, {})) own_host->finished(key, std::move(what));
    for (const auto& key : std::exchange(told, {})) own_host->progressed(key);
    own_host->flush();
    worker->caught_up();
  }

  void pass(std::int64_t ms) {
    time.now_ms += ms;
    own_host->expire();
    settle();
  }

  answered<session::take_answer> take(std::uint64_t after, std::uint32_t most = 4, std::int64_t wait_ms = 30'000) {
    auto out = std::make_shared<std::optional<result<session::take_answer>>>();
    latest_take =
        worker->take({most, duration{wait_ms}, after, time.steady()}, [out](result<session::take_answer> said) { *out = std::move(said); });
    settle();
    return out;
  }

  answered<std::vector<session::report_answer>> report(std::vector<session::report> items) {
    auto out = std::make_shared<std::optional<result<std::vector<session::report_answer>>>>();
    worker->outcomes(std::move(items), [out](auto said) { *out = std::move(said); });
    settle();
    return out;
  }

  answered<std::vector<session::beat_answer>> beat(std::vector<session::beat> items) {
    auto out = std::make_shared<std::optional<result<std::vector<session::beat_answer>>>>();
    worker->heartbeats(std::move(items), time.steady(), [out](auto said) { *out = std::move(said); });
    settle();
    return out;
  }

  /// The shard has recorded, or refused, the outcome of a task.
  void record(std::uint64_t task, bool accepted = true, v1::Direction direction = v1::DIRECTION_PERFORM) {
    v1::OutcomeAckBatch batch;
    auto* const ack = batch.add_items();
    ack->set_task_number(task);
    ack->set_attempt(1);
    ack->set_direction(direction);
    ack->set_accepted(accepted);
    own_host->acknowledged(batch);
    settle();
  }

  void renew(std::uint64_t task, std::uint64_t sequence, bool held = true) {
    v1::HeartbeatAckBatch batch;
    auto* const ack = batch.add_items();
    ack->set_task_number(task);
    ack->set_attempt(1);
    ack->set_sequence(sequence);
    ack->set_held(held);
    own_host->acknowledged(batch);
    settle();
  }

  static std::vector<std::uint64_t> tasks(const answered<session::take_answer>& of) {
    std::vector<std::uint64_t> out;
    if (*of && (**of).ok())
      for (const auto& one : (**of)->attempts) out.push_back(one.what.task_number());
    return out;
  }
  static session::report_result how(const answered<std::vector<session::report_answer>>& of, std::size_t i = 0) {
    return (**of)->at(i).result;
  }
  static const std::string& why(const answered<std::vector<session::report_answer>>& of, std::size_t i = 0) { return (**of)->at(i).why; }
  const v1::Outcome& last() const { return sent.back(); }

  manual_clock time;
  std::unique_ptr<session> worker;
  std::unique_ptr<agent_host> own_host;
  std::uint64_t latest_take = 0;
  std::vector<v1::Outcome> sent;
  std::vector<v1::Heartbeat> beats;

 private:
  void outcomes(v1::OutcomeBatch what) override {
    for (auto& one : *what.mutable_items()) sent.push_back(std::move(one));
  }
  void heartbeats(v1::HeartbeatBatch what) override {
    for (auto& one : *what.mutable_items()) beats.push_back(std::move(one));
  }
  void refused(v1::OutcomeBatch) override {}
  void finish_later(agents::attempt_key key, agents::attempt_result what) override { ended.emplace_back(key, std::move(what)); }
  void progress_later(agents::attempt_key key) override { told.push_back(key); }

  std::vector<std::pair<agents::attempt_key, agents::attempt_result>> ended;
  std::vector<agents::attempt_key> told;
};

}  // namespace fairlead::testing
