// Undo by the rules of docs/undo.md, where a transcript would not say why.

#include "actors/core/task/standing.hpp"
#include "actors/core/types/message_types.hpp"
#include "messages/api.pb.h"
#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

v1::WorkflowDefinition undoing(const std::vector<v1::StepDefinition>& steps) {
  auto out = graph(steps);
  out.set_on_failure(v1::ON_FAILURE_UNDO);
  return out;
}

std::vector<std::string> undos_of(const decision& made) {
  std::vector<std::string> out;
  for (const auto& one : made.performs)
    if (one.message.direction() == v1::DIRECTION_UNDO) out.push_back(one.message.step_path());
  return out;
}

using names = std::vector<std::string>;

TEST(task_undo, undoes_parallel_branches_side_by_side_and_what_they_came_from_after_both) {
  world w{undoing({undoable(step("root")), undoable(step("left", {"root"})), undoable(step("right", {"root"})),
                   undoable(step("last", {"left", "right"}))})};
  w.started();
  w.outcome(0, 1);
  w.outcome(1, 1);
  w.outcome(2, 1);
  EXPECT_EQ(undos_of(w.fault(3, 1, v1::FAULT_KIND_PERMANENT)).size(), 2u);
  EXPECT_EQ(undos_of(w.undone(1)), names{}) << "root is still needed by right";
  EXPECT_EQ(undos_of(w.undone(2)), names{"root"});
  EXPECT_TRUE(w.undone(0).ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDONE);
}

TEST(task_undo, does_not_pass_over_a_step_that_has_nothing_to_undo_between_two_that_have) {
  world w{undoing({undoable(step("a")), with_undo_none(step("b", {"a"})), undoable(step("c", {"b"})), undoable(step("d", {"c"}))})};
  w.started();
  for (std::uint32_t i = 0; i < 3; ++i) w.outcome(i, 1);
  EXPECT_EQ(undos_of(w.fault(3, 1, v1::FAULT_KIND_PERMANENT)), names{"c"}) << "a must wait for c though only b stands between them";
  EXPECT_EQ(undos_of(w.undone(2)), names{"a"});
  EXPECT_TRUE(w.undone(0).ended);
  EXPECT_EQ(w.at(1).state(), v1::STEP_STATE_COMPLETED) << "what happened and stays is not called undone";
}

