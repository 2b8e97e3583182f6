// What a restore makes of steps that wait.

#include "actors/core/task/restore.hpp"
#include "actors/core/task/standing.hpp"
#include "actors/core/task/waits.hpp"
#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

constexpr std::int64_t lost_ms = 3'600'000;

TEST(task_restore, a_step_without_an_agent_is_never_in_doubt_and_one_between_two_rounds_is) {
  v1::StepDefinition wait;
  wait.set_name("wait");
  wait.set_kind(v1::STEP_KIND_WAIT);
  wait.set_with_json(R"("3h")");
  wait.mutable_undo()->set_none(true);
  auto poll = step("poll");
  poll.mutable_repeat()->set_until_json(R"("${ .steps.poll.done }")");
  poll.mutable_repeat()->set_every_ms(lost_ms);
  poll.mutable_repeat()->set_most(9);
  world before{graph({wait, poll})};
  before.started();
  before.outcome(1, 1, R"({"done":false})");
  const auto until_ms = before.at(0).not_before_unix_ms();
  auto& w = before;
  const auto backup_ms = w.now_ms;
  w.advance_ms(lost_ms);
  ASSERT_TRUE(restore_task(w.record, backup_ms, from_unix_ms(w.now_ms)));
  EXPECT_FALSE(w.at(0).doubtful());
  EXPECT_EQ(w.at(0).not_before_unix_ms(), until_ms);
  EXPECT_TRUE(w.at(1).doubtful()) << "the next round may have been carried out in the lost time";
  const auto made = w.apply(task_resumed{});
  ASSERT_EQ(made.performs.size(), 1U);
  EXPECT_EQ(made.performs.front().message.idempotency_key(), "t1/poll/perform/1");
}

TEST(task_restore, rounds_of_the_lost_time_are_looked_up_one_after_another) {
  auto poll = step("poll");
  poll.mutable_repeat()->set_until_json(R"("${ .steps.poll.done }")");
  poll.mutable_repeat()->set_every_ms(lost_ms);
  poll.mutable_repeat()->set_most(9);
  world w{graph({poll})};
  w.agents.lookups = {"do_poll"};
  w.started();
  w.outcome(0, 1, R"({"done":false})");
  const auto backup_ms = w.now_ms;
  w.advance_ms(3 * lost_ms);
  ASSERT_TRUE(restore_task(w.record, backup_ms, from_unix_ms(w.now_ms)));
  auto made = w.apply(task_resumed{});
  ASSERT_EQ(made.performs.size(), 1U);
  EXPECT_EQ(made.performs.front().message.direction(), v1::DIRECTION_LOOKUP);
  EXPECT_EQ(made.performs.front().message.perform_key(), "t1/poll/perform/1");
  w.outcome_of(0, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_DONE, R"({"done":false})");
  EXPECT_EQ(w.at(0).rounds(), 2U);
  EXPECT_TRUE(w.at(0).doubtful()) << "the round behind it may have been carried out in the lost time, too";
  w.advance_ms(lost_ms);
  made = w.recover(0);
  ASSERT_EQ(made.performs.size(), 1U);
  EXPECT_EQ(made.performs.front().message.direction(), v1::DIRECTION_LOOKUP);
  EXPECT_EQ(made.performs.front().message.perform_key(), "t1/poll/perform/2");
  made = w.outcome_of(0, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_NEVER_HAPPENED);
  ASSERT_EQ(made.performs.size(), 1U);
  EXPECT_EQ(made.performs.front().message.direction(), v1::DIRECTION_PERFORM);
  EXPECT_EQ(made.performs.front().message.idempotency_key(), "t1/poll/perform/3");
  w.outcome(0, w.at(0).attempt(), R"({"done":true})");
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_COMPLETED);
}

