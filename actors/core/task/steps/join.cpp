// Steps with `join`, and the steps that they do not need. In the commit in which a join is met, each step that only it would have needed is
// dropped: what has not begun is skipped, what an agent holds ends, and what was done is undone while the task goes on.

#include <algorithm>

#include "actors/core/task/machine.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/workflow/join.hpp"

namespace fairlead::core {

/// The step is pending, and too many of those that it needs will never be completed.
void task_machine::fail_join(std::uint32_t index) {
  const auto count = count_of_join(*ctx_.definition, record_, index);
  if (at(index).started_at_unix_ms() == 0) at(index).set_started_at_unix_ms(now_ms());
  fail_for_good(index, unmet_join_code,
                std::to_string(count.completed) + " of " + std::to_string(count.wanted) + " needed steps completed");
}

void task_machine::drop(std::uint32_t index) {
  auto& step = at(index);
  const auto join = join_without(*ctx_.definition, record_, index);
  step.set_dropped(true);
  note(v1::EVENT_KIND_STEP_DROPPED, index, join ? at(*join).path() : std::string{});
  out_.changed = true;
  if (attempt_out(step)) return;
  if (child_out(step)) return ask_child(index, v1::OPERATOR_VERB_CANCEL);
  step.clear_not_before_unix_ms();
  step.clear_awaits_callback();
  step.clear_failing_since_unix_ms();
  // One that was looked up in vain stays so: its undo must not ask again.
  if (step.direction() != v1::DIRECTION_LOOKUP) step.clear_given_up();
  let_go(index, true);
}

/// Of a dropped step: nothing more is performed of it. True: there is nothing left to do about it.
bool task_machine::let_go(std::uint32_t index, bool at_drop) {
  auto& step = at(index);
  const auto pending = step.state() == v1::STEP_STATE_PENDING;
  if (is_out(step) || (!pending && step.state() != v1::STEP_STATE_FAILED)) return false;
  if (step.doubtful()) {
    move_step(record_, index, step_moves::doubt, ctx_.now, out_);
    return false;
  }
  if (step.failing_since_unix_ms() != 0) {
    step.clear_failing_since_unix_ms();
    out_.changed = true;
  }
  // A step that has failed and would have been tried again is over now; one that failed later, or for good, stays failed.
  const auto would_go_on = pending || (at_drop && !step.passed_over());
  if (!would_go_on || is_undone_though_failed(definition_of(step), step)) return false;
  step.clear_until_open();
  step.clear_not_before_unix_ms();
  step.clear_given_up();
  step.set_ended_at_unix_ms(now_ms());
  drop_payload(step.input(), out_);
  step.clear_input();
  forget_progress(step, out_);
  move_step(record_, index, step_moves::skip, ctx_.now, out_);
  return true;
}

/// What was said of dropped steps since may leave nothing to do about them.
bool task_machine::let_go_of_dropped() {
  bool any = false;
  for (std::uint32_t i = 0; i < steps(); ++i) {
    if (at(i).dropped()) any = let_go(i, false) || any;
  }
  return any;
}

/// Goes on with the undo of what joins have dropped. True: some of it is done, and other steps may be ready.
bool task_machine::undo_dropped() {
  const auto goes_on = [this] { return !stopped() && !out_.fatal && record_.state() == v1::TASK_STATE_RUNNING; };
  // Not whether the workflow has joins: an operator may have moved the task to a version without them.
  const auto& all = record_.steps();
  if (!goes_on() || std::none_of(all.begin(), all.end(), [](const v1::StepRecord& step) { return step.dropped(); })) return false;
  bool done = false;
  for (bool moved = true; moved;) {
    moved = let_go_of_dropped();
    next_steps next;
    ctx_.engine->next_dropped(*ctx_.definition, record_, next);
    for (const auto index : next.ready) {
      const auto answered = !under_way(at(index)) && take_early_answer(index);
      const auto forgets = planted(&planted_faults::drop_forgets_undo) && at(index).state() == v1::STEP_STATE_COMPLETED;
      // By its answer the step may have nothing to undo.
      if (!answered) forgets ? undo_done(index, {}) : undo_next(index);
      if (!goes_on()) return false;
      moved = moved || answered || at(index).state() == v1::STEP_STATE_UNDONE;
    }
    done = done || moved;
    if (!moved) park_if_dropped_is_stuck(next);
  }
  return done;
}

/// `next`: of the dropped steps. One undo that keeps failing does not stop the others.
void task_machine::park_if_dropped_is_stuck(const next_steps& next) {
  const auto waits = [this](std::uint32_t index) { return !at(index).given_up() || looked_up_in_vain(at(index)); };
  if (next.ready.empty() || std::any_of(next.ready.begin(), next.ready.end(), waits)) return;
  for (const auto& step : record_.steps())
    if (step.dropped() && under_way(step)) return;
  park(record_, why_stuck(), ctx_.now, out_);
}

/// For an operator's action that does not fit a dropped step.
std::string task_machine::why_not_needed(std::uint32_t index) const {
  const auto join = join_without(*ctx_.definition, record_, index);
  return "the join of step " + (join ? record_.steps(static_cast<int>(*join)).path() : std::string{}) + " does not need step " +
         record_.steps(static_cast<int>(index)).path();
}

document_view task_machine::view_for(std::uint32_t index, v1::ExpressionPart part) const {
  const auto of_dropped = part == v1::EXPRESSION_PART_UNDO_WITH && record_.steps(static_cast<int>(index)).dropped();
  const auto reads_end = part != v1::EXPRESSION_PART_OUTPUT && of_end(record_.steps(static_cast<int>(index)));
  return {ctx_.definition->has_joins(), of_dropped, index, reads_end};
}

// ---- planted faults ----

bool task_machine::over_without_dropped() const {
  return std::all_of(record_.steps().begin(), record_.steps().end(),
                     [](const v1::StepRecord& step) { return step.dropped() || satisfies_needs(step); });
}

void task_machine::start_joins_early(next_steps& next) const {
  for (std::uint32_t i = 0; i < steps(); ++i) {
    const auto& step = record_.steps(static_cast<int>(i));
    const auto count = definition_of(step).join() == 0 ? join_count{} : count_of_join(*ctx_.definition, record_, i);
    if (step.state() != v1::STEP_STATE_PENDING || step.dropped() || count.wanted == 0 || count.met()) continue;
    if (count.completed + 1 == count.wanted && count.open > 0) next.ready.push_back(i);
  }
}

}  // namespace fairlead::core
