#include "app/json/remedies.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/app/order_task.hpp"

namespace fairlead::app {
namespace {

using commands = std::vector<std::string>;

commands commands_for(const v1::TaskShowReply& reply) {
  commands out;
  for (const auto& one : remedies_of(reply.task(), reply.definition())) out.push_back(one.command);
  return out;
}

/// A parked task can always be terminated.
commands and_terminate(commands of) {
  of.emplace_back("fairlead task terminate o-1 --reason TEXT");
  return of;
}

bool any_has(const commands& found, const std::string& words) {
  return std::any_of(found.begin(), found.end(), [&](const std::string& one) { return one.find(words) != std::string::npos; });
}

TEST(task_remedies, a_step_that_failed_for_good_may_be_retried_edited_or_skipped_and_the_task_undone) {
  EXPECT_EQ(commands_for(parked_order()), and_terminate({"fairlead task retry o-1 charge", "fairlead task retry o-1 charge --input JSON",
                                                         "fairlead task settle o-1 charge --completed JSON --reason TEXT",
                                                         "fairlead task skip o-1 charge --reason TEXT", "fairlead task undo o-1"}));
}

TEST(task_remedies, a_task_whose_version_cannot_be_used_is_retried_after_an_upgrade_or_terminated) {
  auto reply = parked_order();
  reply.mutable_task()->set_parked_reason(
      "this release cannot use version 0a1b2c3d4e5f of workflow order: step charge: `@later` means nothing");
  EXPECT_EQ(commands_for(reply), and_terminate({"fairlead task retry o-1"}));
}

TEST(task_remedies, a_task_that_waits_for_a_signal_is_given_it) {
  auto reply = waiting_order();
  const auto found = remedies_of(reply.task(), reply.definition());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].command, "fairlead task signal o-1 approved --data JSON");
  EXPECT_EQ(found[0].effect, "gives step charge what it waits for");

  auto& ship = *reply.mutable_definition()->mutable_steps(2);
  ship.set_kind(v1::STEP_KIND_SIGNAL);
  ship.set_signal("approved");
  step_of(reply, 2).set_not_before_unix_ms(some_moment);
  EXPECT_EQ(commands_for(reply).size(), 1u) << "two steps wait for it, and the first takes it";
  ship.set_signal("paid");
  EXPECT_EQ(commands_for(reply), (commands{"fairlead task signal o-1 approved --data JSON", "fairlead task signal o-1 paid --data JSON"}));

  step_of(reply, 1).clear_not_before_unix_ms();
  EXPECT_EQ(commands_for(reply), (commands{"fairlead task signal o-1 paid --data JSON"})) << "it does not wait yet";
  reply.mutable_task()->set_state(v1::TASK_STATE_COMPLETED);
  EXPECT_TRUE(commands_for(reply).empty());
}

TEST(task_remedies, a_wait_needs_nobody) {
  auto reply = waiting_order();
  reply.mutable_definition()->mutable_steps(1)->set_kind(v1::STEP_KIND_WAIT);
  reply.mutable_definition()->mutable_steps(1)->clear_signal();
  EXPECT_TRUE(commands_for(reply).empty());
}

TEST(task_remedies, a_signal_that_did_not_come_in_time_is_waited_for_once_more_settled_or_skipped) {
  auto reply = parked_order();
  reply.mutable_definition()->mutable_steps(1)->set_kind(v1::STEP_KIND_SIGNAL);
  reply.mutable_definition()->mutable_steps(1)->set_signal("approved");
  EXPECT_EQ(commands_for(reply),
            and_terminate({"fairlead task retry o-1 charge", "fairlead task settle o-1 charge --completed JSON --reason TEXT",
                           "fairlead task skip o-1 charge --reason TEXT", "fairlead task undo o-1"}));
}

TEST(task_remedies, the_input_of_a_step_without_an_agent_is_its_output_or_its_wait) {
  auto reply = order_task();
  reply.mutable_task()->set_parked(true);
  reply.mutable_task()->set_parked_reason("step charge: null is no number");
  const auto effect = [&](v1::StepKind kind) {
    reply.mutable_definition()->mutable_steps(1)->set_kind(kind);
    for (const auto& one : remedies_of(reply.task(), reply.definition()))
      if (one.command == "fairlead task retry o-1 charge --input JSON") return one.effect;
    return std::string{};
  };
  EXPECT_EQ(effect(v1::STEP_KIND_CALL), "retries the step with another input");
  EXPECT_EQ(effect(v1::STEP_KIND_VALUE), "completes the step with this output");
  EXPECT_EQ(effect(v1::STEP_KIND_WAIT), "waits for this duration or until this time, such as '\"10m\"'");
}

