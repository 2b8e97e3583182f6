#pragma once
// A Scheduler in a world that the test holds in its hands: a clock that stands still, commits that become durable when told, and a record of
// everything that left.

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/workflow/declarative.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "actors/supervisor/supervisor.hpp"
#include "store/keys.hpp"
#include "store/memory/memory_store.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead::testing {

inline constexpr std::int64_t start_ms = 1'700'000'000'000;

class manual_clock final : public clock {
 public:
  moment now() const override { return from_unix_ms(now_ms); }
  moment steady() const override { return from_unix_ms(now_ms - set_by_ms); }
  /// Somebody sets the wall clock.
  void jump(std::int64_t by_ms) {
    now_ms += by_ms;
    set_by_ms += by_ms;
  }
  std::int64_t now_ms = start_ms;
  std::int64_t set_by_ms = 0;  // in all
};

class quiet_observer final : public observer {
 public:
  void on_transition(const transition& what) override {
    transitions.push_back(std::string{what.task_id} + " " + std::string{what.step} + " " + std::string{what.to});
  }
  void on_note(note_level, std::string_view, std::string_view sentence) override { notes.emplace_back(sentence); }
  std::vector<std::string> transitions;
  std::vector<std::string> notes;
};

/// Everything that left the Scheduler, in order of its kind.
class recorder final : public scheduler_outbox, public supervisor_outbox {
 public:
  struct sent_perform {
    std::string instance;
    std::uint64_t epoch;
    v1::Perform what;
  };
  std::vector<sent_perform> performs;
  std::deque<v1::EvaluateRequest> asked;
  std::map<std::uint64_t, std::shared_ptr<const char>> at_worker;  // by ticket: what a worker may still answer
  std::vector<std::pair<std::string, v1::OutcomeAck>> acks;
  std::vector<v1::RecoveryHint> hints;
  std::map<std::uint64_t, v1::SubmitReply> submits;
  std::map<std::uint64_t, v1::DeployReply> deploys;
  std::map<std::uint64_t, v1::WorkflowDeleteReply> workflow_deletions;
  std::map<std::uint64_t, v1::WatchReply> watches;
  std::map<std::uint64_t, v1::OperateReply> operations;
  std::map<std::uint64_t, v1::AlertAckReply> acknowledgements;
  std::map<std::uint64_t, v1::BrakeReleaseReply> releases;
  std::map<std::uint64_t, v1::DoctorReply> doctors;
  std::map<std::uint64_t, v1::AgentOperateReply> agent_operations;
  std::map<std::uint64_t, v1::JobApplyReply> job_applications;
  std::map<std::uint64_t, v1::JobOperateReply> job_operations;
  std::map<std::uint64_t, v1::StatusReply> statuses;
  std::map<std::uint64_t, v1::WorkerSessionReply> sessions;
  std::vector<std::int64_t> cron_woken_ms;
  std::vector<std::pair<std::string, v1::HeartbeatAck>> heartbeats;
  std::vector<std::pair<std::uint64_t, v1::TaskEnd>> notices;
  std::deque<v1::RecoverBatch> recoveries;
  std::vector<stalest_task> stalest_seen;
  std::vector<waiting_tasks> waiting_seen;
  std::size_t effects = 0;  // messages of any kind but questions to the worker

  void perform(const std::string& instance, v1::PerformBatch what) override {
    ++effects;
    for (auto& item : *what.mutable_items()) performs.push_back({instance, what.epoch(), std::move(item)});
  }
  void acknowledge(const std::string& instance, v1::OutcomeAckBatch what) override {
    ++effects;
    for (auto& item : *what.mutable_items()) acks.emplace_back(instance, std::move(item));
  }
  void acknowledge(const std::string& instance, v1::HeartbeatAckBatch what) override {
    ++effects;
    for (auto& item : *what.mutable_items()) heartbeats.emplace_back(instance, std::move(item));
  }
  void hint(v1::RecoveryHintBatch what) override {
    ++effects;
    hints.insert(hints.end(), what.items().begin(), what.items().end());
  }
  std::weak_ptr<const void> evaluate(v1::EvaluateRequest what) override {
    auto& outstanding = at_worker[what.ticket()] = std::make_shared<const char>();
    asked.push_back(std::move(what));
    return outstanding;
  }
  auto& of_kind(const v1::SubmitReply&) { return submits; }
  auto& of_kind(const v1::DeployReply&) { return deploys; }
  auto& of_kind(const v1::WorkflowDeleteReply&) { return workflow_deletions; }
  auto& of_kind(const v1::WatchReply&) { return watches; }
  auto& of_kind(const v1::OperateReply&) { return operations; }
  auto& of_kind(const v1::AlertAckReply&) { return acknowledgements; }
  auto& of_kind(const v1::BrakeReleaseReply&) { return releases; }
  auto& of_kind(const v1::DoctorReply&) { return doctors; }
  auto& of_kind(const v1::AgentOperateReply&) { return agent_operations; }
  auto& of_kind(const v1::JobApplyReply&) { return job_applications; }
  auto& of_kind(const v1::JobOperateReply&) { return job_operations; }
  auto& of_kind(const v1::StatusReply&) { return statuses; }
  auto& of_kind(const v1::WorkerSessionReply&) { return sessions; }
  void reply(std::uint64_t ticket, request_reply what) override {
    ++effects;
    std::visit([&](auto& one) { of_kind(one)[ticket] = std::move(one); }, what);
  }
  void wake_cron(moment due) override { ++effects, cron_woken_ms.push_back(to_unix_ms(due)); }
  void notify(std::uint64_t subscriber, v1::FinishedNotice what) override {
    ++effects;
    for (auto& item : *what.mutable_items()) notices.emplace_back(subscriber, std::move(item));
  }
  void recover(v1::RecoverBatch what) override { recoveries.push_back(std::move(what)); }
  void stalest(stalest_task what) override { stalest_seen.push_back(std::move(what)); }
  void waiting(waiting_tasks what) override { waiting_seen.push_back(std::move(what)); }
};

