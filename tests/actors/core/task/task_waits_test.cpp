// What the steps of a live task wait for, by its row.

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "actors/core/task/waits.hpp"
#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

constexpr auto computed = R"({"n":"${ .input.n + 1 }"})";

/// `0 perform input, 1 undo instance`; empty: nothing inside the process.
std::string waits(const world& w) {
  const declarative_engine engine;
  std::string out;
  for (const auto& one : waits_of(w.record, w.definition(), engine, w.agents)) {
    const auto* direction = one.direction == v1::DIRECTION_UNDO ? "undo" : one.direction == v1::DIRECTION_LOOKUP ? "look up" : "perform";
    if (!out.empty()) out += ", ";
    out += std::to_string(one.step) + " " + direction + ": " + awaited_words(one.what);
  }
  return out;
}

TEST(task_waits, nothing_waits_in_a_task_whose_steps_are_out_done_or_have_a_moment) {
  world w{graph({step("a"), step("b", {"a"}, computed)})};
  w.submit();
  EXPECT_EQ(waits(w), "") << "pending";
  w.apply(task_admitted{});
  EXPECT_EQ(waits(w), "");
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  EXPECT_EQ(waits(w), "");
}

TEST(task_waits, a_ready_step_waits_for_its_input_or_for_an_instance) {
  world w{graph({step("a"), step("b", {}, computed), step("c", {"a"})})};
  w.agents.instances.clear();
  w.submit();
  w.apply(task_admitted{});
  EXPECT_EQ(waits(w), "0 perform: an instance of its agent, 1 perform: its input");
  w.apply(expressions_evaluated{1, {"2"}, std::nullopt});
  EXPECT_EQ(waits(w), "0 perform: an instance of its agent, 1 perform: an instance of its agent") << "an input is asked for once";
  w.operate(v1::OPERATOR_VERB_PAUSE);
  EXPECT_EQ(waits(w), "") << "a task that is held waits for a person";
}

TEST(task_waits, a_ready_step_waits_for_its_when_before_its_input) {
  auto one = step("a", {}, computed);
  one.set_when_json(R"("${ .input.n > 1 }")");
  world w{graph({one})};
  w.submit();
  w.apply(task_admitted{});
  EXPECT_EQ(waits(w), "0 perform: its `when`");
  w.apply(expressions_evaluated{0, {"true"}, std::nullopt, v1::EXPRESSION_PART_WHEN});
  EXPECT_EQ(waits(w), "0 perform: its input");
}

TEST(task_waits, a_ready_step_with_a_list_waits_for_that_and_then_for_the_input_of_an_item) {
  auto one = step("a", {}, R"({"n":"${ .index + 1 }"})");
  one.mutable_for_each()->set_list_json(R"("${ [.input.n + 1] }")");
  one.mutable_for_each()->set_at_once(1);
  world w{graph({one})};
  w.submit();
  w.apply(task_admitted{});
  EXPECT_EQ(waits(w), "0 perform: its list");
  w.apply(expressions_evaluated{0, {"[7]"}, std::nullopt, v1::EXPRESSION_PART_LIST});
  EXPECT_EQ(waits(w), "0 perform: its input");
}

TEST(task_waits, a_step_that_is_to_be_undone_or_looked_up_waits_likewise) {
  auto definition = graph({undoable(step("a"), computed), undoable(step("b"))});
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  world w{definition};
  w.agents.lookups = {"do_b"};
  w.started();
  w.outcome(0, 1);
  w.fault(1, 1, v1::FAULT_KIND_IN_DOUBT);
  const auto there = w.agents.instances;
  w.agents.instances.clear();
  w.operate(v1::OPERATOR_VERB_CANCEL);
  EXPECT_EQ(waits(w), "1 undo: an instance of its agent, 0 undo: its input") << "no agent is there that could look it up";
  w.agents.instances = there;
  EXPECT_EQ(waits(w), "1 look up: an instance of its agent, 0 undo: its input");
}

TEST(task_waits, nothing_waits_to_be_undone_while_the_lease_of_an_abandoned_attempt_is_awaited) {
  world w{graph({undoable(step("a"), computed), undoable(step("b"))})};
  w.started();
  w.outcome(0, 1);
  w.terminate_now();
  ASSERT_FALSE(w.operate(v1::OPERATOR_VERB_UNDO).refused);
  ASSERT_GT(w.at(1).not_before_unix_ms(), w.now_ms) << "its agent may still be at it";
  EXPECT_EQ(waits(w), "") << "nobody has been asked for the input, and nobody has to be";
  EXPECT_FALSE(w.apply(wait_lost{}).changed);
  w.advance_ms(w.at(1).not_before_unix_ms() - w.now_ms);
  w.apply(task_due{});
  EXPECT_EQ(waits(w), "0 undo: its input");
}

