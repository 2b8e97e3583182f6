// The end of a task as failed: by its workflow's answer, or by an operator.

#include "actors/core/task/standing.hpp"
#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

std::string last_detail(const world& w) { return w.record.recent(w.record.recent_size() - 1).detail(); }

TEST(task_fail, ends_the_task_and_leaves_what_was_done) {
  world w{failing({step("a"), step("b", {"a"}), step("c", {"b"})})};
  w.started();
  w.outcome(0, 1);
  const auto made = w.fault(1, 1, v1::FAULT_KIND_PERMANENT, "http_409");
  EXPECT_TRUE(made.ended);
  EXPECT_TRUE(made.alerts.empty());
  EXPECT_FALSE(made.answered_undo) << "the brake counts only tasks that would be undone";
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_FAILED);
  EXPECT_FALSE(w.record.failing());
  EXPECT_EQ(w.record.failed_reason(), "step b failed (http_409) and another attempt cannot help: told by the service");
  EXPECT_EQ(last_detail(w), "stands: a");
  EXPECT_EQ(w.record.due_unix_ms(), 0);
}

TEST(task_fail, waits_for_attempts_in_progress_and_starts_nothing) {
  world w{failing({step("a"), step("b"), step("c", {"b"})})};
  w.started();
  EXPECT_FALSE(w.fault(0, 1, v1::FAULT_KIND_PERMANENT).ended);
  EXPECT_TRUE(w.record.failing());
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_RUNNING);
  const auto made = w.outcome(1, 1);
  EXPECT_TRUE(made.performs.empty());
  EXPECT_TRUE(made.ended);
  EXPECT_EQ(last_detail(w), "stands: b");
}

TEST(task_fail, does_not_repeat_an_attempt_that_ends_badly_meanwhile) {
  world w{failing({step("a"), step("b")})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
  EXPECT_TRUE(w.fault(1, 1, v1::FAULT_KIND_TRANSIENT).ended);
  EXPECT_EQ(w.at(1).state(), v1::STEP_STATE_FAILED);
  EXPECT_EQ(last_detail(w), "nothing was done");
}

TEST(task_fail, parks_instead_while_a_step_is_in_doubt) {
  world w{failing({step("a"), step("b")})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
  EXPECT_TRUE(w.fault(1, 1, v1::FAULT_KIND_IN_DOUBT, "timed_out").parked);
  EXPECT_TRUE(w.record.failing());
  EXPECT_EQ(w.record.parked_reason().rfind("step b is in doubt (timed_out) and the task is to fail: step a failed", 0), 0u);
  // Settled by hand, the task fails.
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_SETTLE_COMPLETED, "b", "{}").ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_FAILED);
  EXPECT_EQ(last_detail(w), "stands: b");
}

TEST(task_fail, parks_a_step_whose_last_attempt_is_in_doubt) {
  auto once = step("a");
  once.set_attempts(1);
  world w{failing({once})};
  w.started();
  EXPECT_TRUE(w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT, "timed_out").parked);
  EXPECT_FALSE(w.record.failing());
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_RUNNING);
}

TEST(task_fail, names_doubt_in_the_end_where_the_step_says_so) {
  world w{failing({in_doubt_fail(step("a"))})};
  w.started();
  EXPECT_TRUE(w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT, "timed_out").ended) << "no further attempt";
  EXPECT_EQ(w.record.failed_reason(), "step a is in doubt (timed_out) and its workflow says in_doubt: fail: told by the service");
  EXPECT_EQ(last_detail(w), "in doubt: a");
  EXPECT_TRUE(w.at(0).doubtful());
}

