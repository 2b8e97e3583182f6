// Steps with `when`: once all that a step needs has ended, its condition says whether the step is performed or skipped.

#include "actors/core/task/machine.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::core {

/// Whether the step, which is ready, is to be performed. False: it has been skipped, waits for its condition, or has parked its task.
bool task_machine::is_wanted(std::uint32_t index) {
  const auto& step = at(index);
  const auto& compiled = ctx_.definition->compiled(step.definition());
  if (!compiled.when || step.wanted() || step.has_input()) return true;
  if (awaits_condition(compiled, step)) {
    ask_for(index, v1::EXPRESSION_PART_WHEN);
    return false;
  }
  const auto answer = render(index, v1::EXPRESSION_PART_WHEN, {});
  return answer && decide_condition(index, *answer);
}

void task_machine::take_condition(std::uint32_t index, const std::vector<std::string>& results) {
  const auto answer = render(index, v1::EXPRESSION_PART_WHEN, results);
  if (!answer || !decide_condition(index, *answer)) return;
  at(index).set_wanted(true);
  out_.changed = true;
}

/// Whether the step is wanted; if not it has been skipped, or its task is parked.
bool task_machine::decide_condition(std::uint32_t index, std::string_view answer) {
  if (answer != "true" && answer != "false") {
    cannot_render(index, v1::EXPRESSION_PART_WHEN, std::string{"`when` gave "} + json_kind_words(answer) + ", and not true or false");
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
/// condition reads nothing that steps gave and not the task's end, because that was the same then.
bool task_machine::leaves_no_doubt(std::uint32_t index) {
  auto& step = at(index);
  if (!step.doubtful()) return true;
  const auto& when = *ctx_.definition->compiled(step.definition()).when;
  if (!when.mentioned_steps().empty() || when.reads_end()) {
    cannot_render(index, v1::EXPRESSION_PART_WHEN, "`when` gives false, and the step may have been carried out since the backup");
    return false;
  }
  step.clear_doubtful();
  step.clear_fault();
  step.clear_next_key_in_doubt();
  return true;
}

}  // namespace fairlead::core