/// Thrown at the boundary where a test wants the process to die.
struct crashed {};

/// One process: a Scheduler and the queue of batches before its store.
class process final : public commit_port {
 public:
  process(store::memory_store& store, manual_clock& time, recorder& out, observer& log, scheduler_limits limits = {},
          planted_faults faults = {}, const core::workflow_engine* engine = nullptr, const core::zone_source* zones = nullptr,
          bool others_may_lead = false, const std::string& work_key = std::string(32, 'k'))
      : store_(store),
        shell({&time, &store, this, &out, &log, engine != nullptr ? engine : &declarative_, zones, others_may_lead, {}, work_key}, limits,
              faults) {}

  void open() {
    const auto epoch = store_.raise_epoch();
    ASSERT_TRUE(epoch.ok());
    const auto opened = shell.open(*epoch);
    ASSERT_TRUE(opened.ok()) << opened.failure().sentence;
  }

  void commit(store::batch what) override { waiting.push_back(std::move(what)); }
  void confirm(std::uint64_t ticket) override { asked.push_back(ticket); }

  /// Makes the next waiting batch durable and tells the Scheduler.
  bool commit_one() {
    if (waiting.empty()) return false;
    boundary();  // asked for, not written
    const auto sequence = waiting.front().sequence;
    const auto done = store_.commit({waiting.front()});
    EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.failure().sentence);
    waiting.pop_front();
    boundary();  // written, not durable
    store_.sync();
    boundary();  // durable, not told
    shell.on_committed(sequence);
    boundary();  // told
    return true;
  }

  /// Until nothing is left to flush or to commit.
  void settle() {
    for (int i = 0; i < 100'000 && !shell.fatal(); ++i) {
      if (shell.wants_flush())
        shell.flush();
      else if (!commit_one())
        return;
    }
    if (shell.fatal()) return;
    FAIL() << "the Scheduler never comes to rest";
  }

  std::function<void()> boundary = [] {};
  std::deque<store::batch> waiting;
  std::vector<std::uint64_t> asked;  // who leads

 private:
  core::declarative_engine declarative_;
  store::memory_store& store_;

 public:
  scheduler shell;
};