TEST(task_remedies, a_step_that_waits_for_its_callback_is_sent_again_or_settled) {
  auto reply = accepted_order();
  EXPECT_EQ(commands_for(reply),
            (std::vector<std::string>{"fairlead task retry o-1 charge", "fairlead task settle o-1 charge --completed JSON --reason TEXT",
                                      "fairlead task settle o-1 charge --never-happened --reason TEXT"}));
}

TEST(task_remedies, the_next_round_of_a_step_can_begin_at_once) {
  auto reply = repeated_order();
  EXPECT_EQ(commands_for(reply), std::vector<std::string>{"fairlead task retry o-1 charge"});
  step_of(reply, 1).clear_not_before_unix_ms();
  EXPECT_TRUE(commands_for(reply).empty()) << "the round is in progress, or about to begin";
}

TEST(task_remedies, a_step_that_cannot_tell_whether_it_is_done_is_repeated_once_more_or_ended) {
  auto reply = repeated_order();
  auto& charge = step_of(reply, 1);
  charge.clear_not_before_unix_ms();
  charge.set_until_open(true);
  reply.mutable_task()->set_parked(true);
  reply.mutable_task()->set_parked_reason("step charge: `repeat.until` gave null, and not true or false");
  EXPECT_EQ(commands_for(reply),
            and_terminate({"fairlead task retry o-1 charge --input JSON", "fairlead task settle o-1 charge --completed JSON --reason TEXT",
                           "fairlead task skip o-1 charge --reason TEXT", "fairlead task undo o-1"}));
}

TEST(task_remedies, a_step_out_of_rounds_gets_as_many_again) {
  auto reply = parked_order();
  *reply.mutable_definition()->mutable_steps(1) = repeated_order().definition().steps(1);
  step_of(reply, 1).mutable_fault()->set_code("repeat_exhausted");
  const auto found = remedies_of(reply.task(), reply.definition());
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].command, "fairlead task retry o-1 charge");
  EXPECT_EQ(found[0].effect, "repeats the step as often again");
}

TEST(task_remedies, an_output_that_cannot_be_had_is_computed_again_or_given) {
  auto reply = order_task();
  for (int i = 0; i < 3; ++i) step_of(reply, i).set_state(v1::STEP_STATE_COMPLETED);
  reply.mutable_task()->set_parked(true);
  reply.mutable_task()->set_parked_reason("the output of the task: null (null) has no field \"step charge\"");
  EXPECT_EQ(commands_for(reply), and_terminate({"fairlead task retry o-1", "fairlead task settle o-1 --output JSON --reason TEXT"}));
}

TEST(task_remedies, a_step_in_doubt_is_settled_and_never_skipped_or_edited) {
  auto reply = parked_order();
  step_of(reply, 1).set_state(v1::STEP_STATE_IN_DOUBT);
  EXPECT_EQ(commands_for(reply),
            and_terminate({"fairlead task retry o-1 charge", "fairlead task settle o-1 charge --completed JSON --reason TEXT",
                           "fairlead task settle o-1 charge --never-happened --reason TEXT", "fairlead task undo o-1"}));
}

TEST(task_remedies, a_failed_step_with_an_older_attempt_in_doubt_counts_as_in_doubt) {
  auto reply = parked_order();
  step_of(reply, 1).set_doubtful(true);
  const auto found = commands_for(reply);
  EXPECT_TRUE(any_has(found, "settle o-1 charge"));
  EXPECT_FALSE(any_has(found, "skip"));
  EXPECT_FALSE(any_has(found, "--input"));
}

TEST(task_remedies, no_undo_after_a_pivot_that_has_or_may_have_happened) {
  auto reply = parked_order();
  reply.mutable_definition()->mutable_steps(0)->set_pivot(true);
  EXPECT_FALSE(any_has(commands_for(reply), "task undo"));

  reply = parked_order();
  reply.mutable_definition()->mutable_steps(1)->set_pivot(true);
  EXPECT_TRUE(any_has(commands_for(reply), "task undo")) << "a pivot that failed has not happened";
  step_of(reply, 1).set_doubtful(true);
  EXPECT_FALSE(any_has(commands_for(reply), "task undo"));
}