TEST(task_restore, a_step_that_waited_for_its_callback_is_in_doubt_as_any_other) {
  auto later = step("later");
  later.set_callback_ms(lost_ms);
  for (const auto early : {false, true}) {
    world w{graph({later})};
    w.started();
    if (early)
      w.callback(0, 0, "7");
    else
      w.outcome(0, 1, "null");
    ASSERT_EQ(w.at(0).awaits_callback(), !early);
    ASSERT_EQ(w.at(0).has_early_answer(), early);
    const auto backup_ms = w.now_ms;
    w.advance_ms(lost_ms);
    ASSERT_TRUE(restore_task(w.record, backup_ms, from_unix_ms(w.now_ms)));
    w.agents.instances.at("n1/svc").held = 0;
    w.agents.holders.clear();
    EXPECT_FALSE(w.at(0).awaits_callback());
    EXPECT_FALSE(w.at(0).has_early_answer());
    EXPECT_TRUE(w.at(0).doubtful());
    auto made = w.apply(task_resumed{});
    ASSERT_EQ(made.performs.size(), 1U) << "under the same key, and its service calls back again";
    EXPECT_EQ(made.performs.front().message.idempotency_key(), "t1/later/perform/0");
    // The wait behind an attempt that ends badly is none for a callback.
    w.fault(0, w.at(0).attempt(), v1::FAULT_KIND_TRANSIENT);
    w.advance_ms(60'000);
    made = w.recover(0);
    ASSERT_EQ(made.performs.size(), 1U);
    EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_RUNNING);
  }
}

/// Of a step that has failed, while its task waits to be undone, and what a restore makes of that after so long.
world restored_failed_step(std::int64_t lost_ms, bool passed_over) {
  auto failing = undoable(step("a"));
  failing.mutable_undo()->set_also_if_failed(true);
  if (passed_over) failing.set_on_failure(v1::ON_FAILURE_CONTINUE);
  auto definition = graph({failing});
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  world w{definition};
  w.agents.key_valid_for["undo_a"] = 2 * 3'600'000;
  w.started();
  w.fault(0, 1, passed_over ? v1::FAULT_KIND_PERMANENT : v1::FAULT_KIND_TRANSIENT);
  EXPECT_EQ(w.at(0).passed_over(), passed_over);
  w.agents.instances.at("n1/svc").capacity = 0;
  w.operate(passed_over ? v1::OPERATOR_VERB_UNDO : v1::OPERATOR_VERB_CANCEL);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDOING);
  const auto backup_ms = w.now_ms;
  w.advance_ms(lost_ms);
  EXPECT_TRUE(restore_task(w.record, backup_ms, from_unix_ms(w.now_ms)));
  w.agents.instances.at("n1/svc").capacity = 1;
  return w;
}

TEST(task_restore, a_dropped_step_is_undone_again_and_never_performed) {
  auto last = with_undo_none(step("last", {"a", "b", "c"}));
  last.set_join(1);
  world w{graph({undoable(step("a")), undoable(step("b")), undoable(step("c")), last})};
  w.started();
  w.outcome(1, 1, R"({"id":2})");
  w.outcome(2, 1, R"({"id":3})");
  ASSERT_TRUE(w.at(2).dropped());
  ASSERT_EQ(w.at(2).state(), v1::STEP_STATE_UNDOING);
  ASSERT_EQ(w.at(0).state(), v1::STEP_STATE_RUNNING);
  const auto backup_ms = w.now_ms;
  w.advance_ms(lost_ms);
  ASSERT_TRUE(restore_task(w.record, backup_ms, from_unix_ms(w.now_ms)));
  EXPECT_TRUE(w.at(0).doubtful());
  EXPECT_TRUE(w.at(2).undo_doubtful()) << "its undo may have been sent in the lost time";
  w.agents.instances["n1/svc"].held = 0;
  w.agents.holders.clear();
  const auto made = w.apply(task_resumed{});
  std::map<std::string, v1::Direction> sent;
  for (const auto& one : made.performs) sent[one.message.step_path()] = one.message.direction();
  EXPECT_EQ(sent,
            (std::map<std::string, v1::Direction>{{"a", v1::DIRECTION_UNDO}, {"c", v1::DIRECTION_UNDO}, {"last", v1::DIRECTION_PERFORM}}));
}

