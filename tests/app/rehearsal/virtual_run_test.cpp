// The driver by itself: time, leases, heartbeats, callbacks.

#include "app/rehearsal/virtual_run.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "app/files/workflow_file.hpp"

namespace fairlead::app {
namespace {

/// Answers in the order of the hand-overs.
class agents_in_order final : public rehearsed_agents {
 public:
  std::deque<rehearsed_answer> answers;
  bool lookups = false;

  result<rehearsed_answer> answer(const rehearsed_attempt&) override {
    if (answers.empty()) return error{v1::ERROR_CODE_NOT_FOUND, "no answer is left", ""};
    auto out = answers.front();
    answers.pop_front();
    return out;
  }
  bool looks_up(std::string_view, std::string_view) const override { return lookups; }
};

rehearsed_answer after(std::int64_t ms, std::string output = "1") {
  rehearsed_answer out;
  out.after_ms = ms;
  out.output = std::move(output);
  return out;
}

rehearsed_answer faulty(v1::FaultKind kind, const std::string& code) {
  rehearsed_answer out;
  out.fault.emplace().set_kind(kind);
  out.fault->set_code(code);
  return out;
}

std::shared_ptr<const core::workflow> workflow_of(const std::string& step, const std::string& head = {}) {
  const auto file = parse_workflow("w.yaml", "workflow: w\n" + head + "steps:\n  a: { agent: x, call: do, " + step + " }\n", nullptr);
  for (const auto& one : file.problems) ADD_FAILURE() << to_text(one);
  return core::workflow::compile(file.definition, "hash").value();
}

v1::EvaluateReply no_worker(const v1::EvaluateRequest&) {
  ADD_FAILURE() << "nothing here needs the worker";
  return {};
}

struct virtual_runs : ::testing::Test {
  virtual_run& started(const std::string& step, const std::string& head = {}, run_settings settings = {}) {
    settings.start_unix_ms = 1'800'000'000'000;
    run.emplace(workflow_of(step, head), agents, no_worker, settings);
    for (auto& [at_ms, action] : actions) run->plan(at_ms, action);
    EXPECT_TRUE(run->submit({}).ok());
    return *run;
  }
  std::string story() const {
    std::string out;
    for (const auto& one : run->story()) {
      if (one.event && one.event->step() == 0) continue;
      out += std::to_string(one.at_ms) + " " + (one.event ? v1::EventKind_Name(one.event->kind()).substr(11) : one.words) + "\n";
    }
    return out;
  }
  agents_in_order agents;
  std::vector<std::pair<std::int64_t, v1::OperatorAction>> actions;
  std::optional<virtual_run> run;
};

TEST_F(virtual_runs, an_answer_beyond_the_lease_comes_too_late) {
  agents.answers = {after(60'000), after(1'000)};
  EXPECT_TRUE(started("timeout: 30s, attempts: 2, backoff: { first: 1s, factor: 1 }").run().ok());
  EXPECT_STREQ(run->state_word(), "completed");
  EXPECT_EQ(run->attempts().size(), 2u);
  EXPECT_GT(run->took_ms(), 30'000);
  EXPECT_LT(run->took_ms(), 33'000);
  // Where the second attempt is in progress when the first is answered, its answer counts and the first one's does not.
  agents.answers = {after(31'500), after(20'000, "2")};
  EXPECT_TRUE(started("timeout: 30s, attempts: 2, backoff: { first: 1s, factor: 1 }").run().ok());
  EXPECT_NE(story().find("31500 the answer of step a, perform attempt 1, comes too late and does not count\n"), std::string::npos)
      << story();
  EXPECT_EQ(run->text_of(run->record().steps(0).output()), "2");
}

TEST_F(virtual_runs, heartbeats_keep_the_lease_of_an_agent_that_works) {
  agents.answers = {after(50'000)};
  EXPECT_TRUE(started("timeout: 1m, heartbeat: 5s, attempts: 1").run().ok());
  EXPECT_STREQ(run->state_word(), "completed");
  EXPECT_EQ(run->took_ms(), 50'000);
  rehearsed_answer silent;
  silent.never = true;
  agents.answers = {silent, after(0)};
  EXPECT_TRUE(started("timeout: 1m, heartbeat: 5s, attempts: 2, backoff: { first: 1s, factor: 1 }").run().ok());
  EXPECT_NE(story().find("5000 STEP_EXPIRED\n"), std::string::npos) << story();
}

TEST_F(virtual_runs, a_callback_brings_the_output) {
  auto accepted = after(1'000);
  accepted.callback.emplace();
  accepted.callback->after_ms = 3'600'000;
  accepted.callback->output = "7";
  agents.answers = {accepted};
  EXPECT_TRUE(started("callback: { timeout: 1d }").run().ok());
  EXPECT_EQ(run->took_ms(), 3'601'000);
  EXPECT_EQ(run->text_of(run->record().steps(0).output()), "7");
}

TEST_F(virtual_runs, doubt_is_looked_up_where_that_is_possible) {
  agents.lookups = true;
  auto verdict = after(0, "5");
  verdict.verdict = v1::LOOKUP_VERDICT_DONE;
  agents.answers = {faulty(v1::FAULT_KIND_IN_DOUBT, "lost"), verdict};
  EXPECT_TRUE(started("attempts: 1").run().ok());
  EXPECT_STREQ(run->state_word(), "completed");
  EXPECT_EQ(run->attempts().back().direction, v1::DIRECTION_LOOKUP);
  EXPECT_EQ(run->text_of(run->record().steps(0).output()), "5");
}

TEST_F(virtual_runs, actions_come_at_their_time_and_also_after_the_end) {
  agents.answers = {after(1'000), after(0)};
  v1::OperatorAction undo;
  undo.set_verb(v1::OPERATOR_VERB_UNDO);
  actions = {{5'000, undo}, {9'000, undo}};
  EXPECT_TRUE(started("undo: { call: take_back }", "on_failure: undo\n").run().ok());
  EXPECT_STREQ(run->state_word(), "undone");
  EXPECT_EQ(run->took_ms(), 5'000);
  EXPECT_FALSE(run->actions()[0].refused);
  ASSERT_TRUE(run->actions()[1].refused);
  EXPECT_NE(run->actions()[1].refused->sentence.find("undone already"), std::string::npos);
}

TEST_F(virtual_runs, payloads_of_any_size_are_kept) {
  agents.answers = {after(0, "\"" + std::string(100'000, 'x') + "\"")};
  EXPECT_TRUE(started("attempts: 1").run().ok());
  EXPECT_EQ(run->text_of(run->record().steps(0).output()).size(), 100'002u);
}

TEST_F(virtual_runs, a_missing_answer_breaks_it_off) {
  const auto ended = started("attempts: 1").run();
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.failure().sentence, "no answer is left");
}

TEST_F(virtual_runs, a_task_that_goes_on_for_ever_is_given_up) {
  for (int i = 0; i < 1'000; ++i) agents.answers.push_back(faulty(v1::FAULT_KIND_TRANSIENT, "busy"));
  run_settings few;
  few.most_decisions = 50;
  const auto ended = started("attempts: 1000", {}, few).run();
  ASSERT_FALSE(ended.ok());
  EXPECT_NE(ended.failure().sentence.find("has not ended after 50 decisions"), std::string::npos) << ended.failure().sentence;
  run_settings stop;
  stop.stop_at_ms = 60'000;
  EXPECT_TRUE(started("attempts: 1000", {}, stop).run().ok());
  EXPECT_STREQ(run->state_word(), "running");
}

TEST_F(virtual_runs, an_input_that_does_not_fit_is_refused) {
  run.emplace(workflow_of("attempts: 1", "input: { type: object, required: [n] }\n"), agents, no_worker, run_settings{});
  rehearsed_task task;
  task.input = "{}";
  const auto submitted = run->submit(task);
  ASSERT_FALSE(submitted.ok());
  EXPECT_EQ(submitted.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace fairlead::app
