// How a task goes on after a bad end: another attempt, or parked with a reason that names step and cause.

#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

TEST(task, tries_a_transient_fault_again_until_its_attempts_are_used_up) {
  world w{graph({step("a")})};
  w.started();
  for (std::uint32_t attempt = 1; attempt < 3; ++attempt) {
    const auto made = w.fault(0, attempt, v1::FAULT_KIND_TRANSIENT);
    ASSERT_EQ(made.hints.size(), 1u);
    EXPECT_EQ(made.hints[0].due_unix_ms(), w.at(0).not_before_unix_ms());
    EXPECT_EQ(w.record.due_unix_ms(), w.at(0).not_before_unix_ms());
    w.now_ms = w.at(0).not_before_unix_ms() - 1;
    EXPECT_FALSE(w.recover(0).changed) << "a millisecond early";
    w.advance_ms(1);
    EXPECT_EQ(w.recover(0).performs.size(), 1u);
    EXPECT_EQ(w.at(0).attempt(), attempt + 1);
  }
  const auto last = w.fault(0, 3, v1::FAULT_KIND_TRANSIENT);
  EXPECT_TRUE(last.parked);
  EXPECT_TRUE(last.hints.empty());
  EXPECT_EQ(w.record.parked_reason(), "step a failed (http_503) on the last of 3 attempts: told by the service");
  EXPECT_EQ(w.at(0).failure_count(), 3u);
  EXPECT_EQ(w.at(0).tries(), 6u);
  EXPECT_EQ(w.record.due_unix_ms(), 0);
}

TEST(task, keeps_the_key_from_attempt_to_attempt) {
  world w{graph({step("a")})};
  w.submit();
  const auto first = w.apply(task_admitted{}).performs.at(0).message.idempotency_key();
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  w.advance_ms(10'000);
  const auto second = w.recover(0).performs.at(0).message.idempotency_key();
  EXPECT_EQ(first, "t1/a/perform/0");
  EXPECT_EQ(second, first);
}

TEST(task, parks_at_once_on_a_permanent_fault) {
  world w{graph({step("a")})};
  w.started();
  EXPECT_TRUE(w.fault(0, 1, v1::FAULT_KIND_PERMANENT, "card_declined").parked);
  EXPECT_EQ(w.record.parked_reason(), "step a failed (card_declined) and another attempt cannot help: told by the service");
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_FAILED);
}

TEST(task, parks_a_step_in_doubt_where_the_workflow_says_so) {
  auto careful = step("a");
  careful.set_in_doubt(v1::IN_DOUBT_PARK);
  world told{graph({careful})};
  told.started();
  EXPECT_TRUE(told.fault(0, 1, v1::FAULT_KIND_IN_DOUBT, "connection_lost").parked);
  EXPECT_EQ(told.record.parked_reason(), "step a is in doubt (connection_lost) and its workflow says in_doubt: park: told by the service");

  world expired{graph({careful})};
  expired.started().advance_ms(5'000);
  EXPECT_TRUE(expired.recover(0).parked);
  EXPECT_NE(expired.record.parked_reason().find("lease_expired"), std::string::npos);

  world transient{graph({careful})};
  transient.started();
  EXPECT_FALSE(transient.fault(0, 1, v1::FAULT_KIND_TRANSIENT).parked) << "nothing happened, so nothing is in doubt";
}

TEST(task, ends_a_lease_at_complete_by_and_not_before) {
  world w{graph({step("a")})};
  w.started().advance_ms(4'999);
  EXPECT_FALSE(w.recover(0).changed);
  w.advance_ms(1);
  const auto made = w.recover(0);
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_IN_DOUBT);
  EXPECT_EQ(w.at(0).fault().code(), "lease_expired");
  EXPECT_EQ(w.record.recent(w.record.recent_size() - 1).kind(), v1::EVENT_KIND_STEP_EXPIRED);
  EXPECT_EQ(made.hints.size(), 1u);
  EXPECT_GT(w.at(0).not_before_unix_ms(), w.now_ms);
}

TEST(task, hands_a_step_over_anew_at_once_when_its_process_has_died) {
  world w{graph({step("a"), step("b")})};
  w.started();
  w.agents.replace("n1/svc");
  const auto made = w.apply(agent_replaced{"n1/svc", 2});
  ASSERT_EQ(made.performs.size(), 2u);
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(w.at(i).attempt(), 2u);
    EXPECT_EQ(w.at(i).incarnation(), 2u);
    EXPECT_EQ(w.at(i).failure_count(), 1u) << "crashes count";
  }
  EXPECT_FALSE(w.outcome(0, 1).accepted) << "the dead process speaks late";
}

