// A task that was to fail, or to be undone, and goes forward after all.

#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

v1::WorkflowDefinition that_fails(std::vector<v1::StepDefinition> steps) {
  auto out = graph(std::move(steps));
  out.set_on_failure(v1::ON_FAILURE_FAIL);
  return out;
}

v1::StepDefinition stays_in_doubt(v1::StepDefinition of) {
  of.set_in_doubt(v1::IN_DOUBT_FAIL);
  return of;
}

v1::StepDefinition called_back(v1::StepDefinition of) {
  of.set_callback_ms(60'000);
  return of;
}

TEST(task_released, by_a_callback_has_its_step_wait_as_after_any_fault) {
  world w{that_fails({called_back(stays_in_doubt(step("sign"))), step("b")})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  ASSERT_TRUE(w.record.failing());
  v1::Fault lost;
  lost.set_kind(v1::FAULT_KIND_TRANSIENT);
  EXPECT_TRUE(w.callback(0, 0, std::nullopt, lost).performs.empty());
  EXPECT_FALSE(w.record.failing());
  ASSERT_GE(w.at(0).not_before_unix_ms(), w.now_ms + 100);
  w.now_ms = w.at(0).not_before_unix_ms();
  EXPECT_EQ(w.recover(0).performs.size(), 1u);
}

TEST(task_released, by_a_callback_repeats_nothing_that_is_to_stay_in_doubt) {
  auto pay = step("pay");
  pay.set_in_doubt(v1::IN_DOUBT_PARK);
  world w{that_fails({called_back(stays_in_doubt(step("sign"))), pay})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  ASSERT_TRUE(w.fault(1, 1, v1::FAULT_KIND_IN_DOUBT).parked);
  EXPECT_TRUE(w.callback(0, 0, "{}").performs.empty());
  EXPECT_TRUE(!w.record.failing() && w.record.parked() && w.at(1).given_up());
}

TEST(task_released, by_a_callback_gives_no_attempt_beyond_the_last_to_what_never_happened) {
  auto pay = step("pay");
  pay.set_attempts(1);
  world w{that_fails({called_back(stays_in_doubt(step("sign"))), pay, step("log")})};
  w.agents.lookups = {"do_pay", "do_log"};
  w.started();
  for (std::uint32_t i = 0; i < 3; ++i) w.fault(i, 1, v1::FAULT_KIND_IN_DOUBT);
  w.outcome_of(1, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_NEVER_HAPPENED);
  EXPECT_TRUE(w.callback(0, 0, "{}").performs.empty()) << "its only attempt was made";
  EXPECT_TRUE(w.at(1).given_up());
  EXPECT_TRUE(w.record.failing()) << "now because of pay";
}

TEST(task_released, by_a_retry_of_the_very_step_that_is_to_stay_in_doubt_performs_it) {
  world w{that_fails({stays_in_doubt(step("a")), step("b")})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  ASSERT_TRUE(w.record.failing());
  const auto made = w.operate(v1::OPERATOR_VERB_RETRY, "a");
  EXPECT_FALSE(w.record.failing());
  ASSERT_EQ(made.performs.size(), 1u);
  EXPECT_EQ(made.performs[0].message.idempotency_key(), "t1/a/perform/0");
}

TEST(task_released, by_a_retry_of_a_sub_workflow_begins_another_child) {
  v1::StepDefinition ship;
  ship.set_name("ship");
  ship.set_kind(v1::STEP_KIND_WORKFLOW);
  ship.set_workflow("shipping");
  world w{that_fails({ship, step("b")})};
  w.started();
  w.apply(w.of_child(0, v1::TASK_STATE_UNDONE));
  ASSERT_TRUE(w.record.failing());
  EXPECT_EQ(w.operate(v1::OPERATOR_VERB_RETRY, "ship").children.size(), 1u);
  EXPECT_FALSE(w.record.failing());
}

TEST(task_released, waits_for_the_callback_of_what_was_accepted_meanwhile) {
  world w{that_fails({called_back(step("sign")), step("b")})};
  w.started();
  w.fault(1, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_TRUE(w.record.failing());
  const auto until_ms = w.now_ms + 60'000;
  ASSERT_TRUE(w.outcome(0, 1, "null").parked);
  const auto made = w.operate(v1::OPERATOR_VERB_RETRY, "b");
  ASSERT_EQ(made.performs.size(), 1u) << "b alone";
  EXPECT_EQ(made.performs[0].message.step(), 1u);
  EXPECT_TRUE(w.at(0).awaits_callback());
  EXPECT_EQ(w.at(0).not_before_unix_ms(), until_ms);
}

}  // namespace
}  // namespace fairlead::core::testing
