// Steps with joins, and what these do not need.

#include "tests/simulation/checker/own/joins.hpp"

#include <algorithm>

#include "tests/simulation/checker/checker.hpp"

namespace fairlead::simulation {

namespace {

const v1::StepRecord& step_of(const v1::TaskRecord& record, std::uint32_t index) { return record.steps(static_cast<int>(index)); }

bool taken_back(const v1::StepRecord& step) { return step.state() == v1::STEP_STATE_UNDOING || step.state() == v1::STEP_STATE_UNDONE; }

}  // namespace

bool join_met(const shape& plan, const v1::TaskRecord& record, std::uint32_t step) {
  std::uint32_t performed = 0, completed = 0;
  for (std::uint32_t other = 0; other < plan.size(); ++other) {
    if (!plan.needs(step, other)) continue;
    const auto& one = step_of(record, other);
    if (one.state() != v1::STEP_STATE_SKIPPED) ++performed;
    if (!one.dropped() && (one.state() == v1::STEP_STATE_COMPLETED || taken_back(one))) ++completed;
  }
  return completed >= std::min(plan.step(step).join(), performed);
}

bool is_over(const shape& plan, const v1::TaskRecord& record, std::uint32_t step) {
  const auto& one = step_of(record, step);
  if (!one.dropped()) return over(one);
  switch (one.state()) {
    case v1::STEP_STATE_COMPLETED: return !plan.undoable(step);
    case v1::STEP_STATE_FAILED:
      if (plan.is_child(step)) return !one.child().stands() || !plan.undoable(step);
      return !one.doubtful() && (one.failure_count() == 0 || !plan.undoes_failed(step));
    case v1::STEP_STATE_SKIPPED:
    case v1::STEP_STATE_UNDONE: return true;
    default: return false;
  }
}

bool is_ready(const shape& plan, const v1::TaskRecord& record, std::uint32_t step) {
  if (plan.joins(step) && !join_met(plan, record, step)) return false;
  for (std::uint32_t other = 0; other < plan.size(); ++other)
    if (plan.must_wait_for(step, other) && !is_over(plan, record, other)) return false;
  return true;
}

bool drop_is_lawful(const shape& plan, const v1::TaskRecord& record, std::uint32_t dropped) {
  bool needed = false;
  for (std::uint32_t later = 0; later < plan.size(); ++later) {
    if (!plan.needs(later, dropped)) continue;
    needed = true;
    if (step_of(record, later).dropped()) continue;
    if (!plan.leaves_steps_over(later) || !join_met(plan, record, later)) return false;
  }
  return needed;
}

/// `before`: null: a reader has not seen the task yet.
void checker::judge_dropped(const v1::TaskRecord* before, const v1::TaskRecord& now, const shape& plan) const {
  if (!plan.has_joins()) return;
  for (std::uint32_t i = 0; i < plan.size(); ++i) {
    const auto& step = step_of(now, i);
    const auto name = now.id() + "/" + step.path();
    const auto* was = before == nullptr ? nullptr : &step_of(*before, i);
    if (was != nullptr && was->dropped() && !step.dropped()) world::broken("dropped", name + " was dropped, and is not any more");
    // A child that found no room is handed back.
    if (was != nullptr && was->dropped() && step.attempt() > was->attempt())
      world::broken("dropped", name + " is dropped, and was handed over to be performed");
    if (plan.joins(i) && step.state() == v1::STEP_STATE_FAILED && step.fault().code() == "join" &&
        (was == nullptr || was->state() != v1::STEP_STATE_FAILED))
      world_.count("joins that cannot be met");
    if (!step.dropped() || (was != nullptr && was->dropped())) continue;
    world_.judges("dropped");
    world_.count("steps dropped");
    if (step.complete_by_unix_ms() != 0) world_.count("steps dropped while they are performed");
    if (!drop_is_lawful(plan, now, i)) world::broken("dropped", name + " is dropped, and a step needs it");
  }
}

/// A completed task has nothing left of what its joins did not need.
void checker::judge_dropped_end(const v1::TaskRecord& record, std::uint32_t index, const shape& plan) const {
  const auto& step = step_of(record, index);
  const auto name = record.id() + "/" + step.path();
  if (restores_.moved_on_unseen({record.id(), step.path()}, step.generation())) return;
  world_.judges("end_before_dropped");
  if (!is_over(plan, record, index))
    world::broken("end_before_dropped", record.id() + " is completed, and " + name + ", which is dropped, is " +
                                            v1::StepState_Name(step.state()) + (step.doubtful() ? " and in doubt" : ""));
  if (step.state() == v1::STEP_STATE_COMPLETED || passed_over_by_operator(record.id(), step.path()) || plan.says_undo_none(index)) return;
  world_.judges("dropped_standing");
  if (step.state() == v1::STEP_STATE_UNDONE) world_.count("dropped steps undone");
  if (open_effects(record, index) != 0)
    world::broken("dropped_standing", name + " is dropped, and its effect stands in the service though its task is completed");
}

}  // namespace fairlead::simulation
