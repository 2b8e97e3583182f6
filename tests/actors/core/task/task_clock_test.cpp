// Moments in the row of a task that a wall clock has put far away before it was set back.

#include <gtest/gtest.h>

#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

constexpr std::int64_t year_ms = 365LL * 24 * 3'600'000;
constexpr std::int64_t half_an_hour_ms = 30LL * 60'000;

/// The worker computes what each item is given.
v1::WorkflowDefinition list_of_computed() {
  auto out = with_undo_none(step("ship", {}, R"({"n":"${ .item + 1 }"})"));
  out.mutable_for_each()->set_list_json(R"("${ .input }")");
  out.mutable_for_each()->set_at_once(1);
  return graph({out});
}

v1::StepDefinition child() {
  auto out = with_undo_none(step("audit"));
  out.set_kind(v1::STEP_KIND_WORKFLOW);
  out.clear_agent();
  out.clear_call();
  out.set_workflow("audits");
  out.clear_attempts();
  out.clear_backoff();
  return out;
}

void no_worker_answers(world& w) {
  ASSERT_FALSE(w.apply(expressions_evaluated{0, {}, error{v1::ERROR_CODE_UNAVAILABLE, "no worker", ""}}).changed);
}

TEST(task_clock, a_backoff_that_a_clock_ahead_has_noted_is_over_once_the_clock_is_right) {
  world w{graph({step("a")})};
  w.now_ms += year_ms;
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  ASSERT_GT(w.at(0).not_before_unix_ms(), w.now_ms);
  w.now_ms -= year_ms;
  EXPECT_TRUE(noted_ahead(w.record, w.now_ms));
  EXPECT_TRUE(w.apply(clock_set_back{}).changed);
  EXPECT_EQ(w.at(0).not_before_unix_ms(), w.now_ms);
  EXPECT_EQ(w.record.due_unix_ms(), w.now_ms);
}

TEST(task_clock, a_clock_ahead_is_found_by_the_steps_too_when_the_newest_events_say_nothing_of_it) {
  world w{graph({step("a")})};
  w.now_ms += year_ms;
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  w.now_ms -= year_ms;
  w.record.clear_recent();
  EXPECT_TRUE(noted_ahead(w.record, w.now_ms));
}

