// Undoing a task: wait for attempts in progress, look up steps in doubt, undo in reverse order.

#include <algorithm>

#include "actors/core/task/machine.hpp"
#include "actors/core/task/standing.hpp"
#include "actors/core/task/task.hpp"

namespace fairlead::core {

/// The undo of a dropped step has begun before that of the task: its pause and its attempts are still those that its service and its
/// workflow ask for.
bool task_machine::goes_on_undoing(const v1::StepRecord& step) const {
  if (step.state() != v1::STEP_STATE_UNDOING || step.held_until_unix_ms() != 0) return false;
  return step.given_up() || step.not_before_unix_ms() > now_ms();
}

void task_machine::begin_undo(std::string reason, bool asked) {
  record_.clear_undo_held();
  record_.clear_failing();
  record_.clear_terminated();
  move_task(record_, task_moves::undo, ctx_.now, out_, reason);
  add_event(record_, v1::EVENT_KIND_TASK_UNDOING, 0, 0, ctx_.now, reason);
  record_.set_undo_reason(std::move(reason));
  record_.clear_finished_at_unix_ms();
  drop_payload(record_.output(), out_);
  record_.clear_output();
  bring_back_end();
  forget_end();
  for (std::uint32_t i = 0; i < steps(); ++i) {
    auto& step = at(i);
    // Undoing is a child already that a join has dropped after its end.
    if (child_out(step) && step.state() == v1::STEP_STATE_RUNNING && !planted(&planted_faults::child_not_cancelled))
      ask_child(i, v1::OPERATOR_VERB_CANCEL);
    if (is_out(step) || of_end(step)) continue;
    // A child that has refused is asked again below: that is no attempt at a service.
    if (!asked && step.kind() == v1::STEP_KIND_CALL && goes_on_undoing(step)) continue;
    step.clear_not_before_unix_ms();
    step.clear_awaits_callback();
    // Its agent counts the lease by a steady clock: it is no longer than one that would begin now.
    if (step.held_until_unix_ms() > now_ms()) {
      step.set_held_until_unix_ms(std::min(step.held_until_unix_ms(), now_ms() + timeout_of(step, step.direction())));
      step.set_not_before_unix_ms(step.held_until_unix_ms());
    } else {
      step.clear_held_until_unix_ms();
    }
    step.clear_failing_since_unix_ms();
    // A step that was looked up in vain stays so: its undo must not ask again.
    if (step.direction() != v1::DIRECTION_LOOKUP) step.clear_given_up();
    // A dropped one whose undo was refused.
    if (child_out(step)) ask_child(i, v1::OPERATOR_VERB_UNDO);
    if (planted(&planted_faults::pass_over_doubt)) {
      step.clear_doubtful();
      if (step.state() == v1::STEP_STATE_IN_DOUBT) step.set_state(v1::STEP_STATE_FAILED);
    }
    const auto open = step.state() == v1::STEP_STATE_PENDING || step.state() == v1::STEP_STATE_FAILED;
    if (open && step.doubtful()) move_step(record_, i, step_moves::doubt, ctx_.now, out_);
  }
}

/// A hold that ends with the beginning of the undo may have outlasted the pause of a step of the end. The Supervisor has asked in vain
/// meanwhile, so that step goes on now and not with the next scan. All other steps have lost their pauses.
void task_machine::catch_up_end() {
  for (std::uint32_t i = 0; i < steps(); ++i)
    if (of_end(at(i)) && !attempt_out(at(i))) recover_if_due(i);
}

void task_machine::advance_undo() {
  if (planted(&planted_faults::perform_after_undo)) {
    next_steps next;
    ctx_.engine->next(*ctx_.definition, record_, next);
    for (const auto step : next.ready) start_perform(step);
  }
  if (planted(&planted_faults::finally_before_drain) && !end_stopped()) start_end(v1::FINALLY_ALWAYS);
  for (const auto& step : record_.steps())
    if (!of_end(step) && holds_up_undo(record_, step)) return;
  // What was asked when the undo was decided may have another answer by now.
  if (const auto why = record_.undo_uncertain() ? cannot_undo() : std::nullopt) {
    for (std::uint32_t i = 0; i < steps(); ++i) look_up_before_end(i);
    const auto& all = record_.steps();
    const auto asks = [this](const v1::StepRecord& step) { return to_be_looked_up(step) && !of_end(step); };
    if (!out_.fatal && std::none_of(all.begin(), all.end(), asks)) park(record_, why->sentence, ctx_.now, out_);
    return;
  }
  if (!advance_end(v1::FINALLY_ALWAYS)) return;
  // A step undone or passed over without a call may be the last that others waited for.
  for (bool moved = true; moved;) {
    moved = false;
    next_steps next;
    ctx_.engine->next_undo(*ctx_.definition, record_, next);
    if (planted(&planted_faults::undo_failed_anyway)) {
      for (std::uint32_t i = 0; i < steps(); ++i)
        if (has_failed_for_certain(at(i)) && ctx_.definition->compiled(at(i).definition()).undo_with) next.ready.push_back(i);
      next.over = next.over && next.ready.empty();
    }
    if (next.over) {
      if (advance_end(v1::FINALLY_AFTER_FAILURE)) finish_undo();
      return;
    }
    // One that began when the task was to fail: it goes on after the last undo.
    if (is_end_out(record_, *ctx_.definition)) return;
    if (planted(&planted_faults::wrong_order)) {
      next.ready.clear();
      for (std::uint32_t i = 0; i < steps(); ++i)
        if (at(i).state() == v1::STEP_STATE_COMPLETED || at(i).state() == v1::STEP_STATE_IN_DOUBT) next.ready.push_back(i);
    }
    for (const auto index : next.ready) {
      const auto answered = !under_way(at(index)) && take_early_answer(index);
      // By its answer the step may have nothing to undo.
      if (!answered) undo_next(index);
      if (out_.fatal) return;
      moved = moved || answered || at(index).state() == v1::STEP_STATE_UNDONE;
    }
  }
  park_if_stuck();
}

/// The step is next to be undone: something has to be done unless it is in progress.
void task_machine::undo_next(std::uint32_t index) {
  const auto& step = at(index);
  if (step.has_items() && step.state() == v1::STEP_STATE_UNDOING) return undo_items(index);
  if (under_way(step)) return;
  const auto doubt = step.state() == v1::STEP_STATE_IN_DOUBT;
  const auto asked_in_vain = looked_up_in_vain(step);
  if (step.given_up() && !asked_in_vain) return;
  if (step.kind() == v1::STEP_KIND_WORKFLOW) return undo_child(index);
  if (doubt && !asked_in_vain) {
    // Only a connected agent can say whether it looks calls up.
    const auto& definition = definition_of(step);
    if (step.direction() == v1::DIRECTION_LOOKUP) return start_lookup(index);
    if (ctx_.agents->looks_up(definition.agent(), definition.call())) {
      look_up(index);
      return start_lookup(index);
    }
  }
  const auto& compiled = ctx_.definition->compiled(step.definition());
  const auto skips = planted(&planted_faults::skip_undo) || (planted(&planted_faults::skip_undo_of_failed) && has_failed_for_certain(step));
  if (!compiled.undo_with || (skips && !doubt)) return undo_done(index, "there is nothing to undo");
  if (doubt && compiled.undo_reads_output) {
    // An agent that is not connected yet may turn out to look calls up.
    const auto instance = claim(index, v1::DIRECTION_UNDO, {});
    if (!instance) return;
    ctx_.agents->release(holder_of(index), {});
    cannot_render(index, v1::EXPRESSION_PART_UNDO_WITH, "the step is in doubt, and its undo needs the step's output, which is unknown");
    return;
  }
  // The record keeps the look-up in vain until the undo is handed over; otherwise it would be repeated.
  start_undo(index);
}

/// Of the perform that a look-up or an undo is about. Where a step has failed and its next attempt would have had another key, its undo is
/// about the attempts that were made.
std::string task_machine::perform_key_of(const v1::StepRecord& step) const {
  const auto made_before = step.direction() == v1::DIRECTION_UNDO && step.key_used_at_unix_ms() == 0 && step.generation() > 0 &&
                           !step.doubtful() && !step.has_output();
  if (!made_before) return idempotency_key(record_, step, v1::DIRECTION_PERFORM);
  v1::StepRecord latest;
  latest.set_path(step.path());
  latest.set_generation(step.generation() - 1);
  return idempotency_key(record_, latest, v1::DIRECTION_PERFORM);
}

void task_machine::undo_done(std::uint32_t index, const std::string& how) {
  auto& step = at(index);
  if (planted(&planted_faults::double_undo) && step.undo().made() == 1) {
    end_lease(step);
    return start_undo(index);
  }
  if (step.state() != v1::STEP_STATE_UNDOING) move_step(record_, index, step_moves::undo, ctx_.now, out_);
  step.set_direction(v1::DIRECTION_UNDO);
  move_step(record_, index, step_moves::undone, ctx_.now, out_, how);
  step.set_ended_at_unix_ms(now_ms());
  end_lease(step);
  step.clear_not_before_unix_ms();
  step.clear_doubtful();
  step.clear_given_up();
  step.clear_failing_since_unix_ms();
  drop_payload(step.undo_input(), out_);
  step.clear_undo_input();
  note(v1::EVENT_KIND_STEP_UNDONE, index, how);
  // A later perform must not be taken for the undone one.
  raise_generation(step, out_);
}

void task_machine::finish_undo() {
  move_task(record_, task_moves::undone, ctx_.now, out_);
  record_.set_finished_at_unix_ms(now_ms());
  add_event(record_, v1::EVENT_KIND_TASK_UNDONE, 0, 0, ctx_.now, end_words(record_, *ctx_.definition));
  out_.ended = true;
  out_.unparked = true;
}

/// One undo that keeps failing does not stop the others; after them the task waits for an operator. Steps after a failure come later.
void task_machine::park_if_stuck() {
  if (out_.found_no_instance || !out_.evaluations.empty() || out_.awaits_input) return;
  for (const auto& step : record_.steps())
    if (under_way(step) && !of_end(step)) return;
  park(record_, why_stuck(), ctx_.now, out_);
}

std::string task_machine::why_stuck() const {
  for (const auto& step : record_.steps()) {
    if (!step.given_up() || of_end(step)) continue;
    const auto made = step.undo().failed();  // not made(), which a restore raises
    return "step " + step.path() + " could not be undone (" + step.fault().code() + ") after " + std::to_string(made) +
           (made == 1 ? " attempt: " : " attempts: ") + step.fault().message();
  }
  throw std::logic_error("task " + record_.id() + " is being undone and nothing of it is under way");
}

}  // namespace fairlead::core
