// A task's own deadline, beside the timeout of its workflow.

#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core {
namespace {

using namespace testing;

world of_deadline(std::int64_t workflow_timeout_ms, std::int64_t deadline_ms) {
  world w{graph({step("a")}, workflow_timeout_ms)};
  w.deadline_unix_ms = deadline_ms == 0 ? 0 : start_ms + deadline_ms;
  return w;
}

TEST(deadlines, are_kept_in_the_record_with_the_launch) {
  auto w = of_deadline(0, 9'000);
  w.launch.emplace().set_job("nightly");
  w.submit();
  EXPECT_EQ(w.record.deadline_unix_ms(), start_ms + 9'000);
  EXPECT_EQ(w.record.launch().job(), "nightly");
}

TEST(deadlines, are_absent_from_tasks_that_somebody_submits) {
  auto w = of_deadline(0, 0);
  w.submit();
  EXPECT_FALSE(w.record.has_launch());
  EXPECT_EQ(times_out_at(w.record, graph({})), 0);
}

TEST(deadlines, and_timeouts_end_the_task_at_whichever_comes_first) {
  for (const auto& [timeout_ms, deadline_ms, first_ms] :
       {std::tuple{0, 3'000, 3'000}, {3'000, 0, 3'000}, {2'000, 3'000, 2'000}, {3'000, 2'000, 2'000}}) {
    auto w = of_deadline(timeout_ms, deadline_ms);
    w.started();
    EXPECT_EQ(w.record.due_unix_ms(), start_ms + first_ms);
    w.advance_ms(first_ms - 1);
    EXPECT_FALSE(w.apply(task_due{}).parked);
    w.advance_ms(1);
    EXPECT_TRUE(w.apply(task_due{}).parked) << timeout_ms << " " << deadline_ms;
    EXPECT_TRUE(w.record.timed_out());
  }
}

TEST(deadlines, are_named_when_they_and_not_the_timeout_have_passed) {
  auto w = of_deadline(60'000, 3'000);
  w.started();
  w.advance_ms(3'000);
  w.apply(task_due{});
  EXPECT_EQ(w.record.parked_reason(), "the task did not end by its deadline, 2023-11-14T22:13:23.000Z");
}

TEST(deadlines, that_pass_while_the_task_is_pending_need_no_wake_up_and_are_answered_when_its_turn_comes) {
  auto w = of_deadline(0, 3'000);
  w.submit();
  EXPECT_EQ(w.record.due_unix_ms(), 0);
  w.advance_ms(3'000);
  EXPECT_FALSE(w.apply(task_due{}).changed);
  const auto made = w.apply(task_admitted{});
  EXPECT_TRUE(made.performs.empty()) << "nothing may begin after the deadline";
  EXPECT_TRUE(w.record.parked());
}

TEST(deadlines, that_pass_while_the_brake_is_on_wait_for_it_with_a_wake_up) {
  auto definition = graph({with_undo_none(step("a"))});
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  world w{definition};
  w.deadline_unix_ms = start_ms + 3'000;
  w.hold_undo = true;
  w.submit();
  w.advance_ms(3'000);
  const auto made = w.apply(task_admitted{});
  EXPECT_TRUE(made.performs.empty());
  EXPECT_TRUE(w.record.undo_held());
  EXPECT_GT(w.record.due_unix_ms(), w.now_ms);
  w.hold_undo = false;
  w.advance_ms(waiting_recheck_ms);
  EXPECT_TRUE(w.apply(task_due{}).ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDONE);
}

TEST(deadlines, are_not_slept_through_because_a_service_asks_for_a_long_pause) {
  auto w = of_deadline(0, 30'000);
  w.started();
  v1::Fault fault;
  fault.set_kind(v1::FAULT_KIND_TRANSIENT);
  fault.set_code("busy");
  fault.set_message("come back in an hour");
  fault.set_retry_after_ms(3'600'000);
  attempt_ended end;
  end.attempt = 1;
  end.tries = 1;
  end.fault = fault;
  w.apply(end);
  EXPECT_EQ(w.at(0).not_before_unix_ms(), start_ms + 30'000);
}

TEST(deadlines, do_not_count_for_whoever_asks_for_another_attempt) {
  auto w = of_deadline(0, 3'000);
  w.submit();
  w.advance_ms(3'000);
  w.apply(task_admitted{});
  const auto made = w.operate(v1::OPERATOR_VERB_RETRY);
  EXPECT_EQ(made.performs.size(), 1u);
  EXPECT_FALSE(w.record.parked());
  w.advance_ms(1'000);
  EXPECT_TRUE(w.outcome(0, 1).ended);
}

TEST(deadlines, that_the_brake_holds_the_task_for_need_a_retry_and_a_step_that_it_is_held_for_after_that_can_be_settled) {
  auto definition = graph({with_undo_none(step("a")), with_undo_none(step("b", {"a"}))});
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  world w{definition};
  w.deadline_unix_ms = start_ms + 3'000;
  w.hold_undo = true;
  w.started();
  w.advance_ms(3'000);
  w.apply(task_due{});
  ASSERT_TRUE(w.record.undo_held());
  w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
  w.operate(v1::OPERATOR_VERB_SETTLE_COMPLETED, "a", "{}");
  EXPECT_TRUE(w.record.undo_held()) << "the deadline has passed whatever becomes of the step";
  EXPECT_EQ(w.operate(v1::OPERATOR_VERB_RETRY).performs.size(), 1u);
  w.fault(1, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_TRUE(w.record.undo_held());
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_SETTLE_COMPLETED, "b", "{}").ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
}

}  // namespace
}  // namespace fairlead::core
