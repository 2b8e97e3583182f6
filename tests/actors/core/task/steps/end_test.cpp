// The end of a task: its last steps, and its output.

#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

TEST(task_end, of_a_task_that_fails_has_no_output_though_an_operator_had_given_one) {
  for (const auto terminated : {true, false}) {
    SCOPED_TRACE(terminated);
    auto a = with_undo_none(step("a"));
    a.set_on_failure(v1::ON_FAILURE_CONTINUE);
    auto definition = graph({a, with_undo_none(step("b"))});
    definition.set_ends_failed(!terminated);
    definition.set_output_json(R"("${ .steps.b }")");
    world w{definition};
    w.started();
    w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
    w.operate(v1::OPERATOR_VERB_PAUSE);
    w.outcome(1, 1);
    ASSERT_FALSE(w.operate(v1::OPERATOR_VERB_SETTLE_COMPLETED, {}, "7").refused);
    EXPECT_TRUE(w.operate(terminated ? v1::OPERATOR_VERB_TERMINATE : v1::OPERATOR_VERB_RESUME).ended);
    EXPECT_EQ(w.record.state(), v1::TASK_STATE_FAILED);
    EXPECT_FALSE(w.record.has_output());
  }
}

TEST(task_end, gives_the_service_of_a_last_step_the_pause_that_it_asks_for_whatever_the_timeout) {
  auto definition = graph({step("a"), at_end(step("unlock"), v1::FINALLY_ALWAYS)}, 10'000);
  definition.set_on_failure(v1::ON_FAILURE_FAIL);
  world w{definition};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_TRUE(w.record.failing());
  w.fault(1, 1, v1::FAULT_KIND_TRANSIENT, "http_429", 60'000);
  EXPECT_GE(w.at(1).not_before_unix_ms(), w.now_ms + 60'000);
}

TEST(task_end, has_begun_with_a_last_step_whose_second_round_was_given_back) {
  auto poll = at_end(step("poll"), v1::FINALLY_ALWAYS);
  poll.set_when_json("\"${ .task.end == \\\"completed\\\" }\"");
  poll.mutable_repeat()->set_until_json(R"("${ .steps.poll.done }")");
  poll.mutable_repeat()->set_most(9);
  world w{graph({undoable(step("a")), poll})};
  w.started();
  w.outcome(0, 1);
  w.apply(expressions_evaluated{1, {"true"}, std::nullopt, v1::EXPRESSION_PART_WHEN});
  w.outcome(1, 1, R"({"done":false})");
  ASSERT_EQ(w.at(1).attempt(), 2u);
  w.agents.instances.at("n1/svc").capacity = 0;
  w.apply(attempt_refused{1, v1::DIRECTION_PERFORM, 2, true});
  EXPECT_NE(w.at(1).started_at_unix_ms(), 0);
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_CANCEL).evaluations.empty()) << "`when` was answered before the first round";
}

TEST(task_end, what_a_step_has_not_given_is_null_for_a_step_of_the_end_also_where_jq_reads_it) {
  world w{failing(
      {step("a"), at_end(step("b", {}, R"({"n":"${ (.steps.a.n? // 0) + 1 }","as":"${ .status.a + .steps.a.n }"})"), v1::FINALLY_ALWAYS)})};
  w.started();
  const auto made = w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_EQ(made.evaluations.size(), 1U);
  EXPECT_EQ(made.evaluations[0].document(), R"({"status":{"a":"failed"},"steps":{"a":null}})");
}

TEST(task_end, what_the_last_round_of_a_failed_step_gave_is_null_for_a_step_of_the_end) {
  auto poll = with_undo_none(step("poll"));
  poll.mutable_repeat()->set_until_json(R"("${ .steps.poll.done }")");
  poll.mutable_repeat()->set_most(1);
  world w{failing({poll, at_end(step("b", {}, R"({"v":"${ .steps.poll.v? }"})"), v1::FINALLY_ALWAYS)})};
  w.started();
  const auto made = w.outcome(0, 1, R"({"done":false,"v":7})");
  ASSERT_EQ(w.at(0).state(), v1::STEP_STATE_FAILED);
  ASSERT_EQ(made.performs.size(), 1U);
  EXPECT_EQ(made.performs[0].message.input(), R"({"v":null})");
}

}  // namespace
}  // namespace fairlead::core::testing