TEST(task_restore, a_step_of_the_end_of_a_task_that_is_undone_may_have_been_performed) {
  auto unlock = with_undo_none(step("unlock"));
  unlock.set_finally(v1::FINALLY_ALWAYS);
  unlock.set_in_doubt(v1::IN_DOUBT_PARK);
  auto definition = graph({undoable(step("a")), unlock});
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  world w{definition};
  w.started();
  w.agents.instances.at("n1/svc").capacity = 0;
  w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_EQ(w.record.state(), v1::TASK_STATE_UNDOING);
  ASSERT_EQ(w.at(1).state(), v1::STEP_STATE_PENDING);
  const auto backup_ms = w.now_ms;
  w.advance_ms(lost_ms);
  ASSERT_TRUE(restore_task(w.record, backup_ms, from_unix_ms(w.now_ms), {}, std::nullopt, &definition));
  EXPECT_TRUE(w.at(1).doubtful());
  w.agents.instances.at("n1/svc").capacity = 1;
  EXPECT_TRUE(w.apply(task_resumed{}).parked) << "it is not sent again before somebody says what has become of it";
  EXPECT_EQ(w.at(1).state(), v1::STEP_STATE_IN_DOUBT);
}

TEST(task_restore, the_undo_of_a_failed_step_is_sent_again_under_its_key) {
  for (const auto passed_over : {false, true}) {
    auto w = restored_failed_step(lost_ms, passed_over);
    EXPECT_FALSE(w.at(0).doubtful()) << "its task performs nothing more";
    EXPECT_TRUE(w.at(0).undo_doubtful());
    const auto made = w.apply(task_resumed{});
    ASSERT_EQ(made.performs.size(), 1U);
    EXPECT_EQ(made.performs.front().message.direction(), v1::DIRECTION_UNDO);
    EXPECT_EQ(made.performs.front().message.idempotency_key(), "t1/a/undo/0");
    EXPECT_TRUE(w.undone(0).ended);
  }
}

TEST(task_restore, the_undo_of_a_failed_step_may_have_been_sent_so_long_ago_that_its_key_is_forgotten) {
  auto w = restored_failed_step(3 * lost_ms, false);
  EXPECT_TRUE(w.apply(task_resumed{}).parked);
  EXPECT_EQ(w.at(0).fault().code(), key_expired_code);
  const auto made = w.operate(v1::OPERATOR_VERB_RETRY, "a");
  ASSERT_EQ(made.performs.size(), 1U);
  EXPECT_EQ(made.performs.front().message.idempotency_key(), "t1/a/undo/0");
}

/// The shard goes on from the backup an hour later. What was written from `counted_until_unix_ms` on may never have counted.
void restore(world& w, const v1::WorkflowDefinition& definition, std::int64_t backup_ms,
             std::optional<std::int64_t> counted_until_unix_ms = std::nullopt) {
  w.advance_ms(lost_ms);
  for (auto& [name, one] : w.agents.instances) one.held = 0;
  w.agents.holders.clear();
  ASSERT_TRUE(restore_task(w.record, backup_ms, from_unix_ms(w.now_ms), {}, counted_until_unix_ms, &definition));
}

v1::WorkflowDefinition either(const v1::StepDefinition& a, const v1::StepDefinition& b,
                              const std::vector<v1::StepDefinition>& before = {}) {
  auto last = with_undo_none(step("last", {"a", "b"}));
  last.set_join(1);
  auto out = graph({undoable(a), undoable(b), last});
  for (const auto& one : before) *out.add_steps() = one;
  return out;
}

TEST(task_restore, a_need_in_doubt_is_settled_before_a_join_that_may_have_been_met_by_it) {
  const auto definition = either(step("a"), step("b"));
  world w{definition};
  w.agents.lookups = {"do_a", "do_last"};
  w.started();
  restore(w, definition, w.now_ms);
  w.apply(task_resumed{});
  ASSERT_EQ(w.at(0).direction(), v1::DIRECTION_LOOKUP);
  w.outcome(1, w.at(1).attempt());
  EXPECT_FALSE(w.at(0).dropped()) << "the joined step may have been performed because of it";
  EXPECT_EQ(w.at(2).state(), v1::STEP_STATE_PENDING);
  const auto made = w.outcome_of(0, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_DONE, "{}");
  EXPECT_FALSE(w.at(0).dropped());
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_COMPLETED);
  ASSERT_EQ(made.performs.size(), 1U);
  EXPECT_EQ(made.performs.front().message.step_path(), "last");
}