TEST(task, parks_when_the_last_attempt_dies_with_its_process) {
  auto once = step("a");
  once.set_attempts(1);
  world w{graph({once})};
  w.started();
  w.agents.replace("n1/svc");
  EXPECT_TRUE(w.apply(agent_replaced{"n1/svc", 2}).parked);
  EXPECT_NE(w.record.parked_reason().find("agent_lost"), std::string::npos);
}

TEST(task, parks_when_its_own_timeout_has_passed) {
  world w{graph({step("a"), step("b", {"a"})}, 8'000)};
  w.started();
  w.advance_ms(4'000);
  w.outcome(0, 1);
  EXPECT_EQ(w.record.due_unix_ms(), start_ms + 8'000) << "the task's timeout comes before the lease";
  w.now_ms = start_ms + 7'999;
  w.apply(task_due{});
  EXPECT_FALSE(w.record.parked());
  w.advance_ms(1);
  EXPECT_TRUE(w.apply(task_due{}).parked);
  EXPECT_EQ(w.record.parked_reason(), "the task did not end within its timeout of 8s");
}

TEST(task, that_is_resumed_sends_again_only_to_the_same_process) {
  const auto restarted = [](std::optional<std::uint64_t> incarnation) {
    world w{graph({step("a")})};
    w.agents.instances["n1/svc"].incarnation = 5;
    w.started();
    w.agents.instances.clear();
    if (incarnation) w.agents.instances["n1/svc"] = {"svc", *incarnation, 100, 0};
    w.advance_ms(1'000);
    return w;
  };

  auto same = restarted(5);
  const auto again = same.apply(task_resumed{});
  EXPECT_FALSE(again.changed);
  ASSERT_EQ(again.performs.size(), 1u);
  EXPECT_EQ(again.performs[0].message.attempt(), 1u);
  EXPECT_EQ(again.performs[0].message.budget_ms(), 4'000) << "what is left of the lease";
  EXPECT_EQ(same.agents.instances["n1/svc"].held, 1);

  auto higher = restarted(6);
  const auto anew = higher.apply(task_resumed{});
  ASSERT_EQ(anew.performs.size(), 1u);
  EXPECT_EQ(anew.performs[0].message.attempt(), 2u);

  auto unknown = restarted(std::nullopt);
  const auto awaited = unknown.apply(task_resumed{});
  EXPECT_FALSE(awaited.changed);
  EXPECT_TRUE(awaited.performs.empty());
  EXPECT_EQ(unknown.record.due_unix_ms(), start_ms + 5'000);

  auto older = restarted(4);
  const auto stale = older.apply(task_resumed{});
  EXPECT_FALSE(stale.changed);
  EXPECT_TRUE(stale.performs.empty()) << "an older process never held this attempt";
}

TEST(task, that_is_resumed_hints_at_what_waits_for_recovery) {
  world w{graph({step("a")})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  const auto made = w.apply(task_resumed{});
  EXPECT_FALSE(made.changed);
  ASSERT_EQ(made.hints.size(), 1u);
  EXPECT_EQ(made.hints[0].due_unix_ms(), w.at(0).not_before_unix_ms());
}

TEST(task, that_is_poisoned_while_pending_is_parked_as_a_running_one) {
  world w{graph({step("a")})};
  w.submit();
  EXPECT_TRUE(w.apply(task_poisoned{"a bug"}).parked);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_RUNNING);
  EXPECT_EQ(w.record.parked_reason(), "a bug");
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_PENDING);
}

}  // namespace
}  // namespace fairlead::core::testing
