// Inputs, graphs, payloads and wake-ups.

#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

std::vector<std::string> handed_over(const decision& made) {
  std::vector<std::string> out;
  for (const auto& one : made.performs) out.push_back(one.message.step_path());
  return out;
}

using names = std::vector<std::string>;

TEST(task, runs_a_diamond_in_the_order_of_its_needs) {
  world w{graph({step("a"), step("b", {"a"}), step("c", {"a"}), step("d", {"b", "c"})})};
  w.submit();
  EXPECT_EQ(handed_over(w.apply(task_admitted{})), names{"a"});
  EXPECT_EQ(handed_over(w.outcome(0, 1)), (names{"b", "c"}));
  EXPECT_EQ(handed_over(w.outcome(2, 1)), names{});
  EXPECT_EQ(handed_over(w.outcome(1, 1)), names{"d"});
  const auto last = w.outcome(3, 1);
  EXPECT_TRUE(last.ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(w.record.finished_at_unix_ms(), w.now_ms);
  EXPECT_EQ(w.record.due_unix_ms(), 0);
}

TEST(task, goes_on_in_one_branch_while_another_waits_for_recovery) {
  world w{graph({step("a"), step("b"), step("c", {"b"})})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  EXPECT_EQ(handed_over(w.outcome(1, 1)), names{"c"});
  w.outcome(2, 1);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_RUNNING);
  w.advance_ms(10'000);
  EXPECT_EQ(handed_over(w.recover(0)), names{"a"});
  EXPECT_TRUE(w.outcome(0, 2).ended);
}

TEST(task, writes_the_end_of_a_step_and_the_start_of_the_next_as_one_version) {
  world w{graph({step("a"), step("b", {"a"})})};
  w.started();
  const auto before = w.record.version();
  w.outcome(0, 1);
  EXPECT_EQ(w.record.version(), before + 1);
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_COMPLETED);
  EXPECT_EQ(w.at(1).state(), v1::STEP_STATE_RUNNING);
}

TEST(task, waits_for_a_slot_and_starts_when_one_is_freed) {
  world w{graph({step("a"), step("b")})};
  w.agents.instances["n1/svc"].capacity = 1;
  w.submit();
  const auto made = w.apply(task_admitted{});
  EXPECT_EQ(handed_over(made), names{"a"});
  ASSERT_EQ(made.waiting.size(), 1u);
  EXPECT_EQ(made.waiting[0].queue, fake_agents::queue_of("svc"));
  EXPECT_FALSE(w.apply(slot_freed{}).changed) << "there is none";
  w.agents.instances["n1/svc"].capacity = 2;
  EXPECT_EQ(handed_over(w.apply(slot_freed{})), names{"b"});
}

TEST(task, cuts_inputs_out_of_earlier_outputs_without_touching_a_digit) {
  world w{graph({step("a"), step("b", {"a"}, R"({"id":"${ .steps.a.id }","n":"${ .input.n }","task":"${ .task.id }"})")})};
  w.started(R"({"n":9007199254740993})");
  const auto made = w.outcome(0, 1, R"({"id":12345678901234567890})");
  ASSERT_EQ(made.performs.size(), 1u);
  EXPECT_EQ(made.performs[0].message.input(), R"({"id":12345678901234567890,"n":9007199254740993,"task":"t1"})");
}

TEST(task, parks_naming_step_and_expression_when_a_path_is_not_there) {
  world w{graph({step("a"), step("b", {"a"}, R"({"id":"${ .steps.a.id }"})")})};
  w.started();
  EXPECT_TRUE(w.outcome(0, 1, "{}").parked);
  EXPECT_NE(w.record.parked_reason().find("step b: "), std::string::npos) << w.record.parked_reason();
  EXPECT_NE(w.record.parked_reason().find(".steps.a.id"), std::string::npos) << w.record.parked_reason();
  EXPECT_EQ(w.at(1).attempt(), 0u);
}

TEST(task, asks_the_worker_for_what_is_no_plain_path_and_stores_what_it_said) {
  world w{graph({step("a", {}, R"({"sum":"${ .input.n + 1 }","n":"${ .input.n }"})")})};
  w.submit();
  const auto asked = w.apply(task_admitted{});
  ASSERT_EQ(asked.evaluations.size(), 1u);
  EXPECT_EQ(asked.evaluations[0].task_number(), 7u);
  EXPECT_EQ(asked.evaluations[0].expressions(0), ".input.n + 1");
  EXPECT_TRUE(asked.performs.empty());
  EXPECT_EQ(w.record.due_unix_ms(), start_ms + 30'000) << "should the answer be lost";

  const auto made = w.apply(expressions_evaluated{0, {"2"}, std::nullopt});
  ASSERT_EQ(made.performs.size(), 1u);
  EXPECT_EQ(made.performs[0].message.input(), R"({"sum":2,"n":1})");
  EXPECT_FALSE(w.apply(expressions_evaluated{0, {"3"}, std::nullopt}).changed) << "the first answer stands";

  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  w.advance_ms(10'000);
  const auto again = w.recover(0);
  EXPECT_TRUE(again.evaluations.empty()) << "results are stored and never evaluated again";
  EXPECT_EQ(again.performs.at(0).message.input(), R"({"sum":2,"n":1})");
  w.outcome(0, 2);
  EXPECT_EQ(w.at(0).input().json(), R"({"sum":2,"n":1})") << "what a worker gave cannot be cut out again";
}

TEST(task, parks_naming_the_step_when_the_worker_finds_a_fault) {
  world w{graph({step("a", {}, R"({"sum":"${ .input.n + 1 }"})")})};
  w.started();
  const error why{v1::ERROR_CODE_EXPRESSION, "expression ${ .input.n + 1 }: a string and a number cannot be added", ""};
  EXPECT_TRUE(w.apply(expressions_evaluated{0, {}, why}).parked);
  EXPECT_EQ(w.record.parked_reason(), "step a: expression ${ .input.n + 1 }: a string and a number cannot be added");
}

TEST(task, asks_again_later_when_the_worker_was_away) {
  world w{graph({step("a", {}, R"({"sum":"${ .input.n + 1 }"})")})};
  w.started();
  EXPECT_FALSE(w.apply(expressions_evaluated{0, {}, error{v1::ERROR_CODE_UNAVAILABLE, "no worker", ""}}).changed);
  w.advance_ms(30'000);
  EXPECT_EQ(w.apply(task_due{}).evaluations.size(), 1u);
  EXPECT_EQ(w.record.due_unix_ms(), w.now_ms + 30'000);
}

TEST(task, looks_again_at_a_waiting_branch_while_a_long_attempt_is_out) {
  auto slow = step("slow");
  slow.set_timeout_ms(3'600'000);
  world w{graph({slow, step("b", {}, R"({"sum":"${ .input.n + 1 }"})")})};
  w.started();
  EXPECT_EQ(w.record.due_unix_ms(), start_ms + 30'000) << "an answer that is lost must not cost an hour";
}

TEST(task, asks_the_worker_once_and_still_looks_again_should_the_answer_be_lost) {
  auto slow = step("slow", {"a"});
  slow.set_timeout_ms(3'600'000);
  world w{graph({step("a"), slow, step("b", {}, R"({"sum":"${ .input.n + 1 }"})")})};
  w.submit();
  EXPECT_EQ(w.apply(task_admitted{}).evaluations.size(), 1u);
  w.evaluating.insert(evaluation_key(2, v1::EXPRESSION_PART_WITH));
  EXPECT_TRUE(w.outcome(0, 1).evaluations.empty());
  w.advance_ms(30'000);
  EXPECT_TRUE(w.apply(task_due{}).evaluations.empty());
  EXPECT_EQ(w.record.due_unix_ms(), w.now_ms + 30'000) << "not after the hour that the other branch takes";
  w.evaluating.clear();
  EXPECT_FALSE(w.apply(expressions_evaluated{2, {}, error{v1::ERROR_CODE_UNAVAILABLE, "no worker", ""}}).changed);
  w.advance_ms(30'000);
  EXPECT_EQ(w.apply(task_due{}).evaluations.size(), 1u);
}

TEST(task, keeps_big_payloads_apart_from_its_row) {
  const auto big = "\"" + std::string(6'000, 'x') + "\"";
  world w{graph({step("a", {}, R"({"all":"${ .input }"})"), step("b", {"a"}, R"("${ .steps.a }")")})};
  auto submitted = w.submit(big);
  ASSERT_EQ(submitted.payloads.size(), 1u);
  EXPECT_EQ(w.record.input().slot(), 1u);
  EXPECT_EQ(w.record.input().size(), big.size());
  const auto started = w.apply(task_admitted{});
  ASSERT_EQ(started.payloads.size(), 1u);
  EXPECT_EQ(started.payloads[0].slot, 2u);
  EXPECT_EQ(started.performs.at(0).message.input(), "{\"all\":" + big + "}");
  const auto done = w.outcome(0, 1, big);
  EXPECT_EQ(w.at(0).output().slot(), 3u);
  EXPECT_EQ(done.performs.at(0).message.input(), big) << "a payload of the decision under way is seen by the next step";
  EXPECT_LT(w.record.ByteSizeLong(), 1'000u);
}

TEST(task, keeps_texts_of_4096_bytes_in_the_row_and_longer_ones_apart) {
  world fits{graph({step("a")})};
  fits.submit("\"" + std::string(4'094, 'x') + "\"");
  EXPECT_EQ(fits.record.input().slot(), 0u);
  world bigger{graph({step("a")})};
  bigger.submit("\"" + std::string(4'095, 'x') + "\"");
  EXPECT_EQ(bigger.record.input().slot(), 1u);
}

TEST(task, reports_a_read_of_the_store_that_failed_and_decides_nothing) {
  const auto big = "\"" + std::string(6'000, 'x') + "\"";
  world w{graph({step("a")})};
  w.submit(big);
  w.payloads.broken = error{v1::ERROR_CODE_CORRUPT, "payload 1 is damaged", ""};
  const auto made = w.apply(task_admitted{});
  ASSERT_TRUE(made.fatal.has_value());
  EXPECT_EQ(made.fatal->sentence, "payload 1 is damaged");
  EXPECT_TRUE(made.performs.empty());
}

TEST(task, throws_over_a_payload_that_is_missing_so_that_it_alone_is_parked) {
  world w{graph({step("a")})};
  w.submit("\"" + std::string(6'000, 'x') + "\"");
  w.payloads.broken = error{v1::ERROR_CODE_NOT_FOUND, "payload 1 is missing", ""};
  EXPECT_THROW(decide(w.record, task_admitted{}, w.context_for(w.agents)), odd_record);
}

TEST(task, drops_an_input_that_can_be_cut_out_again) {
  world w{graph({step("a")})};
  w.started();
  EXPECT_TRUE(w.at(0).has_input());
  w.outcome(0, 1);
  EXPECT_FALSE(w.at(0).has_input());
}

TEST(task, drops_a_big_input_that_can_be_cut_out_again_together_with_its_slot) {
  world w{graph({step("a", {}, R"({"all":"${ .input }"})"), step("b", {"a"}, R"({"m":"${ .input + \"\" }"})")})};
  w.started("\"" + std::string(6'000, 'x') + "\"");
  const auto slot = w.at(0).input().slot();
  EXPECT_EQ(w.outcome(0, 1).dropped_slots, std::vector<std::uint32_t>{slot});
  w.apply(expressions_evaluated{1, {"\"" + std::string(6'000, 'y') + "\""}, std::nullopt});
  EXPECT_GT(w.at(1).input().slot(), slot) << "a slot is never used again";
  EXPECT_TRUE(w.outcome(1, 1).dropped_slots.empty()) << "what a worker gave stays";
}

TEST(task, takes_an_empty_output_for_null) {
  world w{graph({step("a")})};
  w.started();
  w.outcome(0, 1, "");
  EXPECT_EQ(w.at(0).output().json(), "null");
}

TEST(task, moves_a_due_entry_that_came_up_early) {
  world w{graph({step("a"), step("b", {"a"})})};
  w.started();
  w.advance_ms(1'000);
  w.outcome(0, 1);
  EXPECT_EQ(w.record.due_indexed_unix_ms(), start_ms + 5'000);
  EXPECT_EQ(w.record.due_unix_ms(), start_ms + 6'000);
  w.now_ms = start_ms + 5'000;
  EXPECT_TRUE(w.apply(task_due{}).changed);
  EXPECT_EQ(w.record.due_indexed_unix_ms(), start_ms + 6'000);
  EXPECT_FALSE(w.apply(task_due{}).changed) << "the entry is exact now";
}

TEST(task, needs_no_wake_up_while_pending_or_over) {
  world w{graph({step("a")}, 60'000)};
  w.submit();
  EXPECT_EQ(w.record.due_unix_ms(), 0);
  w.apply(task_admitted{});
  EXPECT_EQ(w.record.due_unix_ms(), start_ms + 5'000);
  w.outcome(0, 1);
  EXPECT_EQ(w.record.due_unix_ms(), 0);
}

TEST(task, carries_the_epoch_of_whoever_wrote_it) {
  world w{graph({step("a")})};
  w.started();
  EXPECT_EQ(w.record.epoch(), 3u);
}

/// `last` starts when `a` or `b` is completed; `c` is beside them.
v1::WorkflowDefinition either_and_c(v1::OnFailure on_failure) {
  auto last = with_undo_none(step("last", {"a", "b"}));
  last.set_join(1);
  auto out = graph({undoable(step("a")), undoable(step("b")), step("c"), last});
  out.set_on_failure(on_failure);
  return out;
}

TEST(task_join, a_task_that_is_to_fail_while_a_dropped_step_in_doubt_is_undone_parks) {
  world w{either_and_c(v1::ON_FAILURE_FAIL)};
  w.agents.lookups.insert("do_b");
  w.started();
  w.fault(1, 1, v1::FAULT_KIND_IN_DOUBT);
  w.outcome(0, 1);
  ASSERT_EQ(w.at(1).direction(), v1::DIRECTION_LOOKUP);
  w.outcome_of(1, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_UNKNOWN);
  w.fault_of(1, v1::DIRECTION_UNDO, v1::FAULT_KIND_TRANSIENT);
  w.outcome(3, 1);
  ASSERT_EQ(w.at(1).state(), v1::STEP_STATE_UNDOING);
  EXPECT_TRUE(w.fault(2, 1, v1::FAULT_KIND_PERMANENT).parked);
  EXPECT_EQ(w.record.parked_reason().find("step b is in doubt (http_503) and the task is to fail: "), 0U) << w.record.parked_reason();
  EXPECT_TRUE(w.operate(v1::OPERATOR_VERB_SKIP, "b").ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_FAILED);
}

TEST(task_join, a_task_does_not_fail_while_the_undo_of_a_dropped_step_is_in_doubt) {
  world w{either_and_c(v1::ON_FAILURE_FAIL)};
  w.started();
  w.outcome(0, 1);
  w.outcome(1, 1);
  w.outcome(3, 1);
  w.fault(2, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_TRUE(w.record.failing());
  EXPECT_TRUE(w.fault_of(1, v1::DIRECTION_UNDO, v1::FAULT_KIND_IN_DOUBT, "http_504").parked);
  EXPECT_EQ(w.record.parked_reason().find("the undo of step b is in doubt (http_504) and the task is to fail: "), 0U)
      << w.record.parked_reason();
  EXPECT_EQ(w.operate(v1::OPERATOR_VERB_RETRY).performs.size(), 2U) << "of c, and the undo of b";
}

/// Of either_and_c: all but `c` is over, and the undo of `b` waits for its second attempt.
void undo_of_b_waits(world& w) {
  w.started();
  w.outcome(0, 1);
  w.outcome(3, 1);
  w.outcome(1, 1);
  ASSERT_TRUE(w.at(1).dropped());
  w.fault_of(1, v1::DIRECTION_UNDO, v1::FAULT_KIND_TRANSIENT);
  ASSERT_EQ(w.at(1).state(), v1::STEP_STATE_UNDOING);
  ASSERT_GT(w.at(1).not_before_unix_ms(), w.now_ms);
}

TEST(task_join, the_undo_of_a_task_leaves_the_undo_of_a_dropped_step_its_pause) {
  world w{either_and_c(v1::ON_FAILURE_UNDO)};
  undo_of_b_waits(w);
  const auto until_ms = w.at(1).not_before_unix_ms();
  const auto made = w.fault(2, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_EQ(w.record.state(), v1::TASK_STATE_UNDOING);
  ASSERT_EQ(made.performs.size(), 1U) << "b has been told to wait";
  EXPECT_EQ(made.performs.front().message.step(), 0U);
  EXPECT_EQ(w.at(1).not_before_unix_ms(), until_ms);
  EXPECT_FALSE(w.undone(0).parked);
  w.now_ms = until_ms - 1;
  EXPECT_FALSE(w.recover(1).changed) << "a millisecond early";
  w.advance_ms(1);
  EXPECT_EQ(w.recover(1).performs.size(), 1U);
  EXPECT_EQ(w.at(1).undo().made(), 2U);
  EXPECT_TRUE(w.undone(1).ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDONE);
}

TEST(task_join, an_operator_who_cancels_has_the_undo_of_a_dropped_step_tried_at_once) {
  auto definition = either_and_c(v1::ON_FAILURE_UNDO);
  definition.mutable_steps(2)->mutable_undo()->set_none(true);
  world w{definition};
  undo_of_b_waits(w);
  w.outcome(2, 1);
  ASSERT_EQ(w.record.state(), v1::TASK_STATE_RUNNING);
  EXPECT_EQ(w.operate(v1::OPERATOR_VERB_CANCEL).performs.size(), 2U) << "the undos of a and b";
}

TEST(task_join, the_undo_of_a_task_grants_no_attempt_to_the_undo_of_a_dropped_step_that_was_given_up) {
  auto last = with_undo_none(step("last", {"a", "b", "d"}));
  last.set_join(1);
  auto definition = graph({undoable(step("a")), undoable(step("b")), step("c"), last, undoable(step("d"))});
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  world w{definition};
  undo_of_b_waits(w);
  w.now_ms = w.at(1).not_before_unix_ms();
  w.recover(1);
  EXPECT_FALSE(w.fault_of(1, v1::DIRECTION_UNDO, v1::FAULT_KIND_TRANSIENT).parked) << "d is in progress";
  ASSERT_TRUE(w.at(1).given_up());
  w.fault(2, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_EQ(w.record.state(), v1::TASK_STATE_UNDOING);
  EXPECT_EQ(w.outcome(4, 1).performs.size(), 2U) << "the undos of a and d, and not a third one of b";
  w.undone(4);
  EXPECT_TRUE(w.undone(0).parked);
  EXPECT_EQ(w.record.parked_reason().find("step b could not be undone (http_503) after 2 attempts"), 0U) << w.record.parked_reason();
  EXPECT_EQ(w.operate(v1::OPERATOR_VERB_RETRY).performs.size(), 1U);
  EXPECT_TRUE(w.undone(1).ended);
}

TEST(task_join, a_dropped_step_that_is_given_back_last_is_skipped_before_the_task_completes) {
  world w{either_and_c(v1::ON_FAILURE_UNDO)};
  w.started();
  w.outcome(0, 1);
  w.outcome(2, 1);
  w.outcome(3, 1);
  EXPECT_TRUE(w.apply(attempt_refused{1, v1::DIRECTION_PERFORM, 1, true}).ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(w.at(1).state(), v1::STEP_STATE_SKIPPED);
}

TEST(task_join, a_dropped_step_that_has_failed_does_not_count_as_failing) {
  world w{either_and_c(v1::ON_FAILURE_UNDO)};
  w.started();
  w.outcome(0, 1);
  w.fault(1, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_EQ(w.at(1).state(), v1::STEP_STATE_FAILED);
  EXPECT_EQ(w.at(1).failing_since_unix_ms(), 0);
}

TEST(task_join, drops_a_step_that_was_passed_over_before_it_is_decided_how_the_task_ends) {
  auto definition = either_and_c(v1::ON_FAILURE_UNDO);
  definition.set_ends_failed(true);
  definition.mutable_steps(1)->set_on_failure(v1::ON_FAILURE_CONTINUE);
  auto unlock = with_undo_none(step("unlock", {}, R"({"end":"${ .task.end }"})"));
  unlock.set_finally(v1::FINALLY_ALWAYS);
  *definition.add_steps() = unlock;
  world w{definition};
  w.started();
  w.outcome(2, 1);
  w.operate(v1::OPERATOR_VERB_SKIP, "last");
  w.fault(1, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_TRUE(w.at(1).passed_over());
  const auto made = w.outcome(0, 1);
  EXPECT_TRUE(w.at(1).dropped());
  ASSERT_EQ(made.performs.size(), 1U);
  EXPECT_EQ(made.performs.front().message.input(), R"({"end":"completed"})");
}

TEST(task_join, undoes_what_was_dropped_also_where_the_workflow_has_no_joins_any_more) {
  const auto joined = either_and_c(v1::ON_FAILURE_UNDO);
  world before{joined};
  before.started();
  before.outcome(0, 1);
  before.outcome(3, 1);
  before.agents.instances.at("n1/svc").capacity = 0;
  before.outcome(1, 1);
  ASSERT_TRUE(before.at(1).dropped());
  ASSERT_EQ(before.at(1).state(), v1::STEP_STATE_COMPLETED);
  auto plain = joined;
  plain.mutable_steps(3)->clear_join();
  world w{plain};
  w.record = before.record;
  const auto made = w.apply(slot_freed{});
  ASSERT_EQ(made.performs.size(), 1U);
  EXPECT_EQ(made.performs.front().message.direction(), v1::DIRECTION_UNDO);
}

}  // namespace
}  // namespace fairlead::core::testing
