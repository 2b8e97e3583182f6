// The end of a task as failed: by its workflow's answer `fail`, or by an operator's terminate. What was done stays.
//
// A task that is to fail keeps its state under the hold `failing`, and starts nothing but look-ups, until no attempt is in progress. Then
// it is failed in one commit.

#include <algorithm>

#include "actors/core/task/machine.hpp"
#include "actors/core/task/standing.hpp"
#include "actors/core/task/task.hpp"
#include "messages/holds.hpp"

namespace fairlead::core {

namespace {

constexpr std::string_view terminated_code = "terminated";

/// A step that a join did not need.
bool has_undo_in_doubt(const v1::StepRecord& step) { return step.state() == v1::STEP_STATE_UNDOING && step.undo_doubtful(); }

}  // namespace

void task_machine::begin_fail(std::string reason) {
  if (!is_called_off()) record_.clear_undo_reason();
  record_.clear_undo_held();
  record_.set_failing(true);
  add_event(record_, v1::EVENT_KIND_TASK_FAILING, 0, 0, ctx_.now, reason);
  out_.transitions.push_back({0, state_word(record_.state()), "failing", 0, reason});
  record_.set_failed_reason(std::move(reason));
  forget_end();
  for (auto& step : *record_.mutable_steps())
    if (!attempt_out(step) && (!of_end(step) || record_.terminated())) step.clear_not_before_unix_ms();
  for (std::uint32_t i = 0; i < steps(); ++i) end_idle_items(i);
}

void task_machine::advance_fail() {
  if (planted(&planted_faults::start_while_failing) && record_.state() == v1::TASK_STATE_RUNNING) {
    next_steps next;
    ctx_.engine->next(*ctx_.definition, record_, next);
    for (const auto step : next.ready) start_perform(step);
  }
  if (planted(&planted_faults::finally_before_drain) && !end_stopped()) start_end(v1::FINALLY_ALWAYS);
  const auto waits = record_.terminated() ? any_out(record_) : is_other_out(record_, *ctx_.definition);
  if (waits && (any_attempt_out(record_) || !planted(&planted_faults::end_before_child))) return;
  // What was said of an abandoned attempt while its lease was waited for. Nobody waits for that any more.
  for (std::uint32_t i = 0; i < steps() && !out_.fatal; ++i) take_early_answer(i);
  if (out_.fatal) return;
  if (record_.terminated()) return finish_fail();
  if (sleeps(record_) || !usable()) return;
  for (std::uint32_t i = 0; i < steps(); ++i) look_up_before_end(i);
  const auto asks = [this](const v1::StepRecord& step) { return to_be_looked_up(step) && !of_end(step); };
  if (out_.fatal || std::any_of(record_.steps().begin(), record_.steps().end(), asks)) return;
  const auto doubt = std::find_if(record_.steps().begin(), record_.steps().end(), [this](const v1::StepRecord& step) {
    return (step.doubtful() || has_undo_in_doubt(step)) && definition_of(step).in_doubt() != v1::IN_DOUBT_FAIL && !of_end(step);
  });
  if (doubt == record_.steps().end() || planted(&planted_faults::fail_in_doubt)) {
    if (advance_end(v1::FINALLY_ALWAYS) && advance_end(v1::FINALLY_AFTER_FAILURE)) finish_fail();
    return;
  }
  park(record_,
       (doubt->doubtful() ? "step " : "the undo of step ") + doubt->path() + " is in doubt (" + doubt->fault().code() +
           ") and the task is to fail: " + record_.failed_reason(),
       ctx_.now, out_);
}

/// A step in doubt is looked up if its agent can; once is enough.
void task_machine::look_up_before_end(std::uint32_t index) {
  const auto& step = at(index);
  // What items have done since a backup no agent can say.
  if (!step.doubtful() || under_way(step) || of_end(step) || step.kind() != v1::STEP_KIND_CALL) return;
  // Of a dropped step whose undo has begun it was asked before that.
  if (step.state() == v1::STEP_STATE_UNDOING) return;
  // Of one that was passed over it was asked before that.
  if (step.passed_over() && record_.failing()) return;
  if (!to_be_looked_up(step)) {
    const auto asked_in_vain = step.direction() == v1::DIRECTION_LOOKUP && step.given_up();
    if (asked_in_vain || !ctx_.agents->looks_up(definition_of(step).agent(), definition_of(step).call())) return;
    look_up(index);
  }
  start_lookup(index);
}

void task_machine::finish_fail() {
  let_go_of_end(false);
  for (std::uint32_t i = 0; i < steps(); ++i) {
    const auto& step = at(i);
    const auto open = step.state() == v1::STEP_STATE_PENDING || step.state() == v1::STEP_STATE_FAILED;
    if (open && step.doubtful()) move_step(record_, i, step_moves::doubt, ctx_.now, out_);
  }
  // A terminated task may have been parked meanwhile because of an internal error.
  unpark(record_, ctx_.now, out_);
  record_.clear_failing();
  record_.clear_undo_reason();
  // An operator may have said what it is, or a step of the end kept the task from completing with it.
  drop_payload(record_.output(), out_);
  record_.clear_output();
  move_task(record_, task_moves::fail, ctx_.now, out_, record_.failed_reason());
  record_.set_finished_at_unix_ms(now_ms());
  add_event(record_, v1::EVENT_KIND_TASK_FAILED, 0, 0, ctx_.now, standing_words(standing_of(record_)));
  out_.ended = true;
  out_.unparked = true;
}

// ---- terminate ----

void task_machine::operator_terminate(const v1::OperatorAction& action) {
  if (record_.terminated() && !action.at_once())
    return refuse("task " + record_.id() + " is being terminated already: it waits for the attempts in progress",
                  "fairlead task terminate " + record_.id() + " --now does not wait for them");
  note_operator(v1::EVENT_KIND_OPERATOR_TERMINATE, action, 0);
  record_.clear_paused();
  unpark(record_, ctx_.now, out_);
  if (!record_.terminated()) {
    record_.set_terminated(true);
    begin_fail("terminated by " + action.who() + (action.reason().empty() ? "" : ": " + action.reason()));
  }
  if (action.at_once()) {
    for (std::uint32_t i = 0; i < steps(); ++i)
      if (attempt_out(at(i))) abandon(i);
  }
  ask_children(v1::OPERATOR_VERB_TERMINATE, action.at_once());
  advance();
}

/// Nobody waits for the attempt in progress any more: an outcome that comes later is refused.
void task_machine::abandon(std::uint32_t index) {
  // The hand-over counts against the limits: the agent goes on with it, or its service has it already.
  ctx_.agents->release(holder_of(index), {slot_end::lost, 0, 0});
  if (!planted(&planted_faults::forget_abandoned)) at(index).set_held_until_unix_ms(lease_end(at(index)));
  v1::Fault fault;
  fault.set_kind(v1::FAULT_KIND_IN_DOUBT);
  fault.set_code(std::string{terminated_code});
  fault.set_message("the task was terminated while agent instance " + at(index).instance() + " held the step");
  end_badly(index, fault, v1::EVENT_KIND_STEP_IN_DOUBT);
  if (!planted(&planted_faults::terminate_without_doubt)) return;
  at(index).clear_doubtful();
  at(index).set_state(v1::STEP_STATE_FAILED);
}

}  // namespace fairlead::core
