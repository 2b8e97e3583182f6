// What may have been done in the time that a restore has lost, by each way in which a task may have gone on then.

#include "actors/core/task/restore.hpp"
#include "actors/core/task/standing.hpp"
#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

constexpr std::int64_t lost_ms = 3'600'000;

/// The shard goes on from the backup an hour later. What was written from `counted_until_unix_ms` on may never have counted.
void put_back(world& w, const v1::WorkflowDefinition& definition, std::int64_t backup_ms,
              std::optional<std::int64_t> counted_until_unix_ms = std::nullopt) {
  w.advance_ms(lost_ms);
  for (auto& [name, one] : w.agents.instances) one.held = 0;
  w.agents.holders.clear();
  ASSERT_TRUE(restore_task(w.record, backup_ms, from_unix_ms(w.now_ms), {}, counted_until_unix_ms, &definition));
}

TEST(task_restored, a_task_that_was_to_fail_may_have_been_taken_back_in_the_lost_time) {
  auto a = step("a");
  a.set_on_failure(v1::ON_FAILURE_FAIL);
  auto b = step("b", {"a"});
  b.set_in_doubt(v1::IN_DOUBT_PARK);
  const auto definition = graph({a, b, step("c")});
  world w{definition};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_TRUE(w.record.failing()) << "c is out";
  put_back(w, definition, w.now_ms);
  EXPECT_TRUE(w.at(0).doubtful()) << "an operator may have had it tried again";
  EXPECT_TRUE(w.at(1).doubtful()) << "and this one came behind it";
  EXPECT_TRUE(w.apply(task_resumed{}).parked);
  w.operate(v1::OPERATOR_VERB_RETRY, "a");
  w.outcome(0, w.at(0).attempt());
  EXPECT_EQ(w.at(1).state(), v1::STEP_STATE_IN_DOUBT) << "it is not sent before somebody says what has become of it";
  EXPECT_TRUE(w.record.parked());
}

TEST(task_restored, the_undo_behind_a_look_up_is_sent_again_under_its_key) {
  auto a = undoable(step("a"));
  a.mutable_undo()->set_also_if_failed(true);
  const auto definition = graph({a});
  world w{definition};
  w.agents.lookups = {"do_a"};
  w.started();
  w.operate(v1::OPERATOR_VERB_CANCEL);
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  ASSERT_EQ(w.at(0).direction(), v1::DIRECTION_LOOKUP);
  auto lost = w;
  const auto before = lost.outcome_of(0, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_NEVER_HAPPENED);
  ASSERT_EQ(before.performs.size(), 1U);
  put_back(w, definition, w.now_ms);
  w.apply(task_resumed{});
  const auto made = w.outcome_of(0, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_NEVER_HAPPENED);
  ASSERT_EQ(made.performs.size(), 1U);
  EXPECT_EQ(made.performs.front().message.direction(), v1::DIRECTION_UNDO) << "nothing was performed under the next key";
  EXPECT_EQ(made.performs.front().message.idempotency_key(), before.performs.front().message.idempotency_key());
  EXPECT_EQ(made.performs.front().message.perform_key(), before.performs.front().message.perform_key());
  EXPECT_TRUE(w.at(0).undo_doubtful()) << "it may have been sent in the lost time";
}

TEST(task_restored, the_undo_behind_a_look_up_of_an_attempt_that_was_in_progress_is_sent_again_under_its_key) {
  auto a = undoable(step("a"));
  a.mutable_undo()->set_also_if_failed(true);
  const auto definition = graph({a});
  world w{definition};
  w.agents.lookups = {"do_a"};
  w.started();
  w.operate(v1::OPERATOR_VERB_CANCEL);
  ASSERT_EQ(w.at(0).state(), v1::STEP_STATE_RUNNING);
  auto lost = w;
  lost.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  const auto before = lost.outcome_of(0, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_NEVER_HAPPENED);
  ASSERT_EQ(before.performs.size(), 1U);
  put_back(w, definition, w.now_ms);
  w.apply(task_resumed{});
  const auto made = w.outcome_of(0, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_NEVER_HAPPENED);
  ASSERT_EQ(made.performs.size(), 1U);
  EXPECT_EQ(made.performs.front().message.direction(), v1::DIRECTION_UNDO);
  EXPECT_EQ(made.performs.front().message.idempotency_key(), before.performs.front().message.idempotency_key());
  EXPECT_TRUE(w.at(0).undo_doubtful());
}

