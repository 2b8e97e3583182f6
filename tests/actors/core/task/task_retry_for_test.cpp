// How long a step is retried: retry_for sums the waits between attempts.

#include "actors/core/task/restore.hpp"
#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

v1::StepDefinition patient(std::int64_t retry_for_ms, std::uint32_t attempts = 0) {
  auto out = step("a");
  out.set_attempts(attempts);
  out.set_retry_for_ms(retry_for_ms);
  return out;
}

/// Fails the step until it gives up; the attempts that it made.
std::uint32_t fail_until_given_up(world& w, v1::FaultKind kind = v1::FAULT_KIND_TRANSIENT, std::int64_t attempt_ms = 0) {
  for (int i = 0; i < 1'000; ++i) {
    w.advance_ms(attempt_ms);
    w.fault(0, w.at(0).attempt(), kind);
    if (w.at(0).given_up()) return w.at(0).attempt();
    w.now_ms = w.at(0).not_before_unix_ms();
    w.recover(0);
  }
  ADD_FAILURE() << "it never gives up";
  return 0;
}

TEST(task_retry_for, gives_up_when_the_waits_reach_it_and_not_before) {
  world w{graph({patient(60'000)})};
  w.started();
  const auto from = w.now_ms;
  const auto attempts = fail_until_given_up(w);
  EXPECT_EQ(w.now_ms - from, 60'000) << "the last attempt comes when the time is over";
  EXPECT_GT(attempts, 5u);
  EXPECT_EQ(w.record.parked_reason(),
            "step a failed (http_503) and was retried for 1m in " + std::to_string(attempts) + " attempts: told by the service");
}

TEST(task_retry_for, does_not_count_the_attempts_themselves) {
  world quick{graph({patient(60'000)})};
  quick.started();
  world slow{graph({patient(60'000)})};
  slow.started();
  EXPECT_EQ(fail_until_given_up(quick), fail_until_given_up(slow, v1::FAULT_KIND_TRANSIENT, 4'000));
}

TEST(task_retry_for, does_not_count_time_in_which_nobody_looked) {
  world w{graph({patient(60'000)})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  w.advance_ms(7'200'000);
  w.recover(0);
  EXPECT_FALSE(w.fault(0, 2, v1::FAULT_KIND_TRANSIENT).parked) << "the node was down for two hours";
}

TEST(task_retry_for, ends_at_the_attempts_where_both_are_given) {
  world w{graph({patient(3'600'000, 3)})};
  w.started();
  EXPECT_EQ(fail_until_given_up(w), 3u);
  EXPECT_EQ(w.record.parked_reason(), "step a failed (http_503) on the last of 3 attempts: told by the service");
}

TEST(task_retry_for, begins_anew_when_an_operator_retries) {
  world w{graph({patient(60'000)})};
  w.started();
  const auto first = fail_until_given_up(w);
  w.operate(v1::OPERATOR_VERB_RETRY, "a");
  EXPECT_GE(fail_until_given_up(w), 2 * first - 4);
}

TEST(task_retry_for, gives_a_service_the_pause_that_it_asks_for) {
  world w{graph({patient(60'000)})};
  w.started();
  attempt_ended e;
  e.attempt = 1;
  e.fault.emplace();
  e.fault->set_kind(v1::FAULT_KIND_TRANSIENT);
  e.fault->set_retry_after_ms(120'000);
  EXPECT_FALSE(w.apply(e).parked);
  EXPECT_GE(w.at(0).not_before_unix_ms() - w.now_ms, 120'000);
  w.now_ms = w.at(0).not_before_unix_ms();
  w.recover(0);
  EXPECT_TRUE(w.fault(0, 2, v1::FAULT_KIND_TRANSIENT).parked) << "that was the last attempt";
}

TEST(task_retry_for, counts_time_behind_an_open_breaker) {
  world w{graph({patient(60'000)})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  w.agents.instances["n1/svc"].capacity = 0;
  w.agents.blocked["svc"] = 30'000;
  w.now_ms = w.at(0).not_before_unix_ms();
  w.recover(0);
  ASSERT_EQ(w.at(0).state(), v1::STEP_STATE_PENDING);
  w.advance_ms(30'000);
  w.agents.blocked["svc"] = 60'000;
  w.apply(task_due{});
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_PENDING) << "half of the time, and the backoff before";
  w.advance_ms(30'000);
  w.agents.blocked["svc"] = 90'000;
  EXPECT_TRUE(w.apply(task_due{}).parked);
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_FAILED);
}

/// Its service has been blocked for half of the step's time, and a pause follows.
world behind_a_breaker(const std::vector<v1::StepDefinition>& beside = {}) {
  std::vector<v1::StepDefinition> all{patient(60'000)};
  all.insert(all.end(), beside.begin(), beside.end());
  world w{graph(all)};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  w.agents.instances["n1/svc"].capacity = 0;
  w.now_ms = w.at(0).not_before_unix_ms();
  w.recover(0);
  w.advance_ms(30'000);
  w.agents.blocked["svc"] = 30'000;
  w.apply(task_due{});
  return w;
}

TEST(task_retry_for, does_not_count_time_behind_a_breaker_while_the_task_is_paused) {
  auto w = behind_a_breaker();
  w.operate(v1::OPERATOR_VERB_PAUSE);
  w.advance_ms(3'600'000);
  w.agents.blocked["svc"] += 3'600'000;
  w.operate(v1::OPERATOR_VERB_RESUME);
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_PENDING);
  w.advance_ms(10'000);
  w.agents.blocked["svc"] += 10'000;
  EXPECT_FALSE(w.apply(task_due{}).parked);
  EXPECT_LT(w.at(0).waited_ms(), 41'000);
  w.advance_ms(30'000);
  w.agents.blocked["svc"] += 30'000;
  EXPECT_TRUE(w.apply(task_due{}).parked);
}

TEST(task_retry_for, goes_on_counting_time_behind_a_breaker_in_another_process) {
  auto w = behind_a_breaker();
  for (const std::int64_t counted_ms : {10'000, 20'000}) {  // from the start of that process
    w.advance_ms(10'000);
    w.agents.blocked["svc"] = counted_ms;
    EXPECT_FALSE(w.apply(task_due{}).parked);
  }
  w.advance_ms(10'000);
  w.agents.blocked["svc"] = 30'000;
  EXPECT_TRUE(w.apply(task_due{}).parked);
}

TEST(task_retry_for, another_step_that_is_tried_again_meanwhile_keeps_no_step_from_giving_up_behind_a_breaker) {
  auto other = step("b");
  other.set_attempts(100);
  auto w = behind_a_breaker({other});
  w.advance_ms(60'000);
  w.agents.blocked["svc"] = 90'000;
  w.fault(1, 1, v1::FAULT_KIND_TRANSIENT);
  w.now_ms = w.at(1).not_before_unix_ms();
  w.recover(1);
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_FAILED);
  EXPECT_TRUE(w.at(0).given_up());
}

TEST(task_retry_for, a_step_that_was_never_tried_waits_for_its_service_as_long_as_it_takes) {
  world w{graph({patient(60'000)})};
  w.agents.instances["n1/svc"].capacity = 0;
  w.started();
  w.agents.blocked["svc"] = 7'200'000;
  w.advance_ms(7'200'000);
  EXPECT_FALSE(w.apply(task_due{}).parked);
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_PENDING);
}

TEST(task_retry_for, a_restarted_process_loses_no_more_than_its_own_count) {
  world w{graph({patient(60'000)})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  w.agents.instances["n1/svc"].capacity = 0;
  w.agents.blocked["svc"] = 3'600'000;
  w.now_ms = w.at(0).not_before_unix_ms();
  w.recover(0);
  w.agents.blocked["svc"] = 1'000;  // another process counts from its own start
  w.advance_ms(30'000);
  EXPECT_FALSE(w.apply(task_due{}).parked);
  EXPECT_LT(w.at(0).waited_ms(), 60'000);
}

TEST(task_retry_for, an_agent_that_dies_with_the_step_again_and_again_is_given_a_pause) {
  world w{graph({patient(60'000)})};
  w.started();
  w.agents.replace("n1/svc");
  EXPECT_EQ(w.apply(agent_replaced{"n1/svc", 2}).performs.size(), 1u) << "the first time at once";
  w.agents.replace("n1/svc");
  EXPECT_TRUE(w.apply(agent_replaced{"n1/svc", 3}).performs.empty());
  EXPECT_GT(w.at(0).not_before_unix_ms(), w.now_ms);
}

v1::StepDefinition with_rule(v1::StepDefinition of, const std::string& code, std::uint32_t attempts) {
  auto& rule = *of.add_retry();
  rule.add_on(code);
  rule.set_attempts(attempts);
  return of;
}

TEST(task_rules, keep_their_counts_through_a_restore) {
  world w{graph({with_rule(step("a"), "busy", 2)})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT, "busy");
  ASSERT_TRUE(restore_task(w.record, start_ms, from_unix_ms(w.now_ms)));
  ASSERT_EQ(w.at(0).retried_size(), 1);
  EXPECT_EQ(w.at(0).retried(0).failed(), 1U);
  w.agents.replace("n1/svc");
  w.apply(task_due{});
  ASSERT_EQ(w.at(0).state(), v1::STEP_STATE_RUNNING);
  EXPECT_TRUE(w.fault(0, w.at(0).attempt(), v1::FAULT_KIND_TRANSIENT, "busy").parked);
  EXPECT_EQ(w.record.parked_reason(),
            "step a failed (busy) on the last of 2 attempts of its retry rule for busy, and an earlier one is in "
            "doubt: told by the service");
}

TEST(task_rules, for_all_codes_leave_the_faults_of_the_scheduler_to_the_step) {
  auto one = with_rule(step("a"), "*", 1);
  one.set_callback_ms(1'000);
  world w{graph({one})};
  w.started();
  w.outcome(0, 1);
  w.advance_ms(1'000);
  w.recover(0);
  EXPECT_EQ(w.at(0).fault().code(), "callback_timeout");
  EXPECT_FALSE(w.record.parked()) << "the rule would allow no other attempt";
  EXPECT_EQ(w.at(0).retried_size(), 0);
}

TEST(task_rules, an_agent_that_dies_counts_for_its_rule_and_comes_at_once_all_the_same) {
  world w{graph({with_rule(step("a"), "agent_lost", 2)})};
  w.started();
  w.agents.replace("n1/svc");
  EXPECT_EQ(w.apply(agent_replaced{"n1/svc", 2}).performs.size(), 1u);
  w.agents.replace("n1/svc");
  EXPECT_TRUE(w.apply(agent_replaced{"n1/svc", 3}).parked);
}

TEST(task_rules, a_step_without_them_stores_nothing_of_them) {
  world w{graph({step("a")})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  EXPECT_EQ(w.at(0).retried_size(), 0);
}

TEST(task_retry_for, begins_anew_with_another_input_also_while_the_step_waits_for_an_instance) {
  auto a = step("a");
  a.set_attempts(2);
  world w{graph({a})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  w.agents.instances.at("n1/svc").capacity = 0;
  w.now_ms = w.at(0).not_before_unix_ms();
  w.recover(0);
  ASSERT_EQ(w.at(0).state(), v1::STEP_STATE_PENDING);
  ASSERT_FALSE(w.operate(v1::OPERATOR_VERB_RETRY, "a", R"({"n":2})").refused);
  w.agents.instances.at("n1/svc").capacity = 1;
  ASSERT_EQ(w.apply(slot_freed{}).performs.size(), 1u);
  EXPECT_FALSE(w.fault(0, 2, v1::FAULT_KIND_TRANSIENT).parked) << "the first of two";
  EXPECT_GT(w.at(0).not_before_unix_ms(), w.now_ms);
}

}  // namespace
}  // namespace fairlead::core::testing