TEST(task_restore, a_need_whose_turn_has_not_come_does_not_hold_a_join_up) {
  auto wait = with_undo_none(step("wait"));
  wait.set_agent("away");
  const auto definition = either(step("a"), step("b", {"wait"}), {wait});
  world w{definition};
  w.started();
  restore(w, definition, w.now_ms);
  w.apply(task_resumed{});
  ASSERT_TRUE(w.at(1).doubtful());
  w.outcome(0, w.at(0).attempt());
  EXPECT_EQ(w.at(2).state(), v1::STEP_STATE_RUNNING);
  EXPECT_TRUE(w.at(1).dropped());
}

TEST(task_restore, a_need_with_a_sub_workflow_is_settled_for_a_join_by_the_end_of_its_task) {
  for (const bool had_begun : {false, true}) {
    SCOPED_TRACE(had_begun);
    v1::StepDefinition ship;
    ship.set_name("ship");
    ship.set_kind(v1::STEP_KIND_WORKFLOW);
    ship.set_workflow("shipment");
    if (!had_begun) ship.add_needs("a");
    auto last = with_undo_none(step("last", {"a", "ship"}));
    last.set_join(1);
    const auto definition = graph({undoable(step("a")), ship, last});
    world w{definition};
    w.started();
    ASSERT_EQ(w.at(1).state(), had_begun ? v1::STEP_STATE_RUNNING : v1::STEP_STATE_PENDING);
    restore(w, definition, w.now_ms);
    w.apply(task_resumed{});
    auto made = w.outcome(0, w.at(0).attempt());
    ASSERT_EQ(w.at(0).state(), v1::STEP_STATE_COMPLETED);
    EXPECT_EQ(made.children.size(), had_begun ? 0U : 1U);
    ASSERT_EQ(w.at(1).state(), v1::STEP_STATE_RUNNING);
    EXPECT_FALSE(w.at(1).dropped()) << "the joined step may have been performed because of it";
    EXPECT_EQ(w.at(2).state(), v1::STEP_STATE_PENDING);
    const declarative_engine engine;
    for (const auto& wait : waits_of(w.record, w.definition(), engine, w.agents))
      EXPECT_EQ(wait.what, awaited::child) << "step " << wait.step << " waits for " << awaited_words(wait.what) << " in vain";
    made = w.apply(w.of_child(1, v1::TASK_STATE_COMPLETED));
    EXPECT_FALSE(w.at(1).dropped());
    ASSERT_EQ(made.performs.size(), 1U);
    EXPECT_EQ(made.performs.front().message.step_path(), "last");
  }
}

TEST(task_restore, a_step_that_was_left_over_is_looked_up_unless_that_has_counted) {
  for (const auto counted : {false, true}) {
    const auto definition = either(step("a"), step("b"));
    world w{definition};
    w.agents.lookups = {"do_b"};
    w.started();
    w.fault(1, 1, v1::FAULT_KIND_TRANSIENT);
    const auto backup_ms = w.now_ms;
    w.advance_ms(10);
    w.outcome(0, 1);
    ASSERT_EQ(w.at(1).state(), v1::STEP_STATE_SKIPPED);
    restore(w, definition, backup_ms, counted ? w.now_ms + 1 : backup_ms);
    w.apply(task_resumed{});
    EXPECT_EQ(w.at(1).state(), counted ? v1::STEP_STATE_SKIPPED : v1::STEP_STATE_IN_DOUBT);
    if (counted) continue;
    ASSERT_EQ(w.at(1).direction(), v1::DIRECTION_LOOKUP);
    w.outcome_of(1, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_DONE, "{}");
    EXPECT_EQ(w.at(1).state(), v1::STEP_STATE_UNDOING) << "it was carried out in the lost time";
  }
}