TEST(task_fail, asks_the_agent_first_where_it_can_look_up) {
  world w{failing({in_doubt_fail(step("a"))})};
  w.agents.lookups.insert("do_a");
  w.started();
  const auto asked = w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  ASSERT_EQ(asked.performs.size(), 1u);
  EXPECT_EQ(asked.performs[0].message.direction(), v1::DIRECTION_LOOKUP);
  EXPECT_TRUE(w.outcome_of(0, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_DONE, "{}").ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
}

TEST(task_fail, looks_up_what_is_in_doubt_before_it_ends) {
  world w{failing({step("a"), step("b")})};
  w.agents.lookups.insert("do_b");
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
  const auto asked = w.fault(1, 1, v1::FAULT_KIND_IN_DOUBT);
  ASSERT_EQ(asked.performs.size(), 1u);
  EXPECT_EQ(asked.performs[0].message.direction(), v1::DIRECTION_LOOKUP);
  EXPECT_FALSE(w.record.parked());
  // A look-up that fails is tried again.
  w.fault_of(1, v1::DIRECTION_LOOKUP, v1::FAULT_KIND_TRANSIENT);
  EXPECT_GT(w.at(1).not_before_unix_ms(), 0);
  w.now_ms = w.at(1).not_before_unix_ms();
  EXPECT_EQ(w.recover(1).performs.size(), 1u);
  EXPECT_TRUE(w.outcome_of(1, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_NEVER_HAPPENED).ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_FAILED);
  EXPECT_EQ(last_detail(w), "nothing was done");
}

TEST(task_fail, is_allowed_after_the_pivot) {
  auto send = with_undo_none(step("send"));
  send.set_pivot(true);
  world w{failing({send, step("log", {"send"})})};
  w.started();
  w.outcome(0, 1);
  EXPECT_TRUE(w.fault(1, 1, v1::FAULT_KIND_PERMANENT).ended);
  EXPECT_EQ(last_detail(w), "stands: send");
}

TEST(task_fail, ends_a_task_whose_time_is_over) {
  auto definition = failing({step("a")});
  definition.set_timeout_ms(1'000);
  world w{definition};
  w.started();
  w.advance_ms(1'000);
  w.apply(task_due{});
  EXPECT_TRUE(w.record.failing());
  EXPECT_GT(w.record.due_unix_ms(), w.now_ms) << "the end of the lease, not the timeout again";
  EXPECT_TRUE(w.outcome(0, 1).ended);
  EXPECT_EQ(w.record.failed_reason(), "the task did not end within its timeout of 1s");
}

v1::StepDefinition tried_once(v1::StepDefinition of) {
  of.set_attempts(1);
  return of;
}

TEST(task_fail, because_its_time_is_over_is_not_taken_back_by_settling_a_step) {
  auto definition = failing({tried_once(step("a"))});
  definition.set_timeout_ms(1'000);
  world w{definition};
  w.started();
  w.advance_ms(1'000);
  w.apply(task_due{});
  ASSERT_TRUE(w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT).parked);
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_SETTLE_COMPLETED, "a", "{}").ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_FAILED);
  EXPECT_EQ(w.record.failed_reason(), "the task did not end within its timeout of 1s");
}

TEST(task_fail, because_of_a_step_is_taken_back_by_settling_it_after_a_timeout_that_came_after_the_pivot) {
  auto send = with_undo_none(step("send"));
  send.set_pivot(true);
  auto definition = failing({send, step("log", {"send"}), step("mail", {"send"})});
  definition.set_timeout_ms(1'000);
  world w{definition};
  w.started();
  w.outcome(0, 1);
  w.advance_ms(1'000);
  w.apply(task_due{});
  ASSERT_TRUE(w.record.timed_out());
  ASSERT_FALSE(w.record.failing());
  w.fault(1, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_TRUE(w.record.failing());
  ASSERT_FALSE(w.operate(v1::OPERATOR_VERB_SETTLE_COMPLETED, "log", "{}").refused);
  EXPECT_FALSE(w.record.failing());
  EXPECT_TRUE(w.outcome(2, 1).ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
}

TEST(task_fail, because_of_what_was_passed_over_is_taken_back_by_settling_it_after_the_timeout_that_a_retry_has_overridden) {
  auto read = with_undo_none(tried_once(step("read")));
  read.set_on_failure(v1::ON_FAILURE_CONTINUE);
  auto definition = graph({read}, 10'000);
  definition.set_ends_failed(true);
  world w{definition};
  w.started();
  ASSERT_TRUE(w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT).parked);
  ASSERT_TRUE(w.record.failing());
  w.advance_ms(10'000);
  ASSERT_FALSE(w.operate(v1::OPERATOR_VERB_RETRY).refused);
  ASSERT_TRUE(w.record.parked());
  ASSERT_TRUE(w.record.timed_out());
  ASSERT_TRUE(w.record.failing());
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_SETTLE_COMPLETED, "read", "{}").ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
}

TEST(task_fail, is_taken_back_by_a_retry) {
  world w{failing({step("a"), step("b"), step("c")})};
  w.started();
  w.fault(2, 1, v1::FAULT_KIND_TRANSIENT);
  w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
  EXPECT_EQ(w.at(2).not_before_unix_ms(), 0) << "what waited for another attempt is let go";
  const auto made = w.operate(v1::OPERATOR_VERB_RETRY);
  EXPECT_FALSE(w.record.failing());
  EXPECT_EQ(made.performs.size(), 2u) << "and taken up again";
}

TEST(task_fail, can_be_undone_afterwards) {
  world w{failing({undoable(step("a")), undoable(step("b", {"a"}))})};
  w.started();
  w.outcome(0, 1);
  w.fault(1, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_EQ(w.record.state(), v1::TASK_STATE_FAILED);
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_CANCEL).refused);
  EXPECT_EQ(w.operate(v1::OPERATOR_VERB_UNDO).performs.size(), 1u);
  EXPECT_TRUE(w.undone(0).ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDONE);
}

TEST(task_fail, waits_for_a_look_up_behind_an_open_breaker_no_longer_than_its_retry_for) {
  auto pay = step("pay");
  pay.set_attempts(0);
  pay.set_retry_for_ms(10'000);
  world w{failing({pay, step("b")})};
  w.agents.lookups = {"do_pay"};
  w.started();
  w.fault(1, 1, v1::FAULT_KIND_PERMANENT);
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  w.fault_of(0, v1::DIRECTION_LOOKUP, v1::FAULT_KIND_TRANSIENT);
  w.agents.instances["n1/svc"].capacity = 0;
  w.now_ms = w.at(0).not_before_unix_ms();
  w.recover(0);
  ASSERT_FALSE(w.record.parked());
  w.agents.blocked["svc"] = 60'000;
  w.advance_ms(60'000);
  EXPECT_TRUE(w.apply(task_due{}).parked);
  EXPECT_TRUE(w.at(0).given_up());
}

// ---- terminate ----

TEST(task_terminate, ends_a_pending_task_at_once) {
  world w{graph({step("a")})};
  w.submit();
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_TERMINATE).ended);
  EXPECT_EQ(w.record.failed_reason(), "terminated by ann: it was time");
  EXPECT_EQ(last_detail(w), "nothing was done");
}

TEST(task_terminate, waits_for_attempts_in_progress_and_never_parks) {
  world w{graph({step("a"), step("b", {"a"})})};
  w.agents.lookups.insert("do_a");
  w.started();
  EXPECT_FALSE(w.operate(v1::OPERATOR_VERB_TERMINATE).ended);
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_TERMINATE).refused) << "it is under way";
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_RETRY).refused);
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_PAUSE).refused);
  w.advance_ms(5'000);
  EXPECT_TRUE(w.recover(0).ended) << "no look-up either";
  EXPECT_EQ(last_detail(w), "in doubt: a");
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_TERMINATE).refused) << "it has ended";
}