TEST(task_undo, takes_a_step_for_doubtful_when_only_an_earlier_attempt_was) {
  world w{undoing({undoable(step("a"))})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  w.advance_ms(1'000);
  w.recover(0);
  const auto made = w.fault(0, 2, v1::FAULT_KIND_PERMANENT);
  ASSERT_EQ(undos_of(made), names{"a"}) << "the first attempt may have been carried out";
  EXPECT_TRUE(made.performs[0].message.in_doubt());
  EXPECT_EQ(made.performs[0].message.perform_key(), "t1/a/perform/0");
  EXPECT_EQ(made.performs[0].message.perform_output(), "null");
}

TEST(task_undo, leaves_alone_what_certainly_did_not_happen) {
  world w{undoing({undoable(step("a"))})};
  w.started();
  const auto made = w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
  EXPECT_TRUE(made.ended);
  EXPECT_TRUE(made.performs.empty());
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_FAILED);
}

TEST(task_undo, gives_the_undo_what_its_step_gave) {
  world w{undoing({undoable(step("a"), R"({"ref":"${ .steps.a.id }"})"), undoable(step("b", {"a"}))})};
  w.started();
  w.outcome(0, 1, R"({"id":"r-7"})");
  const auto made = w.fault(1, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_EQ(made.performs.size(), 1u);
  EXPECT_EQ(made.performs[0].message.input(), R"({"ref":"r-7"})");
  EXPECT_EQ(made.performs[0].message.perform_output(), R"({"id":"r-7"})");
  EXPECT_EQ(made.performs[0].message.call(), "undo_a");
}

TEST(task_undo, waits_for_a_person_when_the_undo_needs_an_output_that_nobody_knows) {
  world w{undoing({undoable(step("a"), R"({"ref":"${ .steps.a.id }"})")})};
  w.started();
  for (std::uint32_t attempt = 1; attempt <= 3; ++attempt) {
    w.fault(0, attempt, v1::FAULT_KIND_IN_DOUBT);
    w.advance_ms(1'000);
    w.recover(0);
  }
  EXPECT_TRUE(w.record.parked());
  EXPECT_NE(w.record.parked_reason().find("which is unknown"), std::string::npos) << w.record.parked_reason();
  const auto settled = w.operate(v1::OPERATOR_VERB_SETTLE_COMPLETED, "a", R"({"id":"r-9"})");
  ASSERT_EQ(settled.performs.size(), 1u) << text_of(settled);
  EXPECT_EQ(settled.performs[0].message.input(), R"({"ref":"r-9"})");
}

TEST(task_undo, looks_up_what_is_in_doubt_before_it_undoes) {
  world w{undoing({undoable(step("a")), undoable(step("b"))})};
  w.agents.lookups = {"do_a"};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  const auto made = w.operate(v1::OPERATOR_VERB_CANCEL);
  EXPECT_TRUE(made.performs.empty()) << "b drains";
  const auto drained = w.fault(1, 1, v1::FAULT_KIND_TRANSIENT);
  ASSERT_EQ(drained.performs.size(), 1u);
  EXPECT_EQ(drained.performs[0].message.direction(), v1::DIRECTION_LOOKUP);
  EXPECT_TRUE(w.outcome_of(0, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_NEVER_HAPPENED).ended);
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_PENDING);
}

TEST(task_undo, is_not_begun_after_a_pivot_whoever_asks) {
  auto mail = with_undo_none(step("mail", {"send"}));
  mail.set_on_failure(v1::ON_FAILURE_PARK);
  auto send = with_undo_none(step("send", {"pay"}));
  send.set_pivot(true);
  world w{undoing({undoable(step("pay")), send, mail})};
  w.started();
  w.outcome(0, 1);
  for (const auto verb : {v1::OPERATOR_VERB_UNDO, v1::OPERATOR_VERB_CANCEL}) {
    const auto refused = w.operate(verb);
    ASSERT_TRUE(refused.refused.has_value()) << "the pivot is out";
    EXPECT_NE(refused.refused->sentence.find("pivot send"), std::string::npos);
  }
  w.outcome(1, 1);
  EXPECT_TRUE(w.fault(2, 1, v1::FAULT_KIND_PERMANENT).parked);
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_UNDO).refused.has_value());
}

TEST(task_undo, that_its_parent_asks_for_in_vain_leaves_a_look_up_in_its_queue) {
  auto send = with_undo_none(step("send"));
  send.set_pivot(true);
  send.set_in_doubt(v1::IN_DOUBT_PARK);
  world w{undoing({send})};
  w.agents.lookups = {"do_send"};
  w.started();
  for (auto& [name, one] : w.agents.instances) one.capacity = 0;
  ASSERT_EQ(w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT).waiting.size(), 1u);
  operated asked;
  asked.action.set_verb(v1::OPERATOR_VERB_CANCEL);
  asked.by_parent = true;
  const auto made = w.apply(asked);
  EXPECT_TRUE(made.changed);
  EXPECT_EQ(made.waiting.size(), 1u) << "a task that an action has changed waits nowhere but where its decision says";
}

TEST(task_undo, undoes_when_the_pivot_itself_certainly_failed) {
  auto send = with_undo_none(step("send", {"pay"}));
  send.set_pivot(true);
  world w{undoing({undoable(step("pay")), send})};
  w.started();
  w.outcome(0, 1);
  EXPECT_EQ(undos_of(w.fault(1, 1, v1::FAULT_KIND_PERMANENT)), names{"pay"});
}

TEST(task_undo, of_a_completed_task_begins_when_an_operator_asks) {
  world w{graph({undoable(step("a")), undoable(step("b", {"a"}))})};
  w.started();
  w.outcome(0, 1);
  w.outcome(1, 1);
  ASSERT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_CANCEL).refused.has_value());
  EXPECT_EQ(undos_of(w.operate(v1::OPERATOR_VERB_UNDO)), names{"b"});
  EXPECT_EQ(w.record.finished_at_unix_ms(), 0);
  EXPECT_EQ(undos_of(w.undone(1)), names{"a"});
  EXPECT_TRUE(w.undone(0).ended);
}

