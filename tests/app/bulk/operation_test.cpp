#include "app/bulk/operation.hpp"

#include <gtest/gtest.h>

#include "app/bulk/action.hpp"

namespace fairlead::app::bulk {
namespace {

v1::TaskRecord running_operation() {
  v1::TaskRecord out;
  out.set_id("fairlead:operation:0123456789abcdef01234567");
  out.set_workflow(workflow_name);
  out.set_state(v1::TASK_STATE_RUNNING);
  out.mutable_input()->set_json(
      R"({"verb":"settle_completed","step":"ship","output":{"card":"4711"},"reason":"seen","filter":{"parked":true},"rate":40,"by":"ann","as_of_unix_ms":1,"count":100})");
  tally at;
  v1::OperateResult done;
  for (int i = 0; i < 7; ++i) at.add(done);
  auto& progress = *out.add_steps()->mutable_progress();
  progress.mutable_checkpoint()->set_json(at.text());
  progress.set_note(working_note);
  return out;
}

TEST(a_shown_operation, has_what_was_asked_and_how_far_it_has_come) {
  const auto one = view_of(running_operation());
  EXPECT_EQ(one.id, "0123456789abcdef01234567");
  EXPECT_EQ(one.state, "running");
  EXPECT_EQ(one.verb, "settle_completed");
  EXPECT_EQ(one.by, "ann");
  EXPECT_EQ(one.at.done(), 7U);
  EXPECT_EQ(one.left, 93U);
  EXPECT_EQ(one.note, "") << "an operation that is at work waits for nothing";
  EXPECT_EQ(task_of_operation(one.id), one.task);
  EXPECT_EQ(task_of_operation(one.task), one.task);
}

TEST(a_shown_operation, is_the_same_without_its_payloads) {
  auto task = running_operation();
  const auto whole = operation_json(task);
  hide_payloads(task);
  EXPECT_EQ(operation_json(task), whole);
  EXPECT_EQ(task.SerializeAsString().find("4711"), std::string::npos);
}

TEST(a_begun_operation, is_shown_by_its_submission_alone) {
  const auto task = running_operation();
  v1::Submission taken;
  taken.set_id(task.id());
  taken.set_workflow(task.workflow());
  taken.set_input(task.input().json());
  const auto one = view_of(begun_record(taken, 7));
  EXPECT_EQ(one.state, "waiting");
  EXPECT_EQ(one.verb, "settle_completed");
  EXPECT_EQ(one.count, 100U);
  EXPECT_EQ(one.left, 100U);
  EXPECT_EQ(one.created_unix_ms, 7);
}

TEST(a_shown_operation, has_the_state_that_the_answer_to_an_action_says) {
  auto task = running_operation();
  v1::OperateResult done;
  take_state(task, done);
  EXPECT_EQ(view_of(task).state, "running") << "the answer knows no state";
  done.set_state(v1::TASK_STATE_RUNNING);
  done.set_paused(true);
  take_state(task, done);
  EXPECT_EQ(view_of(task).state, "paused");
  EXPECT_EQ(view_of(task).at.done(), 7U);
  done.set_paused(false);
  done.set_parked(true);
  done.set_reason("the agent is away");
  take_state(task, done);
  EXPECT_EQ(view_of(task).reason_of_state, "the agent is away");
}

}  // namespace
}  // namespace fairlead::app::bulk