TEST(task_terminate, now_ends_the_task_in_the_same_commit_and_refuses_outcomes_afterwards) {
  world w{graph({step("a")})};
  w.started();
  EXPECT_TRUE(w.terminate_now().ended);
  EXPECT_EQ(w.at(0).fault().code(), "terminated");
  EXPECT_EQ(last_detail(w), "in doubt: a");
  EXPECT_FALSE(w.outcome(0, 1).accepted);
  EXPECT_EQ(w.agents.instances.at("n1/svc").held, 0);
  EXPECT_EQ(w.agents.told, std::vector<std::string>{"step 0 lost"}) << "an attempt that was handed over counts against the limits";
}

TEST(task_terminate, now_may_follow_one_that_waits) {
  world w{graph({step("a")})};
  w.started();
  w.operate(v1::OPERATOR_VERB_TERMINATE);
  EXPECT_TRUE(w.terminate_now().ended);
  EXPECT_EQ(w.record.failed_reason(), "terminated by ann: it was time") << "the first reason stays";
}

TEST(task_terminate, ends_parked_and_paused_tasks) {
  world w{graph({step("a"), step("b")})};
  w.started();
  w.outcome(1, 1);
  w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_TRUE(w.record.parked());
  w.operate(v1::OPERATOR_VERB_PAUSE);
  const auto made = w.operate(v1::OPERATOR_VERB_TERMINATE);
  EXPECT_TRUE(made.ended);
  EXPECT_TRUE(made.unparked) << "its alert is resolved";
  EXPECT_FALSE(w.record.parked() || w.record.paused());
}

TEST(task_terminate, ends_an_undo_and_says_what_is_undone) {
  auto definition = graph({undoable(step("a")), undoable(step("b", {"a"})), undoable(step("c", {"b"}))});
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  world w{definition};
  w.started();
  w.outcome(0, 1);
  w.outcome(1, 1);
  w.fault(2, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_EQ(w.record.state(), v1::TASK_STATE_UNDOING);
  w.undone(1);
  w.operate(v1::OPERATOR_VERB_TERMINATE);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDOING);
  EXPECT_TRUE(w.fault_of(0, v1::DIRECTION_UNDO, v1::FAULT_KIND_TRANSIENT).ended) << "an undo is not repeated";
  EXPECT_EQ(last_detail(w), "stands: a; undone: b");
}