TEST(task_restored, the_undo_that_an_operator_had_let_begin_may_have_been_sent_under_the_key_that_it_begins_with_once_more) {
  auto a = undoable(step("a"), R"({"ref":"${ .steps.a.ref }"})");
  a.mutable_undo()->set_also_if_failed(true);
  const auto definition = graph({a});
  world w{definition};
  w.started();
  w.operate(v1::OPERATOR_VERB_CANCEL);
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  ASSERT_TRUE(w.record.parked());
  put_back(w, definition, w.now_ms);
  const auto backup_ms = w.at(0).undo_key_used_at_unix_ms();
  ASSERT_NE(backup_ms, 0);
  w.operate(v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED, "a");
  EXPECT_TRUE(w.at(0).undo_doubtful());
  EXPECT_EQ(w.at(0).undo_key_used_at_unix_ms(), backup_ms);
}

TEST(task_restored, the_undo_of_a_child_may_be_as_old_as_the_first_backup_of_its_parent) {
  world w{graph({undoable(step("a"))})};
  w.started();
  ASSERT_TRUE(w.outcome(0, 1).ended);
  const auto first_ms = w.now_ms;
  w.advance_ms(2 * lost_ms);
  operated undo;
  undo.by_parent = true;
  undo.action.set_verb(v1::OPERATOR_VERB_UNDO);
  undo.action.set_who("task t0");
  undo.restored_from_unix_ms = w.now_ms;
  undo.first_restored_from_unix_ms = first_ms;
  w.advance_ms(lost_ms);
  w.apply(undo);
  EXPECT_TRUE(w.at(0).undo_doubtful());
  EXPECT_EQ(w.at(0).undo_key_used_at_unix_ms(), first_ms);
}

TEST(task_restored, a_completed_task_names_what_its_join_may_never_have_left_over) {
  auto last = with_undo_none(step("last", {"a", "b"}));
  last.set_join(1);
  const auto definition = graph({undoable(step("a")), undoable(step("b")), last});
  world w{definition};
  w.started();
  w.fault(1, 1, v1::FAULT_KIND_TRANSIENT);
  const auto backup_ms = w.now_ms;
  w.advance_ms(10);
  w.outcome(0, 1);
  ASSERT_EQ(w.at(1).state(), v1::STEP_STATE_SKIPPED);
  ASSERT_TRUE(w.outcome(2, 1).ended);
  put_back(w, definition, backup_ms, backup_ms);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(standing_of(w.record).in_doubt, std::vector<std::string>{"b"});
}

