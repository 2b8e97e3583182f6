// Steps with `on_failure: continue`: one that has failed for good stays failed, and the task goes on without it.

#include "actors/core/task/machine.hpp"
#include "actors/core/task/standing.hpp"

namespace fairlead::core {

/// Of a step that is given up. Doubt stays with it, for an undo and for the task's end.
void task_machine::pass_over(std::uint32_t index) {
  stay_failed(index);
  auto& step = at(index);
  step.set_passed_over(true);
  step.set_ended_at_unix_ms(now_ms());
  note(v1::EVENT_KIND_STEP_PASSED_OVER, index, step.fault().code());
  out_.changed = true;
}

/// The step waits for nothing any more.
void task_machine::stay_failed(std::uint32_t index) {
  auto& step = at(index);
  if (step.state() == v1::STEP_STATE_IN_DOUBT) move_step(record_, index, step_moves::exhaust, ctx_.now, out_);
  step.set_direction(v1::DIRECTION_PERFORM);
  step.clear_given_up();
  step.clear_failing_since_unix_ms();
}

/// Nothing is left to perform.
void task_machine::end_performed() {
  const auto words = passed_over_words(record_, *ctx_.definition);
  if (fails_at_end()) return begin_fail("the workflow says end: failed (" + words + ")");
  if (planted(&planted_faults::after_failure_of_completed) && !advance_end(v1::FINALLY_AFTER_FAILURE)) return;
  if (asks_about_end() || !has_given_output() || parks_before_end()) return;
  let_go_of_end(true);
  const auto without = end_words(record_, *ctx_.definition);
  record_.clear_undo_reason();
  move_task(record_, task_moves::complete, ctx_.now, out_);
  tell_output();
  record_.set_finished_at_unix_ms(now_ms());
  add_event(record_, v1::EVENT_KIND_TASK_COMPLETED, 0, 0, ctx_.now, words + (words.empty() || without.empty() ? "" : "; ") + without);
  out_.ended = true;
  out_.unparked = true;
}

}  // namespace fairlead::core