TEST(task_restore, a_step_of_the_end_that_was_out_in_a_terminated_task_is_in_doubt) {
  const auto definition = graph({step("a"), at_end(step("unlock"), v1::FINALLY_ALWAYS)});
  world w{definition};
  w.started();
  w.outcome(0, 1);
  ASSERT_FALSE(w.operate(v1::OPERATOR_VERB_TERMINATE).ended) << "unlock is out";
  const auto backup_ms = w.now_ms;
  w.advance_ms(lost_ms);
  ASSERT_TRUE(restore_task(w.record, backup_ms, from_unix_ms(w.now_ms), {}, std::nullopt, &definition));
  EXPECT_TRUE(w.apply(task_resumed{}).ended);
  EXPECT_TRUE(w.at(1).doubtful());
  EXPECT_EQ(standing_words(standing_of(w.record)), "stands: a; in doubt: unlock");
}

TEST(task_restore, a_step_that_failed_while_its_task_was_held_counts_as_passed_over_from_when_the_task_goes_on) {
  for (const bool counted : {true, false}) {
    SCOPED_TRACE(counted);
    auto a = undoable(step("a"));
    a.set_on_failure(v1::ON_FAILURE_CONTINUE);
    const auto definition = graph({a, undoable(step("b", {"a"}))});
    world w{definition};
    w.started();
    w.operate(v1::OPERATOR_VERB_PAUSE);
    w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
    ASSERT_FALSE(w.at(0).passed_over());
    w.advance_ms(1'000);
    // What counts ends after the failure, and before the task goes on without the step.
    const auto between_ms = w.now_ms;
    w.advance_ms(1'000);
    w.operate(v1::OPERATOR_VERB_RESUME);
    ASSERT_TRUE(w.at(0).passed_over());
    w.operate(v1::OPERATOR_VERB_CANCEL);
    w.advance_ms(lost_ms);
    for (auto& [name, one] : w.agents.instances) one.held = 0;
    w.agents.holders.clear();
    EXPECT_TRUE(restore_task(w.record, between_ms, from_unix_ms(w.now_ms), {}, counted ? w.now_ms : between_ms));
    EXPECT_EQ(w.at(0).state(), counted ? v1::STEP_STATE_FAILED : v1::STEP_STATE_IN_DOUBT);
  }
}

TEST(task_restore, a_step_of_the_end_stays_in_doubt_where_its_condition_reads_the_end) {
  auto tell = with_undo_none(step("tell"));
  tell.set_finally(v1::FINALLY_ALWAYS);
  tell.set_when_json(R"("${ .task.end == \"failed\" }")");
  const auto definition = graph({step("a"), tell});
  world w{definition};
  w.started();
  restore(w, definition, w.now_ms);
  w.apply(task_resumed{});
  w.outcome(0, w.at(0).attempt());
  const auto made = w.apply(expressions_evaluated{1, {"false"}, std::nullopt, v1::EXPRESSION_PART_WHEN});
  EXPECT_EQ(made.alerts.size(), 1U) << "the task may have failed in the lost time";
  EXPECT_TRUE(w.at(1).doubtful());
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
}

TEST(task_restore, a_step_after_a_failure_is_looked_up_before_the_task_completes_without_it) {
  auto tell = with_undo_none(step("tell"));
  tell.set_finally(v1::FINALLY_AFTER_FAILURE);
  const auto definition = graph({step("a"), tell});
  world w{definition};
  w.agents.lookups = {"do_tell"};
  w.started();
  restore(w, definition, w.now_ms);
  w.apply(task_resumed{});
  auto made = w.outcome(0, w.at(0).attempt());
  // Once more under the key that would have come next.
  for (const auto* key : {"t1/tell/perform/0", "t1/tell/perform/1"}) {
    ASSERT_EQ(made.performs.size(), 1U);
    EXPECT_EQ(made.performs.front().message.direction(), v1::DIRECTION_LOOKUP);
    EXPECT_EQ(made.performs.front().message.perform_key(), key);
    made = w.outcome_of(1, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_NEVER_HAPPENED);
  }
  EXPECT_TRUE(made.ended);
  EXPECT_TRUE(made.alerts.empty());
  EXPECT_EQ(w.at(1).state(), v1::STEP_STATE_SKIPPED);
}

TEST(task_restore, a_completed_task_stays_without_its_step_after_a_failure_and_an_undo_performs_that_under_its_key) {
  const auto definition = graph({undoable(step("a")), at_end(step("tell"), v1::FINALLY_AFTER_FAILURE)});
  world w{definition};
  w.started();
  ASSERT_TRUE(w.outcome(0, 1).ended);
  const auto backup_ms = w.now_ms;
  w.advance_ms(lost_ms);
  EXPECT_FALSE(restore_task(w.record, backup_ms, from_unix_ms(w.now_ms), {}, std::nullopt, &definition));
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(w.at(1).state(), v1::STEP_STATE_SKIPPED);
  EXPECT_FALSE(w.at(1).doubtful()) << "what was undone since the backup is not known";
  w.operate(v1::OPERATOR_VERB_UNDO);
  const auto made = w.undone(0);
  ASSERT_EQ(made.performs.size(), 1U);
  EXPECT_EQ(made.performs.front().message.idempotency_key(), "t1/tell/perform/0") << "as in the lost time, so that nothing is done twice";
}

TEST(task_restore, a_task_that_may_never_have_gone_on_without_a_step_does_so_and_names_it_as_in_doubt) {
  auto a = undoable(step("a"));
  a.set_on_failure(v1::ON_FAILURE_CONTINUE);
  const auto definition = graph({a, undoable(step("b", {"a"}))});
  for (const bool counted : {true, false}) {
    world w{definition};
    w.started();
    const auto before_ms = w.now_ms;
    w.advance_ms(1'000);
    w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
    ASSERT_TRUE(w.at(0).passed_over());
    restore(w, definition, before_ms, counted ? w.now_ms + 1 : before_ms);
    EXPECT_EQ(w.at(0).doubtful(), !counted);
    const auto made = w.apply(task_resumed{});
    ASSERT_EQ(made.performs.size(), 1U) << "later steps have gone on without it";
    EXPECT_EQ(made.performs.front().message.idempotency_key(), "t1/b/perform/0");
    EXPECT_TRUE(w.outcome(1, w.at(1).attempt()).ended);
    EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
    EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_FAILED);
    EXPECT_EQ(w.at(0).doubtful(), !counted);
    EXPECT_EQ(w.record.recent().rbegin()->detail(), counted ? "failed: a" : "in doubt: a");
  }
}

/// Its child was undone before the backup, and the task waits for an operator.
world with_failed_child() {
  v1::StepDefinition ship;
  ship.set_name("ship");
  ship.set_kind(v1::STEP_KIND_WORKFLOW);
  ship.set_workflow("shipment");
  ship.set_on_failure(v1::ON_FAILURE_PARK);
  const auto definition = graph({ship});
  world w{definition};
  w.started();
  EXPECT_EQ(w.at(0).child().id(), "t1/ship~1");
  w.apply(w.of_child(0, v1::TASK_STATE_UNDONE));
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_FAILED);
  restore(w, definition, w.now_ms);
  return w;
}

TEST(task_restore, a_step_whose_child_had_failed_may_have_begun_another_one) {
  auto w = with_failed_child();
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_IN_DOUBT) << "an operator may have retried it in the lost time";
  EXPECT_TRUE(w.at(0).doubtful());
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_SKIP, "ship").refused.has_value());
  const auto made = w.operate(v1::OPERATOR_VERB_RETRY, "ship");
  ASSERT_EQ(made.children.size(), 1U);
  EXPECT_EQ(made.children.front().id, "t1/ship~2") << "the child that such a retry would have begun";
  EXPECT_NE(w.record.restored_from_unix_ms(), 0) << "the child's calls count as possibly performed";
}

TEST(task_restore, a_child_that_an_operator_says_never_began_is_not_begun_again_by_its_id) {
  auto w = with_failed_child();
  const auto made = w.operate(v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED, "ship");
  ASSERT_EQ(made.children.size(), 1U);
  EXPECT_EQ(made.children.front().id, "t1/ship~3");
}

}  // namespace
}  // namespace fairlead::core::testing
