// Steps with `when`: once all that a step needs has ended, its condition says whether the step is performed or skipped.

#include "actors/core/task/machine.hpp"
#include "actors/core/text/text.hpp"

namespace fairlead::core {

/// Whether the step, which is ready, is to be performed. False: it has been skipped, waits for its condition, or has parked its task.
bool task_machine::is_wanted(std::uint32_t index) {
  const auto& step = at(index);
  const auto& when = ctx_.definition->compiled(step.definition()).when;
  // With an input the step was wanted before, or an operator wants it.
  if (!when || step.wanted() || step.has_input()) return true;
  if (!when->plain()) {
    ask_for(index, v1::EXPRESSION_PART_WHEN, *when);
    return false;
  }
  std::string why;
  const auto answer = render(*when, {}, why);
  if (answer) return decide_condition(index, *answer);
  if (!why.empty()) cannot_decide(index, why);
  return false;
}

void task_machine::take_condition(std::uint32_t index, const expressions_evaluated& e) {
  auto& step = at(index);
  if (step.wanted()) return;
  if (e.failure) return cannot_decide(index, e.failure->sentence);
  std::string why;
  const auto answer = render(*ctx_.definition->compiled(step.definition()).when, e.results, why);
  if (!answer || !decide_condition(index, *answer)) return;
  step.set_wanted(true);
  out_.changed = true;
}

/// Whether the step is wanted; if not it has been skipped, or its task is parked.
bool task_machine::decide_condition(std::uint32_t index, std::string_view answer) {
  if (answer != "true" && answer != "false") {
    cannot_decide(index, "`when` gave " + clean_text(std::string{answer}, 60) + ", and not true or false");
    return false;
  }
  if (answer == "true" ? !planted(&planted_faults::skip_wanted) : planted(&planted_faults::ignore_when)) return true;
  if (!leaves_no_doubt(index)) return false;
  at(index).set_ended_at_unix_ms(now_ms());
  move_step(record_, index, step_moves::skip, ctx_.now, out_);
  note(v1::EVENT_KIND_STEP_SKIPPED, index, "`when` gave false");
  return false;
}

/// Of a step that is to be skipped. Only since a restore it may be in doubt: it may have been performed in the lost time. Not so where its
/// condition reads nothing that steps gave, because that was the same then.
bool task_machine::leaves_no_doubt(std::uint32_t index) {
  auto& step = at(index);
  if (!step.doubtful()) return true;
  if (!ctx_.definition->compiled(step.definition()).when->mentioned_steps().empty()) {
    cannot_decide(index, "`when` gives false, and the step may have been carried out since the backup");
    return false;
  }
  step.clear_doubtful();
  step.clear_fault();
  step.clear_next_key_in_doubt();
  return true;
}

/// Another try gives the same: an operator must act.
void task_machine::cannot_decide(std::uint32_t index, const std::string& why) {
  park(record_, "step " + at(index).path() + ": " + why, ctx_.now, out_);
}

}  // namespace fairlead::core