TEST(task_remedies, a_cancel_is_taken_of_what_has_not_ended_and_can_be_undone) {
  auto reply = order_task();
  EXPECT_TRUE(can_be_undone(reply.task(), reply.definition())) << "nothing has begun";
  step_of(reply, 0).set_state(v1::STEP_STATE_RUNNING);
  EXPECT_TRUE(can_be_undone(reply.task(), reply.definition()));
  reply.mutable_definition()->mutable_steps(0)->clear_undo();
  EXPECT_FALSE(can_be_undone(reply.task(), reply.definition()));
  reply = order_task();
  for (const auto state : {v1::TASK_STATE_UNDOING, v1::TASK_STATE_UNDONE, v1::TASK_STATE_COMPLETED}) {
    reply.mutable_task()->set_state(state);
    EXPECT_FALSE(can_be_undone(reply.task(), reply.definition())) << v1::TaskState_Name(state);
  }
}

TEST(task_remedies, no_undo_where_a_step_that_happened_has_none_but_undo_none_is_one) {
  auto reply = parked_order();
  reply.mutable_definition()->mutable_steps(2)->clear_undo();
  EXPECT_TRUE(any_has(commands_for(reply), "task undo")) << "a step that never began needs no undo";
  reply.mutable_definition()->mutable_steps(0)->mutable_undo()->set_none(true);
  EXPECT_TRUE(any_has(commands_for(reply), "task undo"));
  reply.mutable_definition()->mutable_steps(0)->clear_undo();
  EXPECT_FALSE(any_has(commands_for(reply), "task undo"));
  reply.clear_definition();
  EXPECT_FALSE(any_has(commands_for(reply), "task undo")) << "nothing is known of its steps";
}

TEST(task_remedies, a_step_whose_input_cannot_be_made_wants_another_input) {
  auto reply = parked_order();
  auto& charge = step_of(reply, 1);
  charge = v1::StepRecord{};
  charge.set_path("charge");
  charge.set_definition(1);
  charge.set_state(v1::STEP_STATE_PENDING);
  reply.mutable_task()->set_parked_reason("step charge: .input.amount_cents: there is nothing of that name");
  EXPECT_EQ(commands_for(reply), and_terminate({"fairlead task retry o-1 charge --input JSON",
                                                "fairlead task skip o-1 charge --reason TEXT", "fairlead task undo o-1"}));
  reply.mutable_task()->set_parked_reason("step charge2: something else");
  EXPECT_EQ(commands_for(reply), and_terminate({"fairlead task retry o-1", "fairlead task undo o-1"}));
}

TEST(task_remedies, steps_that_go_on_by_themselves_are_left_alone) {
  auto reply = parked_order();
  auto& reserve = step_of(reply, 0);
  reserve.set_state(v1::STEP_STATE_FAILED);
  reserve.set_not_before_unix_ms(some_moment);
  EXPECT_EQ(stuck_steps(reply.task()), std::vector<int>{1});
  reserve.clear_not_before_unix_ms();
  reserve.set_given_up(true);
  EXPECT_EQ(stuck_steps(reply.task()), (std::vector<int>{0, 1}));
  EXPECT_TRUE(any_has(commands_for(reply), "task retry o-1")) << "and all of them at once";
  const auto found = commands_for(reply);
  EXPECT_EQ(std::count(found.begin(), found.end(), "fairlead task retry o-1"), 1);
}

TEST(task_remedies, an_undo_that_keeps_failing_may_be_retried_or_passed_over_but_not_undone) {
  auto reply = order_task();
  auto& task = *reply.mutable_task();
  task.set_state(v1::TASK_STATE_UNDOING);
  task.set_parked(true);
  auto& reserve = step_of(reply, 0);
  reserve.set_state(v1::STEP_STATE_UNDOING);
  reserve.set_direction(v1::DIRECTION_UNDO);
  reserve.set_given_up(true);
  auto& charge = step_of(reply, 1);
  charge.set_state(v1::STEP_STATE_FAILED);
  charge.set_given_up(true);
  EXPECT_EQ(stuck_steps(task), std::vector<int>{0}) << "the failure that began the undo is no longer a question";
  EXPECT_EQ(commands_for(reply), and_terminate({"fairlead task retry o-1 reserve", "fairlead task skip o-1 reserve --reason TEXT"}));
}

