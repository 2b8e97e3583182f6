#pragma once
// The states of a task, with the counter of each. One row a state, in the order in which they are shown.

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "messages/task.pb.h"
#include "messages/workflow.pb.h"

namespace fairlead {

struct task_state_row {
  v1::TaskState state;
  bool ended;  // the task is over; an operator may still have a completed or failed task undone
  std::uint64_t (v1::ShardState::*counted)() const;
  void (v1::ShardState::*set_count)(std::uint64_t);

  std::uint64_t count(const v1::ShardState& shard) const { return (shard.*counted)(); }
  void count(v1::ShardState& shard, std::uint64_t tasks) const { (shard.*set_count)(tasks); }
};

inline const task_state_row task_states[] = {
    {v1::TASK_STATE_PENDING, false, &v1::ShardState::pending, &v1::ShardState::set_pending},
    {v1::TASK_STATE_RUNNING, false, &v1::ShardState::running, &v1::ShardState::set_running},
    {v1::TASK_STATE_COMPLETED, true, &v1::ShardState::completed, &v1::ShardState::set_completed},
    {v1::TASK_STATE_UNDOING, false, &v1::ShardState::undoing, &v1::ShardState::set_undoing},
    {v1::TASK_STATE_UNDONE, true, &v1::ShardState::undone, &v1::ShardState::set_undone},
    {v1::TASK_STATE_FAILED, true, &v1::ShardState::failed, &v1::ShardState::set_failed},
};

/// Null: this release does not know the state.
inline const task_state_row* state_row_of(v1::TaskState state) {
  const auto* found = std::find_if(std::begin(task_states), std::end(task_states), [&](const auto& one) { return one.state == state; });
  return found == std::end(task_states) ? nullptr : found;
}

inline bool has_ended(v1::TaskState state) {
  const auto* row = state_row_of(state);
  return row != nullptr && row->ended;
}

/// An agent or a child carries a step of this kind out. The Scheduler itself carries out the others.
inline bool carried_out_elsewhere(v1::StepKind kind) { return kind == v1::STEP_KIND_CALL || kind == v1::STEP_KIND_WORKFLOW; }

/// Steps that need it may start.
inline bool satisfies_needs(const v1::StepRecord& step) {
  return step.state() == v1::STEP_STATE_COMPLETED || step.state() == v1::STEP_STATE_SKIPPED || step.passed_over();
}

/// Attempts to perform the step have failed, and nothing about it is in doubt.
inline bool has_failed_for_certain(const v1::StepRecord& step) {
  const auto open = step.state() == v1::STEP_STATE_PENDING || step.state() == v1::STEP_STATE_FAILED;
  return open && !step.doubtful() && step.failure_count() > 0;
}

/// A child of the task carries the step out, or undoes it, and has not ended.
inline bool child_out(const v1::StepRecord& step) {
  const auto asked = step.state() == v1::STEP_STATE_RUNNING || step.state() == v1::STEP_STATE_UNDOING;
  return step.kind() == v1::STEP_KIND_WORKFLOW && asked && !step.given_up();
}

/// The step's child has failed, and something that it has done stands or is in doubt. Items that are completed stand also when their step has
/// failed and is to be tried again.
inline bool child_stands(const v1::StepRecord& step) {
  const auto tried_again = step.state() == v1::STEP_STATE_PENDING && step.has_items();
  return (step.state() == v1::STEP_STATE_FAILED || tried_again) && step.child().stands();
}

/// In a task that is undone the step has failed, and is undone all the same.
inline bool is_undone_though_failed(const v1::StepDefinition& definition, const v1::StepRecord& step) {
  if (child_stands(step)) return !definition.undo().none();
  return definition.undo().also_if_failed() && has_failed_for_certain(step);
}

/// Since when the task is to be carried out: since its submission, or since the later start that was given with it.
inline std::int64_t wanted_since_unix_ms(const v1::TaskRecord& task) {
  return std::max<std::int64_t>(task.created_at_unix_ms(), task.start_at_unix_ms());
}

}  // namespace fairlead
