// Steps with `repeat`: a round is a perform with a key and attempts of its own. After a round `until` says whether the step is completed; if not
// the next one follows, after a while. What the rounds did stays: such a step has nothing to undo.

#include <algorithm>

#include "actors/core/task/machine.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::core {

/// A round has ended well. From here on nothing about it is in doubt, and another round has another key.
void task_machine::end_round(std::uint32_t index, const std::string& output) {
  const auto next_in_doubt = asked_since_backup(at(index)) && !drains(at(index));
  const auto key_used_at_ms = at(index).key_used_at_unix_ms();
  move_step(record_, index, step_moves::repeat, ctx_.now, out_);
  keep_result(index, output);
  auto& step = at(index);
  step.set_rounds(step.rounds() + 1);
  step.set_until_open(true);
  // An operator may have decided that in place of `when`.
  if (!definition_of(step).when_json().empty()) step.set_wanted(true);
  excuse(step, v1::DIRECTION_PERFORM);
  step.clear_failure_count();
  if (!planted(&planted_faults::same_key_each_round)) raise_generation(step, out_);
  // The round was carried out before the restore, perhaps: then the round behind it may have been as well, and is looked up first.
  if (next_in_doubt) {
    step.set_doubtful(true);
    step.set_key_used_at_unix_ms(key_used_at_ms);
  }
  drop_payload(step.input(), out_);
  step.clear_input();
  step.clear_input_edited();
  note(v1::EVENT_KIND_STEP_REPEATED, index, "round " + std::to_string(step.rounds()) + " has ended");
  // In a task that is stopped the step waits for what becomes of the task.
  if (goes_forward(step) && !stopped(step)) ask_until(index);
}

void task_machine::ask_until(std::uint32_t index) {
  if (!template_of(index, v1::EXPRESSION_PART_UNTIL)->plain()) return ask_for(index, v1::EXPRESSION_PART_UNTIL);
  decide_round(index, render(index, v1::EXPRESSION_PART_UNTIL, {}));
}

bool task_machine::out_of_rounds(const v1::StepRecord& step) const {
  const auto& definition = definition_of(step);
  return definition.has_repeat() && step.rounds() - step.rounds_excused() >= definition.repeat().most();
}

/// `answer`: of `until`; nullopt: the task is parked.
void task_machine::decide_round(std::uint32_t index, const std::optional<std::string>& answer) {
  if (!answer) return;
  auto& step = at(index);
  if (*answer != "true" && *answer != "false")
    return cannot_render(index, v1::EXPRESSION_PART_UNTIL,
                         std::string{"`repeat.until` gave "} + json_kind_words(*answer) + ", and not true or false");
  step.clear_until_open();
  out_.changed = true;
  const auto done = (*answer == "true") != planted(&planted_faults::ignore_until);
  if (done || out_of_rounds(step)) {
    // Since a restore the next round may be in doubt, and there is none.
    step.clear_doubtful();
    step.clear_next_key_in_doubt();
  }
  if (done) {
    move_step(record_, index, step_moves::complete, ctx_.now, out_);
    note(v1::EVENT_KIND_STEP_COMPLETED, index);
    return;
  }
  if (!out_of_rounds(step)) {
    const auto next_ms = next_round_ms(step);
    if (next_ms > now_ms() && !planted(&planted_faults::repeat_at_once)) wait_until(index, next_ms);
    return;
  }
  fail_for_good(index, out_of_rounds_code,
                "`until` was not true after " + std::to_string(step.rounds()) + (step.rounds() == 1 ? " round" : " rounds"));
}

/// While its task was to fail, a step between two rounds was let go: the moment of the next round stays as it was.
void task_machine::await_next_round(std::uint32_t index) {
  const auto& step = at(index);
  const auto between = step.state() == v1::STEP_STATE_PENDING && step.rounds() > 0 && !step.until_open() && !step.doubtful() &&
                       step.failure_count() == 0 && step.attempt() == step.excused();
  if (!between || of_end(step) || !goes_forward(step) || under_way(step)) return;
  const auto next_ms = next_round_ms(step);
  if (next_ms > now_ms()) wait_until(index, next_ms);
}

/// Counted from the end of the round before. The worker's answer may come late, or while the clock is wrong.
std::int64_t task_machine::next_round_ms(const v1::StepRecord& step) const {
  return std::min(step.ended_at_unix_ms(), now_ms()) + definition_of(step).repeat().every_ms();
}

}  // namespace fairlead::core