TEST(task_remedies, doubt_that_nothing_could_settle_is_settled_by_an_operator_before_the_undo) {
  auto reply = order_task();
  reply.mutable_task()->set_state(v1::TASK_STATE_UNDOING);
  reply.mutable_task()->set_parked(true);
  step_of(reply, 1).set_state(v1::STEP_STATE_IN_DOUBT);
  step_of(reply, 1).set_given_up(true);
  const auto found = commands_for(reply);
  EXPECT_TRUE(any_has(found, "settle o-1 charge --completed"));
  EXPECT_TRUE(any_has(found, "settle o-1 charge --never-happened"));
  EXPECT_FALSE(any_has(found, "skip"));
  EXPECT_FALSE(any_has(found, "task undo"));
}

TEST(task_remedies, a_pivot_that_has_completed_stops_the_undo) {
  auto reply = order_task();
  reply.mutable_task()->set_state(v1::TASK_STATE_UNDOING);
  reply.mutable_task()->set_parked(true);
  step_of(reply, 1).set_state(v1::STEP_STATE_IN_DOUBT);
  step_of(reply, 1).set_given_up(true);
  const auto effect = [&reply] { return remedies_of(reply.task(), reply.definition()).at(0).effect; };
  reply.mutable_definition()->mutable_steps(1)->mutable_undo()->set_none(true);
  EXPECT_EQ(effect(), "if the step was carried out, with this output; its undo follows");
  reply.mutable_definition()->mutable_steps(1)->set_pivot(true);
  EXPECT_EQ(effect(), "if the step was carried out, with this output; the task cannot be undone any more then, and stops");
}

TEST(task_remedies, an_undo_in_doubt_is_too_late_for_an_output) {
  auto reply = order_task();
  reply.mutable_task()->set_state(v1::TASK_STATE_UNDOING);
  reply.mutable_task()->set_parked(true);
  auto& charge = step_of(reply, 1);
  charge.set_state(v1::STEP_STATE_UNDOING);
  charge.set_direction(v1::DIRECTION_UNDO);
  charge.set_doubtful(true);
  charge.set_given_up(true);
  EXPECT_EQ(commands_for(reply),
            and_terminate({"fairlead task settle o-1 charge --never-happened --reason TEXT", "fairlead task retry o-1 charge"}));
}

TEST(task_remedies, a_step_that_cools_off_may_be_tried_at_once) {
  auto reply = order_task();
  step_of(reply, 0).set_state(v1::STEP_STATE_FAILED);
  step_of(reply, 0).set_not_before_unix_ms(some_moment);
  EXPECT_TRUE(commands_for(reply).empty()) << "an ordinary backoff is nobody's concern";
  auto* event = reply.mutable_task()->add_recent();
  event->set_kind(v1::EVENT_KIND_STEP_COOLING_OFF);
  event->set_step(1);
  EXPECT_EQ(commands_for(reply), commands{"fairlead task retry o-1 reserve"});
}

TEST(task_remedies, a_task_past_its_timeout_may_go_on) {
  auto reply = order_task();
  reply.mutable_task()->set_parked(true);
  reply.mutable_task()->set_timed_out(true);
  EXPECT_EQ(commands_for(reply), and_terminate({"fairlead task retry o-1", "fairlead task undo o-1"}));
}

TEST(task_remedies, a_paused_task_is_resumed_and_a_held_one_released) {
  auto reply = order_task();
  reply.mutable_task()->set_paused(true);
  EXPECT_EQ(commands_for(reply), commands{"fairlead task resume o-1"});
  reply.mutable_task()->set_paused(false);
  reply.mutable_task()->set_undo_held(true);
  EXPECT_EQ(commands_for(reply), (commands{"fairlead brake release", "fairlead task retry o-1", "fairlead task undo o-1"}));
}

TEST(task_remedies, a_task_that_goes_on_or_is_over_asks_for_nothing) {
  auto reply = order_task();
  step_of(reply, 0).set_state(v1::STEP_STATE_FAILED);
  EXPECT_TRUE(commands_for(reply).empty());
  reply.mutable_task()->set_state(v1::TASK_STATE_COMPLETED);
  EXPECT_TRUE(commands_for(reply).empty());
}

commands choices_for(const v1::TaskShowReply& reply, bool archived = false) {
  commands out;
  for (const auto& one : choices_of(reply.task(), reply.definition(), archived)) out.push_back(one.command);
  return out;
}

