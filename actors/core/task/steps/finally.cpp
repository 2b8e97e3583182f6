// Steps of the end (`finally`). They begin when no other step is performed any more: before the output of a task that completes, before
// the first undo of a task that is undone, before the end of a task that fails; those `after_failure` after the last undo, or just before
// the failed end. Each runs once, and one that fails for good raises an alert: the task ends as it would without it.

#include <algorithm>

#include "actors/core/task/machine.hpp"
#include "actors/core/task/standing.hpp"
#include "actors/core/workflow/finally.hpp"
#include "actors/core/workflow/join.hpp"
#include "messages/holds.hpp"

namespace fairlead::core {

namespace {

bool may_have_begun(const v1::StepRecord& step) {
  const auto open = step.state() == v1::STEP_STATE_PENDING || step.state() == v1::STEP_STATE_SKIPPED;
  return !open || step.started_at_unix_ms() != 0 || step.doubtful();
}

/// The end of its task has come without its turn; one that `when`, a signal's timeout or an operator has skipped has a moment at which it ended.
bool was_left_out(const v1::StepRecord& step) { return step.state() == v1::STEP_STATE_SKIPPED && step.ended_at_unix_ms() == 0; }

}  // namespace

/// As stopped(), but a task that is to fail performs them.
bool task_machine::end_stopped() const {
  if (sleeps(record_) || record_.undo_held() || record_.terminated() || !usable()) return true;
  return record_.state() != v1::TASK_STATE_RUNNING && record_.state() != v1::TASK_STATE_UNDOING;
}

/// A task that has done nothing ends without them.
bool task_machine::has_begun() const { return std::any_of(record_.steps().begin(), record_.steps().end(), may_have_begun); }

bool task_machine::is_other_out() const {
  return std::any_of(record_.steps().begin(), record_.steps().end(),
                     [this](const v1::StepRecord& step) { return is_out(step) && !of_end(step); });
}

bool task_machine::is_end_out() const {
  return std::any_of(record_.steps().begin(), record_.steps().end(),
                     [this](const v1::StepRecord& step) { return is_out(step) && of_end(step); });
}

bool task_machine::others_are_over() const {
  return std::all_of(record_.steps().begin(), record_.steps().end(),
                     [this](const v1::StepRecord& step) { return of_end(step) || is_over(*ctx_.definition, step); });
}

/// `end: failed`, and a step that is not one of the end was passed over.
bool task_machine::fails_at_end() const {
  return ctx_.definition->definition().ends_failed() && !planted(&planted_faults::forget_failed_end) &&
         !passed_over_words(record_, *ctx_.definition).empty();
}

void task_machine::start_end(v1::Finally which) {
  if (end_stopped()) return;
  next_steps next;
  next_of_end(*ctx_.definition, record_, which, next);
  for (const auto index : next.ready) {
    start_perform(index);
    if (end_stopped() || out_.fatal) return;
  }
}

/// Of a task that is undone or fails: performs the steps of that kind. True: they are over, or there is none.
bool task_machine::advance_end(v1::Finally which) {
  if (!ctx_.definition->has_end()) return true;
  if (!has_begun() || planted(&planted_faults::finally_skipped)) {
    for (std::uint32_t i = 0; i < steps(); ++i)
      if (definition_of(at(i)).finally() == which && at(i).state() == v1::STEP_STATE_PENDING)
        move_step(record_, i, step_moves::skip, ctx_.now, out_);
    return true;
  }
  for (bool moved = true; moved;) {
    moved = false;
    // Whatever was decided about such a step while the task was stopped, or went forward, comes now.
    for (std::uint32_t i = 0; i < steps(); ++i) {
      if (definition_of(at(i)).finally() != which) continue;
      if (to_be_looked_up(at(i)) && !under_way(at(i))) start_lookup(i);
      take_up(i);
      if (end_stopped() || out_.fatal) return false;
    }
    next_steps next;
    next_of_end(*ctx_.definition, record_, which, next);
    if (next.over) return true;
    for (const auto index : next.ready) {
      start_perform(index);
      if (end_stopped() || out_.fatal) return false;
      // Its service may have forgotten the key, so that it is looked up instead.
      if (to_be_looked_up(at(index)) && !under_way(at(index))) start_lookup(index);
      moved = moved || satisfies_needs(at(index));
    }
  }
  return false;
}

bool task_machine::parks_end(const v1::StepRecord& step) const {
  return step.given_up() && step.doubtful() && !step.passed_over() && definition_of(step).in_doubt() == v1::IN_DOUBT_PARK;
}

/// The step is given up.
void task_machine::answer_end(std::uint32_t index) {
  if (end_stopped()) return;
  parks_end(at(index)) ? park(record_, why_given_up(at(index)), ctx_.now, out_) : end_without(index);
}

void task_machine::end_without(std::uint32_t index) {
  const auto& step = at(index);
  const auto why = why_given_up(step);
  const auto& id = record_.id();
  add_alert(record_, v1::ALERT_KIND_FINALLY_FAILED, step.path(), "task " + id + " ends without its step " + step.path() + ": " + why,
            "fairlead task show " + id + " shows what the step was to do; do it by hand, then acknowledge this alert", out_.alerts);
  pass_over(index);
}

/// The task completes: whether a step is looked up that is left out by that, and may have been performed, as after a restore.
bool task_machine::asks_about_end() {
  if (!ctx_.definition->has_end()) return false;
  bool asks = false;
  for (std::uint32_t i = 0; i < steps(); ++i) {
    const auto& step = at(i);
    if (definition_of(step).finally() != v1::FINALLY_AFTER_FAILURE) continue;
    const auto open = step.state() == v1::STEP_STATE_PENDING && step.doubtful();
    if (open && ctx_.agents->looks_up(definition_of(step).agent(), definition_of(step).call())) look_up(i);
    asks = asks || to_be_looked_up(step);
  }
  return asks;
}

/// The task would complete. A step for tasks that do not may have been performed all the same, since a restore or before an operator's retry.
bool task_machine::parks_before_end() {
  if (!ctx_.definition->has_end()) return false;
  for (std::uint32_t i = 0; i < steps(); ++i) {
    auto& step = at(i);
    const auto parks = step.doubtful() && definition_of(step).in_doubt() == v1::IN_DOUBT_PARK;
    if (!of_end(step) || satisfies_needs(step) || !parks) continue;
    if (step.state() != v1::STEP_STATE_IN_DOUBT) move_step(record_, i, step_moves::doubt, ctx_.now, out_);
    step.clear_not_before_unix_ms();
    step.set_given_up(true);
    park(record_, why_given_up(step), ctx_.now, out_);
    return true;
  }
  return false;
}

/// The task ends: steps of the end that were not performed never will be, unless it is undone later.
void task_machine::let_go_of_end(bool alert) {
  if (!ctx_.definition->has_end()) return;
  for (std::uint32_t i = 0; i < steps(); ++i) {
    auto& step = at(i);
    if (!of_end(step) || satisfies_needs(step)) continue;
    if (step.held_until_unix_ms() == 0) step.clear_not_before_unix_ms();
    step.clear_awaits_callback();
    if (step.state() == v1::STEP_STATE_PENDING && !step.doubtful()) {
      if (may_have_begun(step)) step.set_ended_at_unix_ms(now_ms());
      move_step(record_, i, step_moves::skip, ctx_.now, out_);
      continue;
    }
    if (step.state() == v1::STEP_STATE_PENDING) move_step(record_, i, step_moves::doubt, ctx_.now, out_);
    alert ? end_without(i) : pass_over(i);
  }
}

/// The task is to be undone: steps that an earlier end has left out have their turn now.
void task_machine::bring_back_end() {
  if (!ctx_.definition->has_end()) return;
  for (std::uint32_t i = 0; i < steps(); ++i) {
    auto& step = at(i);
    if (!of_end(step) || !satisfies_needs(step)) continue;
    step.clear_not_before_unix_ms();
    step.clear_held_until_unix_ms();
    const auto again = step.state() == v1::STEP_STATE_COMPLETED && planted(&planted_faults::finally_twice);
    if (again) raise_generation(step, out_);
    if (again) step.set_state(v1::STEP_STATE_PENDING);
    if (was_left_out(step)) move_step(record_, i, step_moves::bring_back, ctx_.now, out_);
  }
}

/// The task takes another end: what was computed for steps that have not begun reads as if it took the former one.
void task_machine::forget_end() {
  if (!ctx_.definition->has_end()) return;
  out_.forget_asked = true;
  for (auto& step : *record_.mutable_steps()) {
    if (!of_end(step) || may_have_begun(step)) continue;
    step.clear_wanted();
    if (step.input_edited()) continue;
    drop_payload(step.input(), out_);
    step.clear_input();
  }
}

}  // namespace fairlead::core