TEST(task_undo, is_refused_where_the_workflow_does_not_say_how) {
  world w{graph({undoable(step("a")), step("b", {"a"})})};
  w.started();
  w.outcome(0, 1);
  w.outcome(1, 1);
  const auto refused = w.operate(v1::OPERATOR_VERB_UNDO);
  ASSERT_TRUE(refused.refused.has_value());
  EXPECT_NE(refused.refused->sentence.find("step b"), std::string::npos);
}

TEST(task_undo, of_a_pending_task_is_done_at_once) {
  world w{undoing({undoable(step("a"))})};
  w.submit();
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_CANCEL).ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDONE);
}

TEST(task_undo, begins_when_the_tasks_own_timeout_has_passed_but_not_twice) {
  auto definition = undoing({undoable(step("a"))});
  definition.set_timeout_ms(1'000);
  world w{definition};
  w.started();
  w.advance_ms(1'000);
  EXPECT_TRUE(w.apply(task_due{}).answered_undo);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDOING);
  EXPECT_FALSE(w.apply(task_due{}).answered_undo);
}

TEST(task_undo, goes_on_after_the_pivot_and_says_so_when_the_timeout_has_passed) {
  auto send = with_undo_none(step("send"));
  send.set_pivot(true);
  auto definition = undoing({send});
  definition.set_timeout_ms(1'000);
  world w{definition};
  w.started();
  w.advance_ms(1'000);
  const auto made = w.apply(task_due{});
  ASSERT_EQ(made.alerts.size(), 1u);
  EXPECT_EQ(made.alerts[0].kind(), v1::ALERT_KIND_TASK_TIMED_OUT);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_RUNNING);
  EXPECT_TRUE(w.apply(task_due{}).alerts.empty()) << "once";
  EXPECT_TRUE(w.outcome(0, 1).ended);
}

TEST(task_undo, is_not_parked_by_an_input_that_nobody_needs_any_more) {
  world w{undoing({undoable(step("a")), undoable(step("b", {}, R"({"n":"${ .input.n + 1 }"})"))})};
  w.started();
  w.outcome(0, 1);
  w.operate(v1::OPERATOR_VERB_CANCEL);
  ASSERT_EQ(w.record.state(), v1::TASK_STATE_UNDOING);
  EXPECT_FALSE(w.apply(expressions_evaluated{1, {}, error{v1::ERROR_CODE_EXPRESSION, "no", ""}}).changed);
  EXPECT_FALSE(w.record.parked());
}

TEST(task_undo, is_looked_up_once_though_its_undo_waits_for_an_expression) {
  world w{undoing({undoable(step("a"), R"({"n":"${ .input.n + 1 }"})"), undoable(step("b"))})};
  w.agents.lookups = {"do_a"};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  w.operate(v1::OPERATOR_VERB_CANCEL);
  w.fault(1, 1, v1::FAULT_KIND_TRANSIENT);
  EXPECT_EQ(w.outcome_of(0, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_UNKNOWN).evaluations.size(), 1u);
  const auto made = w.apply(expressions_evaluated{0, {"2"}, std::nullopt, v1::EXPRESSION_PART_UNDO_WITH});
  ASSERT_EQ(made.performs.size(), 1u);
  EXPECT_EQ(made.performs[0].message.direction(), v1::DIRECTION_UNDO);
  EXPECT_TRUE(made.performs[0].message.in_doubt());
}

TEST(task_undo, waits_for_an_agent_that_may_look_it_up) {
  world w{undoing({undoable(step("a"), R"({"ref":"${ .steps.a.id }"})")})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  const auto there = w.agents.instances;
  w.agents.instances.clear();
  EXPECT_FALSE(w.operate(v1::OPERATOR_VERB_CANCEL).parked);
  w.agents.instances = there;
  w.agents.lookups = {"do_a"};
  const auto made = w.apply(slot_freed{});
  ASSERT_EQ(made.performs.size(), 1u);
  EXPECT_EQ(made.performs[0].message.direction(), v1::DIRECTION_LOOKUP);
}

TEST(task_undo, held_by_the_brake_is_looked_at_now_and_then_whatever_is_due) {
  auto definition = undoing({undoable(step("a")), undoable(step("b"))});
  definition.set_timeout_ms(1'000);
  world w{definition};
  w.hold_undo = true;
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  w.fault(1, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_TRUE(w.record.undo_held());
  w.advance_ms(60'000);
  w.recover(0);
  EXPECT_EQ(w.record.due_unix_ms(), w.now_ms + 30'000) << "neither the timeout nor the backoff may keep it due for ever";
}

TEST(task_undo, held_by_the_brake_begins_after_its_release_though_only_a_waiting_step_is_asked_for) {
  world w{undoing({undoable(step("a")), undoable(step("b"))})};
  w.hold_undo = true;
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  w.fault(1, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_TRUE(w.record.undo_held());
  w.hold_undo = false;
  w.advance_ms(60'000);
  EXPECT_TRUE(w.recover(0).ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDONE);
}

/// `unlock` is performed when no other step is any more, and before the undo.
v1::WorkflowDefinition with_unlock() { return undoing({with_undo_none(step("a")), at_end(step("unlock"), v1::FINALLY_ALWAYS)}); }

TEST(task_undo, held_by_the_brake_goes_on_at_its_release_with_a_step_of_the_end_whose_pause_is_over) {
  auto definition = with_unlock();
  definition.set_timeout_ms(1'000);
  world w{definition};
  w.hold_undo = true;
  w.started();
  w.outcome(0, 1);
  w.advance_ms(1'000);
  w.apply(task_due{});
  ASSERT_TRUE(w.record.undo_held());
  w.fault(1, 1, v1::FAULT_KIND_TRANSIENT);
  ASSERT_GT(w.at(1).not_before_unix_ms(), w.now_ms);
  w.advance_ms(60'000);
  EXPECT_TRUE(w.recover(1).performs.empty()) << "the brake is on";
  w.hold_undo = false;
  EXPECT_EQ(w.recover(1).performs.size(), 1u) << "the Supervisor has asked for this step";
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDOING);
  EXPECT_EQ(w.at(1).not_before_unix_ms(), 0);
  EXPECT_TRUE(w.outcome(1, 2).ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDONE);
}

TEST(task_undo, of_a_paused_task_goes_on_at_once_with_a_step_of_the_end_whose_pause_is_over) {
  world w{with_unlock()};
  w.started();
  w.outcome(0, 1);
  w.fault(1, 1, v1::FAULT_KIND_TRANSIENT);
  w.operate(v1::OPERATOR_VERB_PAUSE);
  w.advance_ms(60'000);
  EXPECT_TRUE(w.recover(1).performs.empty());
  EXPECT_EQ(w.operate(v1::OPERATOR_VERB_CANCEL).performs.size(), 1u);
  EXPECT_TRUE(w.outcome(1, 2).ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDONE);
}

TEST(task_undo, held_by_the_brake_is_not_let_go_by_pausing_and_resuming) {
  auto definition = undoing({undoable(step("a"))});
  definition.set_timeout_ms(1'000);
  world w{definition};
  w.hold_undo = true;
  w.agents.instances["n1/svc"].capacity = 0;
  w.started();
  w.advance_ms(1'000);
  w.apply(task_due{});
  ASSERT_TRUE(w.record.undo_held());
  w.operate(v1::OPERATOR_VERB_PAUSE);
  w.operate(v1::OPERATOR_VERB_RESUME);
  EXPECT_TRUE(w.record.undo_held());
  EXPECT_FALSE(w.operate(v1::OPERATOR_VERB_RETRY).refused.has_value()) << "a retry is what saves it";
  EXPECT_FALSE(w.record.undo_held());
}

v1::StepDefinition also_if_failed(v1::StepDefinition of) {
  of.mutable_undo()->set_also_if_failed(true);
  return of;
}

TEST(task_undo, of_a_failed_step_says_that_nothing_is_in_doubt_and_has_no_output) {
  world w{undoing({undoable(step("a")), also_if_failed(undoable(step("b", {"a"}), R"({"of":"${ .task.id }","a":"${ .steps.a.id }"})"))})};
  w.started();
  w.outcome(0, 1, R"({"id":1})");
  const auto made = w.fault(1, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_EQ(undos_of(made), names{"b"}) << "a has to wait for it";
  const auto& undo = made.performs[0].message;
  EXPECT_FALSE(undo.in_doubt());
  EXPECT_EQ(undo.perform_output(), "null");
  EXPECT_EQ(undo.idempotency_key(), "t1/b/undo/0");
  EXPECT_EQ(undo.perform_key(), "t1/b/perform/0");
  EXPECT_EQ(undo.input(), R"({"of":"t1","a":1})");
  EXPECT_EQ(undos_of(w.undone(1)), names{"a"});
  EXPECT_TRUE(w.undone(0).ended);
  EXPECT_EQ(w.at(1).state(), v1::STEP_STATE_UNDONE);
}

TEST(task_undo, leaves_alone_a_step_that_has_failed_before_anything_was_sent) {
  auto typed = also_if_failed(undoable(step("a")));
  typed.set_input_type("fairlead.v1.StatesRequest");
  auto definition = undoing({typed});
  definition.set_types(*describe_types({v1::StatesRequest::descriptor()}));
  world w{definition};
  w.started(R"({"ids":5})");
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDONE);
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_FAILED);
  EXPECT_EQ(w.at(0).fault().code(), "input_type");
  EXPECT_EQ(w.at(0).undo().made(), 0U);
}

TEST(task_undo, leaves_alone_a_step_whose_input_cannot_be_made_and_one_that_nobody_has_begun) {
  world w{undoing({also_if_failed(undoable(step("a", {}, R"("${ .input.missing }")")))})};
  w.started();
  ASSERT_TRUE(w.record.parked());
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_CANCEL).ended);
  EXPECT_EQ(w.at(0).undo().made(), 0U);

  world given_back{undoing({also_if_failed(undoable(step("a")))})};
  given_back.started();
  given_back.agents.instances.at("n1/svc").capacity = 0;
  given_back.apply(attempt_refused{0, v1::DIRECTION_PERFORM, 1, true});
  EXPECT_TRUE(given_back.operate(v1::OPERATOR_VERB_CANCEL).ended);
  EXPECT_EQ(given_back.at(0).undo().made(), 0U);
}

TEST(task_undo, leaves_alone_a_failed_step_that_an_operator_has_skipped) {
  world w{graph({also_if_failed(undoable(step("a"))), undoable(step("b", {"a"}))})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
  w.operate(v1::OPERATOR_VERB_SKIP, "a");
  w.outcome(1, 1);
  EXPECT_EQ(undos_of(w.operate(v1::OPERATOR_VERB_UNDO)), names{"b"});
  EXPECT_TRUE(w.undone(1).ended);
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_SKIPPED);
}

TEST(task_undo, of_a_failed_step_is_about_the_attempts_that_were_made_also_when_the_next_one_had_another_key) {
  const auto spent = [](world& w, std::uint32_t attempt) {
    attempt_ended e;
    e.attempt = attempt;
    e.fault.emplace().set_kind(v1::FAULT_KIND_TRANSIENT);
    e.fault->set_code("failed");
    e.fault->set_key_spent(true);
    return w.apply(e);
  };
  world w{undoing({also_if_failed(undoable(step("a")))})};
  w.started();
  spent(w, 1);
  w.agents.instances.at("n1/svc").capacity = 0;
  w.advance_ms(1'000);
  w.recover(0);
  ASSERT_EQ(w.at(0).state(), v1::STEP_STATE_PENDING);
  ASSERT_EQ(w.at(0).generation(), 1U);
  w.operate(v1::OPERATOR_VERB_CANCEL);
  w.agents.instances.at("n1/svc").capacity = 1;
  auto made = w.apply(slot_freed{});
  ASSERT_EQ(undos_of(made), names{"a"});
  EXPECT_EQ(made.performs[0].message.idempotency_key(), "t1/a/undo/1");
  EXPECT_EQ(made.performs[0].message.perform_key(), "t1/a/perform/0");

  world again{undoing({also_if_failed(undoable(step("a")))})};
  again.started();
  spent(again, 1);
  again.advance_ms(1'000);
  again.recover(0);
  spent(again, 2);
  made = again.operate(v1::OPERATOR_VERB_CANCEL);
  ASSERT_EQ(undos_of(made), names{"a"});
  EXPECT_EQ(made.performs[0].message.perform_key(), "t1/a/perform/1");
}

TEST(task_undo, of_a_failed_step_waits_for_its_expression) {
  world w{undoing({also_if_failed(undoable(step("a"), R"({"n":"${ .input.n + 1 }"})")), undoable(step("b"))})};
  w.started();
  w.outcome(1, 1);
  EXPECT_EQ(w.fault(0, 1, v1::FAULT_KIND_PERMANENT).evaluations.size(), 1U);
  const auto made = w.apply(expressions_evaluated{0, {"2"}, std::nullopt, v1::EXPRESSION_PART_UNDO_WITH});
  ASSERT_EQ(undos_of(made), names{"a"});
  EXPECT_EQ(made.performs[0].message.input(), R"({"n":2})");
}

TEST(task_undo, of_a_failed_step_without_an_input_waits_for_an_operator) {
  world w{undoing({also_if_failed(undoable(step("a"), R"({"n":"${ .input.missing }"})"))})};
  w.started();
  EXPECT_TRUE(w.fault(0, 1, v1::FAULT_KIND_PERMANENT, "busy", 30'000).parked);
  EXPECT_EQ(w.at(0).fault().code(), "undo_input");
  EXPECT_EQ(w.at(0).fault().retry_after_ms(), 0) << "the service has asked for that of the perform";
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_RETRY, "a").parked) << "its input is made once more";
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_SKIP, "a").ended);
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_UNDONE);
}

TEST(task_undo, of_a_failed_step_waits_behind_an_open_breaker_for_as_long_as_it_takes) {
  auto patient = also_if_failed(undoable(step("a")));
  patient.set_attempts(0);
  patient.set_retry_for_ms(10'000);
  world w{undoing({patient})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  w.agents.instances.at("n1/svc").capacity = 0;
  w.advance_ms(1'000);
  w.recover(0);
  ASSERT_EQ(w.at(0).state(), v1::STEP_STATE_PENDING);
  w.operate(v1::OPERATOR_VERB_CANCEL);
  w.agents.blocked["svc"] = 60'000;
  w.advance_ms(60'000);
  EXPECT_FALSE(w.apply(task_due{}).parked) << "what the step says of its retries does not count for its undo";
  w.agents.instances.at("n1/svc").capacity = 1;
  EXPECT_EQ(undos_of(w.apply(slot_freed{})), names{"a"});
}

TEST(task_undo, of_a_failed_step_leaves_nothing_standing_when_it_is_terminated) {
  world w{undoing({undoable(step("a")), also_if_failed(undoable(step("b", {"a"})))})};
  w.started();
  w.outcome(0, 1);
  w.fault(1, 1, v1::FAULT_KIND_PERMANENT);
  w.operate(v1::OPERATOR_VERB_TERMINATE);
  w.fault_of(1, v1::DIRECTION_UNDO, v1::FAULT_KIND_PERMANENT);
  ASSERT_EQ(w.record.state(), v1::TASK_STATE_FAILED);
  EXPECT_EQ(standing_words(standing_of(w.record)), "stands: a");
}

TEST(task, parked_stays_parked_when_it_is_paused_and_resumed) {
  world w{graph({step("a")}, 1'000)};
  w.agents.instances["n1/svc"].capacity = 0;
  w.started();
  w.advance_ms(1'000);
  w.apply(task_due{});
  ASSERT_TRUE(w.record.parked());
  w.operate(v1::OPERATOR_VERB_PAUSE);
  w.operate(v1::OPERATOR_VERB_RESUME);
  EXPECT_TRUE(w.record.parked());
}

}  // namespace
}  // namespace fairlead::core::testing