TEST(task_clock, a_backoff_that_may_be_meant_is_left_alone) {
  world w{graph({step("a")})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  const auto meant = w.at(0).not_before_unix_ms();
  EXPECT_FALSE(noted_ahead(w.record, w.now_ms));
  EXPECT_FALSE(w.apply(clock_set_back{}).changed);
  EXPECT_EQ(w.at(0).not_before_unix_ms(), meant);
}

TEST(task_clock, a_pause_that_a_service_has_asked_a_look_up_for_is_left_alone_though_the_fault_about_the_key_stays) {
  world w{graph({step("a")})};
  w.agents.key_valid_for["do_a"] = 60'000;
  w.agents.lookups.insert("do_a");
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  w.advance_ms(58'000);
  w.recover(0);
  attempt_ended busy;
  busy.direction = v1::DIRECTION_LOOKUP;
  busy.attempt = 1;
  busy.fault.emplace();
  busy.fault->set_kind(v1::FAULT_KIND_TRANSIENT);
  busy.fault->set_code("http_503");
  busy.fault->set_retry_after_ms(half_an_hour_ms);
  w.apply(busy);
  ASSERT_EQ(w.at(0).fault().code(), "key_expired");
  const auto meant = w.at(0).not_before_unix_ms();
  ASSERT_GE(meant, w.now_ms + half_an_hour_ms);
  // Something older in the row was noted by a clock ahead.
  EXPECT_FALSE(w.apply(clock_set_back{}).changed);
  EXPECT_EQ(w.at(0).not_before_unix_ms(), meant);
  w.now_ms -= year_ms;
  EXPECT_TRUE(w.apply(clock_set_back{}).changed);
  EXPECT_EQ(w.at(0).not_before_unix_ms(), w.now_ms);
}

TEST(task_clock, a_lease_ends_no_later_than_one_that_would_begin_now_and_never_before) {
  auto beating = step("b");
  beating.set_heartbeat_ms(500);
  world w{graph({step("a"), beating})};
  w.now_ms += year_ms;
  w.started();
  w.now_ms -= year_ms;
  const auto timeout_ms = w.definition().step_definition(0).timeout_ms();
  EXPECT_TRUE(w.apply(clock_set_back{}).changed);
  EXPECT_EQ(w.at(0).complete_by_unix_ms(), w.now_ms + timeout_ms);
  EXPECT_EQ(w.at(1).heartbeat_by_unix_ms(), w.now_ms + 500);
  w.now_ms += 10;
  EXPECT_FALSE(w.apply(clock_set_back{}).changed);
}

TEST(task_clock, what_is_sent_again_carries_the_lease_that_is_left_by_the_right_clock) {
  world w{graph({step("a")})};
  w.now_ms += year_ms;
  w.started();
  w.now_ms -= year_ms;
  const auto made = w.apply(task_resumed{});
  ASSERT_EQ(made.performs.size(), 1u);
  EXPECT_EQ(made.performs[0].message.budget_ms(), w.definition().step_definition(0).timeout_ms());
  EXPECT_EQ(made.performs[0].message.complete_by_unix_ms(), w.at(0).complete_by_unix_ms());
}

TEST(task_clock, a_task_that_waits_for_an_instance_is_looked_at_again_soon) {
  world w{graph({step("a")})};
  w.agents.instances.clear();
  w.now_ms += year_ms;
  w.submit();
  w.apply(task_admitted{});
  w.now_ms -= year_ms;
  EXPECT_TRUE(w.apply(clock_set_back{}).changed);
  EXPECT_EQ(w.record.due_unix_ms(), w.now_ms + waiting_recheck_ms);
}

TEST(task_clock, a_task_that_only_a_look_has_put_far_away_while_the_clock_was_ahead_is_looked_at_again_soon) {
  world w{graph({step("a")})};
  w.agents.instances.clear();
  w.submit();
  w.apply(task_admitted{});
  EXPECT_FALSE(noted_ahead(w.record, w.now_ms));
  w.now_ms += year_ms;
  EXPECT_TRUE(w.apply(task_due{}).changed);
  w.now_ms -= year_ms;
  EXPECT_TRUE(noted_ahead(w.record, w.now_ms));
  EXPECT_TRUE(w.apply(clock_set_back{}).changed);
  EXPECT_EQ(w.record.due_unix_ms(), w.now_ms + waiting_recheck_ms);
  EXPECT_FALSE(noted_ahead(w.record, w.now_ms));
}

TEST(task_clock, a_list_whose_next_item_waits_for_the_worker_is_looked_at_again_soon) {
  world w{list_of_computed()};
  w.now_ms += half_an_hour_ms;
  w.started("[1,2]");
  ASSERT_EQ(w.at(0).state(), v1::STEP_STATE_RUNNING);
  no_worker_answers(w);
  w.now_ms -= half_an_hour_ms;
  EXPECT_TRUE(noted_ahead(w.record, w.now_ms));
  const auto made = w.apply(clock_set_back{});
  EXPECT_TRUE(made.changed);
  EXPECT_EQ(made.evaluations.size(), 1u);
  EXPECT_EQ(w.record.due_unix_ms(), w.now_ms + waiting_recheck_ms);
}

TEST(task_clock, a_list_that_only_a_look_has_put_far_away_while_the_clock_was_ahead_is_looked_at_again_soon) {
  world w{list_of_computed()};
  w.started("[1,2]");
  no_worker_answers(w);
  EXPECT_FALSE(noted_ahead(w.record, w.now_ms));
  w.now_ms += year_ms;
  EXPECT_TRUE(w.apply(task_due{}).changed);
  no_worker_answers(w);
  w.now_ms -= year_ms;
  EXPECT_TRUE(noted_ahead(w.record, w.now_ms));
  EXPECT_EQ(w.apply(clock_set_back{}).evaluations.size(), 1u);
  EXPECT_EQ(w.record.due_unix_ms(), w.now_ms + waiting_recheck_ms);
  EXPECT_FALSE(noted_ahead(w.record, w.now_ms));
}

TEST(task_clock, a_step_that_waits_for_the_worker_beside_a_child_is_looked_at_again_soon) {
  world w{graph({child(), step("a", {}, R"({"n":"${ .input.n + 1 }"})")})};
  w.now_ms += half_an_hour_ms;
  w.started();
  ASSERT_FALSE(w.apply(expressions_evaluated{1, {}, error{v1::ERROR_CODE_UNAVAILABLE, "no worker", ""}}).changed);
  w.now_ms -= half_an_hour_ms;
  EXPECT_EQ(w.apply(clock_set_back{}).evaluations.size(), 1u);
  EXPECT_EQ(w.record.due_unix_ms(), w.now_ms + waiting_recheck_ms);
}

TEST(task_clock, the_next_round_is_counted_from_the_end_of_the_one_before_though_the_worker_answers_while_the_clock_is_ahead) {
  auto poll = with_undo_none(step("poll"));
  poll.mutable_repeat()->set_until_json(R"("${ .steps.poll.v > 500 }")");
  poll.mutable_repeat()->set_every_ms(half_an_hour_ms);
  poll.mutable_repeat()->set_most(3);
  world w{graph({poll})};
  w.started();
  w.outcome(0, 1, R"({"v":1})");
  const auto ended_ms = w.now_ms;
  w.now_ms += half_an_hour_ms / 2;
  ASSERT_TRUE(w.apply(expressions_evaluated{0, {"false"}, std::nullopt, v1::EXPRESSION_PART_UNTIL}).changed);
  EXPECT_EQ(w.at(0).not_before_unix_ms(), ended_ms + half_an_hour_ms);
  EXPECT_EQ(w.record.due_unix_ms(), ended_ms + half_an_hour_ms);
}

TEST(task_clock, a_child_that_found_no_room_while_the_clock_was_ahead_is_asked_for_again_soon) {
  world w{graph({child()})};
  w.started();
  auto& one = *w.record.mutable_steps(0);
  one.clear_child();
  one.set_state(v1::STEP_STATE_PENDING);
  one.set_not_before_unix_ms(w.now_ms + year_ms);
  EXPECT_TRUE(noted_ahead(w.record, w.now_ms));
  w.apply(clock_set_back{});
  EXPECT_LE(w.at(0).not_before_unix_ms(), w.now_ms);
  EXPECT_LE(w.record.due_unix_ms(), w.now_ms);
}

TEST(task_clock, a_timeout_of_the_task_counts_anew_from_the_right_clock) {
  auto definition = graph({step("a")});
  definition.set_timeout_ms(60'000);
  world w{definition};
  w.now_ms += year_ms;
  w.started();
  w.now_ms -= year_ms;
  w.apply(clock_set_back{});
  EXPECT_EQ(times_out_at(w.record, definition), w.now_ms + 60'000);
}

TEST(task_clock, a_task_that_has_ended_is_written_no_more) {
  auto definition = graph({step("a")});
  definition.set_timeout_ms(60'000);
  world w{definition};
  w.now_ms += year_ms;
  w.started();
  w.outcome(0, 1);
  ASSERT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
  w.now_ms -= year_ms;
  ASSERT_TRUE(noted_ahead(w.record, w.now_ms));
  EXPECT_FALSE(w.apply(clock_set_back{}).changed);
}

TEST(task_clock, a_key_that_was_used_in_the_future_keeps_nothing_from_being_done_twice) {
  world w{graph({step("a")})};
  w.agents.key_valid_for["do_a"] = 3'600'000;
  w.now_ms += year_ms;
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  w.now_ms -= year_ms;
  w.apply(clock_set_back{});
  const auto made = w.apply(task_due{});
  EXPECT_TRUE(made.performs.empty());
  EXPECT_EQ(w.at(0).fault().code(), "key_expired");
  EXPECT_TRUE(w.record.parked());
}

}  // namespace
}  // namespace fairlead::core::testing
