// A task that was to fail, or to be undone, and goes forward after all.

#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

v1::StepDefinition called_back(v1::StepDefinition of) {
  of.set_callback_ms(60'000);
  return of;
}

v1::StepDefinition child_step(const std::string& name) {
  v1::StepDefinition out;
  out.set_name(name);
  out.set_kind(v1::STEP_KIND_WORKFLOW);
  out.set_workflow("shipment");
  return out;
}

v1::StepDefinition for_each_of(const std::string& name, std::uint32_t at_once, bool collects = false) {
  auto out = undoable(step(name));
  out.mutable_for_each()->set_list_json(R"("${ .input }")");
  out.mutable_for_each()->set_at_once(at_once);
  out.mutable_for_each()->set_collect(collects);
  return out;
}

TEST(task_released, by_a_callback_has_its_step_wait_as_after_any_fault) {
  world w{failing({called_back(in_doubt_fail(step("sign"))), step("b")})};
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
  world w{failing({called_back(in_doubt_fail(step("sign"))), pay})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  ASSERT_TRUE(w.fault(1, 1, v1::FAULT_KIND_IN_DOUBT).parked);
  EXPECT_TRUE(w.callback(0, 0, "{}").performs.empty());
  EXPECT_TRUE(!w.record.failing() && w.record.parked() && w.at(1).given_up());
}

TEST(task_released, by_a_callback_gives_no_attempt_beyond_the_last_to_what_never_happened) {
  auto pay = step("pay");
  pay.set_attempts(1);
  world w{failing({called_back(in_doubt_fail(step("sign"))), pay, step("log")})};
  w.agents.lookups = {"do_pay", "do_log"};
  w.started();
  for (std::uint32_t i = 0; i < 3; ++i) w.fault(i, 1, v1::FAULT_KIND_IN_DOUBT);
  w.outcome_of(1, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_NEVER_HAPPENED);
  EXPECT_TRUE(w.callback(0, 0, "{}").performs.empty()) << "its only attempt was made";
  EXPECT_TRUE(w.at(1).given_up());
  EXPECT_TRUE(w.record.failing()) << "now because of pay";
}

TEST(task_released, by_a_retry_of_the_very_step_that_is_to_stay_in_doubt_performs_it) {
  world w{failing({in_doubt_fail(step("a")), step("b")})};
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
  world w{failing({ship, step("b")})};
  w.started();
  w.apply(w.of_child(0, v1::TASK_STATE_UNDONE));
  ASSERT_TRUE(w.record.failing());
  EXPECT_EQ(w.operate(v1::OPERATOR_VERB_RETRY, "ship").children.size(), 1u);
  EXPECT_FALSE(w.record.failing());
}

TEST(task_released, waits_for_the_callback_of_what_was_accepted_meanwhile) {
  world w{failing({called_back(step("sign")), step("b")})};
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

TEST(task_released, by_a_callback_gives_the_undo_of_a_dropped_step_no_attempt_beyond_the_last) {
  auto d = step("d", {"a", "b"});
  d.set_join(1);
  world w{failing({undoable(step("a")), undoable(step("b")), d, called_back(in_doubt_fail(step("sign")))})};
  w.started();
  w.outcome(0, 1);
  w.outcome(1, 1);
  ASSERT_EQ(w.at(1).state(), v1::STEP_STATE_UNDOING);
  w.fault_of(1, v1::DIRECTION_UNDO, v1::FAULT_KIND_TRANSIENT);
  w.now_ms = w.at(1).not_before_unix_ms();
  ASSERT_EQ(w.recover(1).performs.size(), 1u);
  w.fault(3, 1, v1::FAULT_KIND_IN_DOUBT);
  ASSERT_TRUE(w.record.failing());
  w.fault_of(1, v1::DIRECTION_UNDO, v1::FAULT_KIND_TRANSIENT);
  EXPECT_TRUE(w.callback(3, 0, "{}").performs.empty()) << "both attempts were made";
  EXPECT_FALSE(w.record.failing());
  EXPECT_TRUE(w.at(1).given_up());
  EXPECT_TRUE(w.record.parked());
}

TEST(task_released, by_a_callback_leaves_the_next_round_its_moment) {
  auto poll = step("poll");
  poll.mutable_repeat()->set_until_json(R"("${ .steps.poll.done }")");
  poll.mutable_repeat()->set_every_ms(600'000);
  poll.mutable_repeat()->set_most(9);
  world w{failing({poll, called_back(in_doubt_fail(step("sign"))), step("b")})};
  w.started();
  w.outcome(0, 1, R"({"done":false})");
  const auto next_ms = w.now_ms + 600'000;
  ASSERT_EQ(w.at(0).not_before_unix_ms(), next_ms);
  w.fault(1, 1, v1::FAULT_KIND_IN_DOUBT);
  ASSERT_TRUE(w.record.failing());
  w.advance_ms(1'000);
  EXPECT_TRUE(w.callback(1, 0, "{}").performs.empty());
  EXPECT_FALSE(w.record.failing());
  EXPECT_EQ(w.at(0).not_before_unix_ms(), next_ms);
}

TEST(task_released, after_the_clock_was_set_back_waits_no_longer_than_from_now) {
  v1::StepDefinition pause;
  pause.set_name("pause");
  pause.set_kind(v1::STEP_KIND_WAIT);
  pause.set_with_json(R"("10m")");
  pause.mutable_undo()->set_none(true);
  world w{failing({pause, step("check"), step("hold")})};
  w.started();
  w.fault(1, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_TRUE(w.record.failing());
  w.now_ms -= 24 * 3'600'000;
  w.apply(clock_set_back{});
  w.operate(v1::OPERATOR_VERB_RETRY, "check");
  ASSERT_FALSE(w.record.failing());
  EXPECT_EQ(w.at(0).not_before_unix_ms(), w.now_ms + 600'000);
}

TEST(task_released, goes_on_with_a_list_whose_failures_are_collected) {
  world w{failing({step("a"), step("b"), for_each_of("ship", 1, true)})};
  w.started("[1,2]");
  w.apply(w.of_child(2, v1::TASK_STATE_FAILED, "t1/ship~1.1"));
  w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_TRUE(w.record.failing());
  w.apply(w.of_child(2, v1::TASK_STATE_COMPLETED, "t1/ship~1.2"));
  ASSERT_EQ(w.at(2).state(), v1::STEP_STATE_FAILED);
  const auto made = w.operate(v1::OPERATOR_VERB_RETRY, "a");
  EXPECT_FALSE(w.record.failing());
  EXPECT_EQ(made.performs.size(), 1u);
  EXPECT_FALSE(w.at(2).given_up());
  EXPECT_EQ(w.at(2).state(), v1::STEP_STATE_RUNNING);
  EXPECT_EQ(item_state_of(w.at(2).items(), 0), item_state::failed) << "it was carried out";
  EXPECT_TRUE(std::none_of(made.children.begin(), made.children.end(), [](const auto& one) { return one.begins; }));
}

TEST(task_released, as_a_whole_begins_the_rounds_that_it_grants_at_once) {
  auto poll = step("poll");
  poll.mutable_repeat()->set_until_json(R"("${ .steps.poll.done }")");
  poll.mutable_repeat()->set_every_ms(600'000);
  poll.mutable_repeat()->set_most(1);
  world w{failing({poll, step("b")})};
  w.started();
  w.outcome(0, 1, R"({"done":false})");
  ASSERT_TRUE(w.record.failing());
  EXPECT_EQ(w.operate(v1::OPERATOR_VERB_RETRY).performs.size(), 1u);
}

TEST(task_released, by_a_callback_keeps_the_attempt_of_an_undo_that_an_operator_has_granted) {
  auto d = step("d", {"a", "b"});
  d.set_join(1);
  world w{failing({undoable(step("a")), undoable(step("b")), d, called_back(in_doubt_fail(step("sign")))})};
  w.started();
  w.outcome(0, 1);
  w.outcome(1, 1);
  ASSERT_EQ(w.at(1).state(), v1::STEP_STATE_UNDOING);
  w.fault_of(1, v1::DIRECTION_UNDO, v1::FAULT_KIND_PERMANENT);
  ASSERT_TRUE(w.at(1).given_up());
  for (auto& [name, one] : w.agents.instances) one.capacity = 1;
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_RETRY, "b").performs.empty()) << "sign is out";
  ASSERT_FALSE(w.at(1).given_up());
  w.fault(3, 1, v1::FAULT_KIND_IN_DOUBT);
  ASSERT_TRUE(w.record.failing());
  w.callback(3, 0, "{}");
  ASSERT_FALSE(w.record.failing());
  EXPECT_FALSE(w.at(1).given_up()) << "another attempt was granted";
}

TEST(task_released, by_a_cancel_waits_on_for_a_parked_child_that_is_being_undone) {
  auto first = with_undo_none(step("first", {"slow", "fast"}));
  first.set_join(1);
  world w{graph({child_step("slow"), with_undo_none(step("fast")), first})};
  w.started();
  w.outcome(1, 1);
  ASSERT_TRUE(w.at(0).dropped());
  w.apply(w.of_child(0, v1::TASK_STATE_COMPLETED));
  auto stuck = w.of_child(0, v1::TASK_STATE_UNDOING);
  stuck.parked = true;
  ASSERT_TRUE(w.apply(stuck).parked);
  ASSERT_FALSE(w.operate(v1::OPERATOR_VERB_CANCEL).refused);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDOING);
  EXPECT_TRUE(w.record.parked_for_child());
  w.apply(w.of_child(0, v1::TASK_STATE_UNDONE));
  EXPECT_FALSE(w.record.parked());
}

TEST(task_released, by_a_cancel_is_not_parked_for_a_child_that_was_asked_to_give_way) {
  world w{graph({child_step("a"), child_step("b")})};
  w.started();
  for (std::uint32_t i = 0; i < 2; ++i) {
    auto parked = w.of_child(i, v1::TASK_STATE_RUNNING);
    parked.parked = true;
    w.apply(parked);
  }
  ASSERT_TRUE(w.record.parked_for_child());
  w.operate(v1::OPERATOR_VERB_CANCEL);
  EXPECT_FALSE(w.apply(w.of_child(0, v1::TASK_STATE_UNDOING)).parked);
  EXPECT_FALSE(w.apply(w.of_child(1, v1::TASK_STATE_UNDOING)).parked);
}

TEST(task_released, not_by_a_second_cancel_of_its_parent_whose_reason_is_kept) {
  auto pay = step("pay");
  pay.set_pivot(true);
  world w{graph({pay})};
  w.started();
  operated e;
  e.by_parent = true;
  e.action.set_verb(v1::OPERATOR_VERB_CANCEL);
  e.action.set_who("task t0");
  EXPECT_TRUE(w.apply(e).changed);
  e.action.set_reason("cancelled by ann");
  EXPECT_TRUE(w.apply(e).changed);
  EXPECT_EQ(w.record.undo_reason(), "cancelled by task t0: cancelled by ann");
  EXPECT_FALSE(w.apply(e).changed);
}

TEST(task_items, one_that_has_failed_ends_its_list_also_when_it_was_undone_alone_since) {
  world w{graph({for_each_of("ship", 2)})};
  w.started(R"(["a","b","c"])");
  auto failed = w.of_child(0, v1::TASK_STATE_FAILED, "t1/ship~1.1");
  failed.stands = true;
  w.apply(failed);
  EXPECT_TRUE(w.apply(w.of_child(0, v1::TASK_STATE_UNDONE, "t1/ship~1.1")).children.empty()) << "no other item begins";
  EXPECT_TRUE(w.apply(w.of_child(0, v1::TASK_STATE_COMPLETED, "t1/ship~1.2")).parked);
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_FAILED);
  EXPECT_EQ(w.at(0).fault().code(), "item_failed");
}

TEST(task_items, one_whose_undo_has_failed_is_named) {
  auto definition = graph({for_each_of("ship", 2)});
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  world w{definition};
  w.started(R"(["a","b"])");
  w.apply(w.of_child(0, v1::TASK_STATE_FAILED, "t1/ship~1.1"));
  w.apply(w.of_child(0, v1::TASK_STATE_COMPLETED, "t1/ship~1.2"));
  auto ended = w.of_child(0, v1::TASK_STATE_FAILED, "t1/ship~1.2");
  ended.stands = true;
  ASSERT_TRUE(w.apply(ended).parked);
  EXPECT_NE(w.record.parked_reason().find("t1/ship~1.2"), std::string::npos) << w.record.parked_reason();
}

}  // namespace
}  // namespace fairlead::core::testing