TEST(task_terminate, is_what_a_task_without_undo_is_offered) {
  world w{graph({step("a")})};
  w.started();
  const auto refused = w.operate(v1::OPERATOR_VERB_CANCEL).refused;
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->remedy.rfind("fairlead task terminate t1 ends the task", 0), 0u);
}

// ---- in_doubt: fail where the answer is undo ----

TEST(task_fail, a_step_that_says_in_doubt_fail_is_undone_as_in_doubt) {
  auto definition = graph({in_doubt_fail(undoable(step("a")))});
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  world w{definition};
  w.started();
  const auto made = w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDOING);
  ASSERT_EQ(made.performs.size(), 1u);
  EXPECT_TRUE(made.performs[0].message.in_doubt());
}

v1::WorkflowDefinition two_undoable() {
  auto undoable = [](v1::StepDefinition of) {
    of.mutable_undo()->set_call("take-back");
    return of;
  };
  return graph({undoable(step("a")), undoable(step("b"))});
}

TEST(task_fail, a_retry_does_not_cut_short_the_wait_for_an_abandoned_attempt) {
  world w{two_undoable()};
  w.started();
  w.outcome(0, 1);
  w.terminate_now();
  ASSERT_EQ(w.record.state(), v1::TASK_STATE_FAILED);
  ASSERT_FALSE(w.operate(v1::OPERATOR_VERB_UNDO).refused);
  const auto until = w.at(1).not_before_unix_ms();
  EXPECT_GT(until, w.now_ms) << "the agent may still be at it";
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_RETRY).refused);
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_RETRY, "b").refused);
  EXPECT_EQ(w.at(1).not_before_unix_ms(), until);
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_COMPLETED) << "nothing is undone meanwhile";
}

TEST(task_fail, what_an_abandoned_attempt_has_done_is_settled_after_its_end) {
  world w{two_undoable()};
  w.started();
  w.outcome(0, 1);
  w.terminate_now();
  ASSERT_FALSE(w.operate(v1::OPERATOR_VERB_UNDO).refused);
  for (const auto verb : {v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED, v1::OPERATOR_VERB_SETTLE_COMPLETED, v1::OPERATOR_VERB_SKIP}) {
    const auto refused = w.operate(verb, "b", "1").refused;
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->sentence, "an attempt of step b is in progress");
  }
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_COMPLETED) << "nothing is undone while the agent may still be at it";
}

TEST(task_fail, a_second_terminate_does_not_cut_short_the_wait_for_an_abandoned_attempt) {
  world w{two_undoable()};
  w.started();
  w.outcome(0, 1);
  w.terminate_now();
  ASSERT_FALSE(w.operate(v1::OPERATOR_VERB_UNDO).refused);
  const auto until = w.at(1).not_before_unix_ms();
  w.operate(v1::OPERATOR_VERB_TERMINATE);
  ASSERT_EQ(w.record.state(), v1::TASK_STATE_FAILED);
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_UNDO).performs.empty());
  EXPECT_EQ(w.at(1).not_before_unix_ms(), until);
}

TEST(task_fail, an_undo_that_is_begun_again_makes_one_attempt_though_the_one_before_has_used_up_all) {
  auto a = undoable(step("a"));
  a.mutable_undo()->set_attempts(1);
  world w{graph({a})};
  w.started();
  ASSERT_TRUE(w.outcome(0, 1).ended);
  ASSERT_EQ(w.operate(v1::OPERATOR_VERB_UNDO).performs.size(), 1u);
  ASSERT_TRUE(w.terminate_now().ended);
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_UNDO).performs.empty()) << "the agent may still be at it";
  w.now_ms = w.at(0).not_before_unix_ms();
  EXPECT_EQ(w.recover(0).performs.size(), 1u);
  EXPECT_EQ(w.at(0).undo().made(), 2u);
  EXPECT_TRUE(w.fault_of(0, v1::DIRECTION_UNDO, v1::FAULT_KIND_TRANSIENT).parked) << "no third one by itself";
}