TEST(task_waits, a_step_of_the_end_waits_for_nothing_while_a_look_up_that_failed_has_its_moment) {
  auto unsure = step("b");
  unsure.set_in_doubt(v1::IN_DOUBT_FAIL);
  auto definition = graph({step("a"), unsure, at_end(step("c"), v1::FINALLY_AFTER_FAILURE)});
  definition.set_on_failure(v1::ON_FAILURE_FAIL);
  world w{definition};
  w.agents.lookups = {"do_b"};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
  w.fault(1, 1, v1::FAULT_KIND_IN_DOUBT);
  ASSERT_TRUE(w.record.failing());
  EXPECT_EQ(waits(w), "") << "the look-up has its lease";
  w.fault_of(1, v1::DIRECTION_LOOKUP, v1::FAULT_KIND_TRANSIENT);
  ASSERT_GT(w.at(1).not_before_unix_ms(), w.now_ms);
  EXPECT_EQ(waits(w), "") << "the end comes after the look-up, and that has its moment";
  EXPECT_FALSE(w.apply(wait_lost{}).changed);
  const auto there = std::exchange(w.agents.instances, {});
  w.now_ms = w.at(1).not_before_unix_ms();
  w.recover(1);
  EXPECT_EQ(waits(w), "1 look up: an instance of its agent");
  w.agents.instances = there;
  w.apply(slot_freed{});
  const auto made = w.outcome_of(1, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_NEVER_HAPPENED);
  ASSERT_EQ(made.performs.size(), 1u);
  EXPECT_EQ(made.performs[0].message.call(), "do_c");
}

TEST(task_waits, nor_does_it_while_only_a_look_up_can_say_whether_the_task_can_be_undone) {
  auto pivot = with_undo_none(step("b", {"a"}));
  pivot.set_pivot(true);
  world w{graph({undoable(step("a")), pivot, at_end(step("c"), v1::FINALLY_ALWAYS)})};
  w.agents.lookups = {"do_b"};
  w.started();
  w.operate(v1::OPERATOR_VERB_CANCEL);
  // As after a restore: the pivot may have begun in the time that was lost.
  w.record.set_undo_uncertain(true);
  w.record.mutable_steps(1)->set_state(v1::STEP_STATE_IN_DOUBT);
  w.record.mutable_steps(1)->set_doubtful(true);
  w.outcome(0, 1);
  ASSERT_EQ(w.at(1).direction(), v1::DIRECTION_LOOKUP);
  EXPECT_EQ(waits(w), "") << "the look-up has its lease";
  w.fault_of(1, v1::DIRECTION_LOOKUP, v1::FAULT_KIND_TRANSIENT);
  ASSERT_GT(w.at(1).not_before_unix_ms(), w.now_ms);
  EXPECT_EQ(waits(w), "");
  w.now_ms = w.at(1).not_before_unix_ms();
  w.recover(1);
  const auto made = w.outcome_of(1, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_NEVER_HAPPENED);
  ASSERT_EQ(made.performs.size(), 1u);
  EXPECT_EQ(made.performs[0].message.call(), "do_c");
}

TEST(task_waits, an_attempt_without_a_lease_is_waited_for_in_vain_and_then_in_doubt) {
  world w{graph({step("a")})};
  w.started();
  w.record.mutable_steps(0)->clear_complete_by_unix_ms();
  EXPECT_EQ(waits(w), "0 perform: the outcome of an attempt");
  w.agents.holders.clear();
  w.agents.instances.begin()->second.held = 0;
  const auto made = w.apply(wait_lost{});
  ASSERT_EQ(made.performs.size(), 1u);
  EXPECT_EQ(made.performs[0].message.attempt(), 2u);
  EXPECT_TRUE(w.at(0).doubtful());
  EXPECT_EQ(waits(w), "");
}

TEST(task_waits, a_failed_step_without_a_moment_waits_in_vain_for_its_recovery_and_gets_it) {
  world w{graph({step("a"), step("b")})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  w.record.mutable_steps(0)->clear_not_before_unix_ms();
  EXPECT_EQ(waits(w), "0 perform: its recovery");
  const auto made = w.apply(wait_lost{});
  ASSERT_EQ(made.performs.size(), 1u);
  EXPECT_EQ(made.performs[0].message.attempt(), 2u);
  EXPECT_EQ(waits(w), "");
}

TEST(task_waits, nobody_is_asked_anew_where_everything_is_under_way) {
  world w{graph({step("a"), step("b", {"a"})})};
  w.started();
  EXPECT_FALSE(w.apply(wait_lost{}).changed);
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  EXPECT_FALSE(w.apply(wait_lost{}).changed);
}

}  // namespace
}  // namespace fairlead::core::testing