inline v1::StepDefinition step(const std::string& name, const std::vector<std::string>& needs = {}, const std::string& with_json = {}) {
  v1::StepDefinition out;
  out.set_name(name);
  for (const auto& need : needs) out.add_needs(need);
  out.set_agent("svc");
  out.set_call("do");
  out.set_with_json(with_json);
  out.set_timeout_ms(5'000);
  out.set_attempts(4);
  out.mutable_backoff()->set_first_ms(200);
  out.mutable_backoff()->set_factor(2);
  out.mutable_backoff()->set_max_ms(1'000);
  return out;
}

inline v1::WorkflowDefinition workflow_of(const std::vector<v1::StepDefinition>& steps, const std::string& name = "order") {
  v1::WorkflowDefinition out;
  out.set_name(name);
  for (const auto& one : steps) *out.add_steps() = one;
  return out;
}

inline v1::Submission submission(const std::string& id, const std::string& input = R"({"n":1})", const std::string& workflow = "order") {
  v1::Submission out;
  out.set_id(id);
  out.set_workflow(workflow);
  out.set_input(input);
  return out;
}

inline v1::RegisterAgent agent(const std::string& instance, std::uint32_t capacity = 1'000, std::uint64_t incarnation = 1,
                               const std::string& name = "svc") {
  v1::RegisterAgent out;
  out.set_agent(name);
  out.set_instance(instance);
  out.set_incarnation(incarnation);
  out.set_capacity(capacity);
  out.set_kind("native");
  out.add_calls("do");
  return out;
}

inline v1::Outcome success(const v1::Perform& of, const std::string& output = "{}") {
  v1::Outcome out;
  out.set_task_number(of.task_number());
  out.set_step(of.step());
  out.set_direction(of.direction());
  out.set_attempt(of.attempt());
  out.set_output(output);
  out.set_tries(1);
  return out;
}

inline v1::Outcome failure(const v1::Perform& of, v1::FaultKind kind, const std::string& code = "http_503",
                           const std::string& message = "told so") {
  auto out = success(of, "");
  out.mutable_fault()->set_kind(kind);
  out.mutable_fault()->set_code(code);
  out.mutable_fault()->set_message(message);
  return out;
}

inline v1::OutcomeBatch from(const std::string& instance, const std::vector<v1::Outcome>& items, std::uint64_t incarnation = 1) {
  v1::OutcomeBatch out;
  out.set_instance(instance);
  out.set_incarnation(incarnation);
  for (const auto& one : items) *out.add_items() = one;
  return out;
}

/// Store, clock, record and one process with a deployed workflow: what most tests begin with.
class scheduler_fixture : public ::testing::Test {
 protected:
  scheduler_fixture() { restart(); }

  /// A new process on what the store holds.
  void restart(scheduler_limits limits = {}, const core::workflow_engine* engine = nullptr) {
    node.reset();
    node = std::make_unique<process>(store, time, out, log, limits, planted_faults{}, engine, nullptr, false, work_key);
    node->open();
  }

  void sweep() {
    while (node->shell.resume_some()) node->settle();
    node->settle();
  }

  void deploy(const v1::WorkflowDefinition& definition) {
    v1::DeployRequest request;
    *request.mutable_definition() = definition;
    const auto ticket = next_ticket++;
    node->shell.answer(request, ticket);
    node->settle();
    const auto reply = out.deploys.at(ticket);
    ASSERT_EQ(reply.error().code(), v1::ERROR_CODE_OK) << reply.error().sentence();
  }

  /// Hands the submission in without letting it become durable; its ticket.
  std::uint64_t offer(const std::vector<v1::Submission>& items, std::uint64_t subscriber = 0) {
    v1::SubmitRequest request;
    for (const auto& one : items) *request.add_items() = one;
    request.set_notify(subscriber != 0);
    node->shell.answer(std::move(request), next_ticket, subscriber);
    return next_ticket++;
  }

  v1::SubmitResult submit(const v1::Submission& item, std::uint64_t subscriber = 0) {
    const auto ticket = offer({item}, subscriber);
    node->settle();
    const auto& reply = out.submits.at(ticket);
    if (reply.results().empty()) {
      v1::SubmitResult whole;
      *whole.mutable_error() = reply.error();
      return whole;
    }
    return reply.results(0);
  }

  void add_agent(const v1::RegisterAgent& what) {
    auto& newest = incarnations_[what.instance()];
    newest = std::max(newest, what.incarnation());
    node->shell.add_agent(what);
    node->settle();
  }

  /// From the process that bears the instance's name now.
  void answer(const v1::Outcome& what, const std::string& instance = "n1/svc") {
    node->shell.outcomes(from(instance, {what}, std::max<std::uint64_t>(incarnations_[instance], 1)));
    node->settle();
  }

  /// Answers every perform so far and to come with success.
  void finish_everything() {
    for (; answered_ < out.performs.size(); ++answered_) {
      const auto one = out.performs[answered_];
      answer(success(one.what, R"({"v":1})"), one.instance);
    }
  }

  std::optional<v1::TaskRecord> stored(const std::string& id) {
    const auto view = store.read();
    const auto known = store::find_task(*view, id);
    if (!known.ok() || !*known) return std::nullopt;
    auto task = store::load_task(*view, (*known)->number());
    return task.ok() ? *task : std::nullopt;
  }

  v1::StatusReply status() {
    v1::StatusReply reply;
    node->shell.describe(reply);
    return reply;
  }

  store::memory_store store{store::memory_store::durability::when_told};
  manual_clock time;
  recorder out;
  quiet_observer log;
  std::unique_ptr<process> node;
  std::string work_key = std::string(32, 'k');  // that the next process brings
  std::uint64_t next_ticket = 1;
  std::size_t answered_ = 0;
  std::map<std::string, std::uint64_t> incarnations_;  // of instances
};

}  // namespace fairlead::testing