TEST(task_fail, a_second_terminate_keeps_what_a_callback_has_said_of_an_abandoned_attempt) {
  auto definition = two_undoable();
  definition.mutable_steps(1)->set_callback_ms(60'000);
  world w{definition};
  w.started();
  w.outcome(0, 1);
  w.terminate_now();
  ASSERT_EQ(w.record.state(), v1::TASK_STATE_FAILED);
  ASSERT_FALSE(w.operate(v1::OPERATOR_VERB_UNDO).refused);
  ASSERT_FALSE(w.callback(1, 0, R"({"v":4})").refused);
  ASSERT_TRUE(w.at(1).has_early_answer()) << "its agent may still be at it";
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_TERMINATE).ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_FAILED);
  EXPECT_EQ(w.at(1).state(), v1::STEP_STATE_COMPLETED);
  EXPECT_EQ(w.at(1).output().json(), R"({"v":4})");
  EXPECT_FALSE(w.at(1).has_early_answer());
  EXPECT_EQ(last_detail(w), "stands: a, b");
  // Nothing is undone before the agent must have stopped.
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_UNDO).performs.empty());
  w.advance_ms(w.at(1).not_before_unix_ms() - w.now_ms);
  EXPECT_EQ(w.apply(task_due{}).performs.size(), 2u);
}

TEST(task_fail, an_abandoned_undo_or_look_up_is_not_repeated_before_its_end_although_the_clock_is_set_back) {
  auto definition = two_undoable();
  definition.mutable_steps(0)->mutable_undo()->set_timeout_ms(5'000);
  world w{definition};
  w.agents.lookups.insert("do_b");
  w.started();
  w.outcome(0, 1);
  w.operate(v1::OPERATOR_VERB_CANCEL);
  w.fault(1, 1, v1::FAULT_KIND_IN_DOUBT);
  ASSERT_EQ(w.at(0).direction(), v1::DIRECTION_UNDO);
  ASSERT_EQ(w.at(1).direction(), v1::DIRECTION_LOOKUP);
  w.terminate_now();
  ASSERT_TRUE(w.operate(v1::OPERATOR_VERB_UNDO).performs.empty());
  w.now_ms -= 3'600'000;
  EXPECT_TRUE(w.apply(clock_set_back{}).performs.empty());
  for (const auto* name : {"a", "b"}) EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_RETRY, name).refused) << name;
  for (int i = 0; i < 2; ++i) EXPECT_GT(w.at(i).not_before_unix_ms(), w.now_ms + 1'000);
}

TEST(task_end, a_step_that_was_given_back_unbegun_reads_the_end_that_the_task_takes_then) {
  auto definition = graph({undoable(step("a")), at_end(step("unlock", {}, R"({"end":"${ .task.end }"})"), v1::FINALLY_ALWAYS)}, 60'000);
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  world w{definition};
  w.started();
  const auto first = w.outcome(0, 1);
  ASSERT_EQ(first.performs.size(), 1U);
  EXPECT_EQ(first.performs.front().message.input(), R"({"end":"completed"})");
  w.agents.instances.at("n1/svc").capacity = 0;
  w.apply(attempt_refused{1, v1::DIRECTION_PERFORM, 1, true});
  w.agents.instances.at("n1/svc").capacity = 1;
  w.advance_ms(60'000);
  const auto made = w.apply(task_due{});
  ASSERT_EQ(made.performs.size(), 1U);
  EXPECT_EQ(made.performs.front().message.input(), R"({"end":"undone"})");
}

TEST(task_end, a_step_that_was_given_up_does_not_keep_the_task_failing) {
  auto definition = graph({step("x"), at_end(step("unlock"), v1::FINALLY_ALWAYS)});
  definition.set_on_failure(v1::ON_FAILURE_FAIL);
  world w{definition};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_TRUE(w.record.failing());
  w.operate(v1::OPERATOR_VERB_PAUSE);
  w.fault(1, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_TRUE(w.at(1).given_up());
  ASSERT_FALSE(w.operate(v1::OPERATOR_VERB_SETTLE_COMPLETED, "x", "{}").refused);
  EXPECT_FALSE(w.record.failing());
}

TEST(task_end, an_undo_that_is_given_up_parks_the_task_while_a_step_after_a_failure_waits) {
  auto tell = at_end(step("tell"), v1::FINALLY_AFTER_FAILURE);
  tell.set_callback_ms(600'000);
  auto definition = graph({undoable(step("a")), step("x"), tell});
  definition.set_on_failure(v1::ON_FAILURE_FAIL);
  world w{definition};
  w.started();
  w.outcome(0, 1);
  w.fault(1, 1, v1::FAULT_KIND_PERMANENT);
  w.outcome(2, 1, "null");
  ASSERT_TRUE(w.at(2).awaits_callback());
  w.operate(v1::OPERATOR_VERB_CANCEL);
  ASSERT_EQ(w.at(0).state(), v1::STEP_STATE_UNDOING);
  EXPECT_TRUE(w.fault_of(0, v1::DIRECTION_UNDO, v1::FAULT_KIND_PERMANENT).parked);
}

}  // namespace
}  // namespace fairlead::core::testing
