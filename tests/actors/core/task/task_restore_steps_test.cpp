// What a restore makes of steps that wait.

#include "actors/core/task/restore.hpp"
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

}  // namespace
}  // namespace fairlead::core::testing