TEST(task_restored, an_undo_that_may_never_have_counted_leaves_no_doubt_about_a_task_that_had_failed_before) {
  auto ship = with_undo_none(step("ship", {"a"}));
  ship.set_pivot(true);
  const auto definition = graph({undoable(step("a")), ship});
  world w{definition};
  w.started();
  w.operate(v1::OPERATOR_VERB_TERMINATE);
  ASSERT_TRUE(w.outcome(0, 1).ended);
  w.advance_ms(1'000);
  const auto counted_ms = w.now_ms;
  w.operate(v1::OPERATOR_VERB_UNDO);
  ASSERT_EQ(w.record.state(), v1::TASK_STATE_UNDOING);
  put_back(w, definition, counted_ms, counted_ms);
  EXPECT_FALSE(w.at(1).doubtful()) << "a failed task performs nothing";
  const auto made = w.apply(task_resumed{});
  EXPECT_FALSE(w.record.parked());
  ASSERT_EQ(made.performs.size(), 1U);
  EXPECT_EQ(made.performs.front().message.idempotency_key(), "t1/a/undo/0");
}

TEST(task_restored, a_terminate_that_may_never_have_counted_leaves_no_doubt_about_a_task_that_was_being_undone) {
  const auto definition = graph({undoable(step("a")), undoable(step("b", {"a"}))});
  world w{definition};
  w.started();
  w.operate(v1::OPERATOR_VERB_CANCEL);
  w.outcome(0, 1);
  ASSERT_EQ(w.at(0).state(), v1::STEP_STATE_UNDOING);
  w.advance_ms(1'000);
  const auto counted_ms = w.now_ms;
  w.operate(v1::OPERATOR_VERB_TERMINATE);
  put_back(w, definition, counted_ms, counted_ms);
  EXPECT_FALSE(w.at(1).doubtful());
  EXPECT_TRUE(w.apply(task_resumed{}).ended);
  EXPECT_EQ(standing_words(standing_of(w.record)), "in doubt: a");
}

TEST(task_restored, of_a_child_that_begins_after_a_second_restore_the_keys_may_be_as_old_as_the_first_backup) {
  const auto definition = graph({step("a")});
  world w{definition};
  w.started();
  const auto first_ms = w.now_ms;
  put_back(w, definition, first_ms);
  w.apply(task_resumed{});
  w.advance_ms(lost_ms);
  const auto second_ms = w.now_ms;
  put_back(w, definition, second_ms);
  EXPECT_EQ(w.record.restored_from_unix_ms(), second_ms);
  EXPECT_EQ(w.record.first_restored_from_unix_ms(), first_ms);
  new_task child;
  child.number = 8;
  child.id = "t1/ship~1";
  child.input = "{}";
  child.restored_from_unix_ms = w.record.restored_from_unix_ms();
  child.first_restored_from_unix_ms = w.record.first_restored_from_unix_ms();
  decision made;
  const auto begun = create_task(std::move(child), w.context_for(w.agents), made);
  EXPECT_EQ(begun.restored_from_unix_ms(), second_ms);
  EXPECT_EQ(begun.steps(0).key_used_at_unix_ms(), first_ms);
}

TEST(task_restored, a_step_that_was_never_handed_over_is_looked_up_with_the_input_that_it_would_have_had) {
  auto tell = with_undo_none(step("tell", {}, R"({"n":"${ .input.n }"})"));
  tell.set_finally(v1::FINALLY_AFTER_FAILURE);
  const auto definition = graph({step("a"), tell});
  world w{definition};
  w.agents.lookups = {"do_tell"};
  w.started();
  put_back(w, definition, w.now_ms);
  w.apply(task_resumed{});
  const auto made = w.outcome(0, w.at(0).attempt());
  ASSERT_EQ(made.performs.size(), 1U);
  ASSERT_EQ(made.performs.front().message.direction(), v1::DIRECTION_LOOKUP);
  EXPECT_EQ(made.performs.front().message.input(), R"({"n":1})");
  EXPECT_FALSE(w.at(1).has_input()) << "it may read another end later";
}

TEST(task_restored, a_completed_task_may_never_have_gone_on_without_a_step_and_its_undo_undoes_that_as_in_doubt) {
  auto a = undoable(step("a"));
  a.set_on_failure(v1::ON_FAILURE_CONTINUE);
  const auto definition = graph({a, undoable(step("b", {"a"}))});
  world w{definition};
  w.started();
  const auto before_ms = w.now_ms;
  w.advance_ms(1'000);
  w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_TRUE(w.at(0).passed_over());
  ASSERT_TRUE(w.outcome(1, 1).ended);
  auto counted = w;
  counted.advance_ms(lost_ms);
  EXPECT_FALSE(restore_task(counted.record, before_ms, from_unix_ms(counted.now_ms), {}, w.now_ms + 1, &definition));
  put_back(w, definition, before_ms, before_ms);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(w.record.due_unix_ms(), 0);
  EXPECT_EQ(standing_of(w.record).in_doubt, std::vector<std::string>{"a"});
  w.operate(v1::OPERATOR_VERB_UNDO);
  const auto made = w.undone(1);
  ASSERT_EQ(made.performs.size(), 1U);
  EXPECT_EQ(made.performs.front().message.idempotency_key(), "t1/a/undo/0");
  EXPECT_TRUE(made.performs.front().message.in_doubt());
  EXPECT_TRUE(w.undone(0).ended);
}

TEST(task_restored, the_next_key_of_a_step_that_was_looked_up_in_vain_before_is_in_doubt_too) {
  auto a = step("a");
  a.set_in_doubt(v1::IN_DOUBT_PARK);
  const auto definition = graph({a});
  world w{definition};
  w.agents.lookups = {"do_a"};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  w.outcome_of(0, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_UNKNOWN);
  ASSERT_TRUE(w.record.parked());
  put_back(w, definition, w.now_ms);
  auto made = w.operate(v1::OPERATOR_VERB_RETRY, "a");
  ASSERT_EQ(made.performs.size(), 1U);
  ASSERT_EQ(made.performs.front().message.idempotency_key(), "t1/a/perform/0");
  w.fault(0, w.at(0).attempt(), v1::FAULT_KIND_PERMANENT);
  ASSERT_EQ(w.at(0).direction(), v1::DIRECTION_LOOKUP);
  made = w.outcome_of(0, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_NEVER_HAPPENED);
  ASSERT_EQ(made.performs.size(), 1U);
  EXPECT_EQ(made.performs.front().message.direction(), v1::DIRECTION_LOOKUP) << "an operator may have had it performed under the next key";
  EXPECT_EQ(made.performs.front().message.perform_key(), "t1/a/perform/1");
}

}  // namespace
}  // namespace fairlead::core::testing