TEST(task_remedies, whoever_was_refused_is_told_what_the_state_allows) {
  auto reply = order_task();
  EXPECT_EQ(choices_for(reply), and_terminate({"fairlead task pause o-1", "fairlead task cancel o-1"}));
  auto& task = *reply.mutable_task();
  task.set_paused(true);
  EXPECT_EQ(choices_for(reply), and_terminate({"fairlead task resume o-1", "fairlead task cancel o-1"}));
  task.set_paused(false);
  task.set_scheduled(true);
  EXPECT_EQ(choices_for(reply), and_terminate({"fairlead task cancel o-1"}));
  task.set_scheduled(false);
  task.set_terminated(true);
  EXPECT_EQ(choices_for(reply), commands{"fairlead task terminate o-1 --now --reason TEXT"});
  const auto parked = parked_order();
  EXPECT_EQ(choices_for(parked), commands_for(parked));
}

TEST(task_remedies, a_task_that_has_ended_may_be_undone_once_and_deleted) {
  auto reply = order_task();
  auto& task = *reply.mutable_task();
  task.set_state(v1::TASK_STATE_COMPLETED);
  step_of(reply, 0).set_state(v1::STEP_STATE_COMPLETED);
  EXPECT_EQ(choices_for(reply), (commands{"fairlead task undo o-1", "fairlead task delete o-1"}));
  EXPECT_EQ(choices_for(reply, true), commands{"fairlead task delete o-1"}) << "not out of the archive";
  step_of(reply, 2).set_state(v1::STEP_STATE_COMPLETED);
  EXPECT_EQ(choices_for(reply), commands{"fairlead task delete o-1"}) << "the pivot has happened";
  task.set_state(v1::TASK_STATE_UNDONE);
  step_of(reply, 2).set_state(v1::STEP_STATE_PENDING);
  EXPECT_EQ(choices_for(reply), commands{"fairlead task delete o-1"});
}

TEST(task_remedies, a_command_survives_a_shell) {
  auto reply = parked_order();
  step_of(reply, 1).set_path("ship[3]");
  EXPECT_EQ(commands_for(reply).front(), "fairlead task retry o-1 'ship[3]'");
  step_of(reply, 1).set_path("it's");
  EXPECT_EQ(commands_for(reply).front(), "fairlead task retry o-1 'it'\\''s'");
}

/// The last step is one of the end, and reserve is completed.
v1::TaskShowReply order_with_end() {
  auto out = order_task();
  auto& last = *out.mutable_definition()->mutable_steps(2);
  last.clear_undo();
  last.clear_pivot();
  last.set_finally(v1::FINALLY_ALWAYS);
  step_of(out, 0).set_state(v1::STEP_STATE_COMPLETED);
  return out;
}

TEST(task_remedies, a_step_of_the_end_needs_no_undo) {
  auto reply = order_with_end();
  step_of(reply, 1).set_state(v1::STEP_STATE_COMPLETED);
  step_of(reply, 2).set_state(v1::STEP_STATE_COMPLETED);
  reply.mutable_task()->set_state(v1::TASK_STATE_COMPLETED);
  commands found;
  for (const auto& one : choices_of(reply.task(), reply.definition(), false)) found.push_back(one.command);
  EXPECT_TRUE(any_has(found, "task undo o-1"));
}

TEST(task_remedies, a_step_of_the_end_is_performed_while_its_task_is_undone) {
  auto reply = order_with_end();
  reply.mutable_task()->set_state(v1::TASK_STATE_UNDOING);
  reply.mutable_definition()->mutable_steps(2)->set_kind(v1::STEP_KIND_SIGNAL);
  reply.mutable_definition()->mutable_steps(2)->set_signal("approved");
  step_of(reply, 2).set_not_before_unix_ms(some_moment);
  EXPECT_EQ(commands_for(reply), commands{"fairlead task signal o-1 approved --data JSON"});

  reply.mutable_definition()->mutable_steps(2)->clear_kind();
  step_of(reply, 2).clear_not_before_unix_ms();
  step_of(reply, 2).set_state(v1::STEP_STATE_IN_DOUBT);
  step_of(reply, 2).set_doubtful(true);
  step_of(reply, 2).set_given_up(true);
  reply.mutable_task()->set_parked(true);
  const auto parked = remedies_of(reply.task(), reply.definition());
  ASSERT_FALSE(parked.empty());
  EXPECT_EQ(parked.front().command, "fairlead task retry o-1 ship");
  EXPECT_EQ(parked.front().effect, "retries the step with the same idempotency key; a service that remembers keys does it once");
}

}  // namespace
}  // namespace fairlead::app
