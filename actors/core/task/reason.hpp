#pragma once
// The reason for a task's state, one sentence, for every place that shows a task or reports its end.

#include <string>
#include <string_view>

#include "messages/task.pb.h"
#include "messages/task_states.hpp"
#include "messages/time.hpp"

namespace fairlead::core {

/// A step of the task that has been failing and is tried again; null: none.
inline const v1::StepRecord* failing_step_of(const v1::TaskRecord& task) {
  for (const auto& step : task.steps())
    if (step.failing_since_unix_ms() != 0 && !step.given_up()) return &step;
  return nullptr;
}

/// Why the task is parked; otherwise why it is or was undone, or why it failed or is to fail; otherwise empty.
inline const std::string& reason_of(const v1::TaskRecord& task) {
  const bool back = task.state() == v1::TASK_STATE_UNDOING || task.state() == v1::TASK_STATE_UNDONE;
  const bool fails = task.failing() || task.state() == v1::TASK_STATE_FAILED;
  if (!task.parked_reason().empty()) return task.parked_reason();
  return fails ? task.failed_reason() : back ? task.undo_reason() : task.parked_reason();
}

/// Every reason begins so for which a task parks, is undone or fails because its own time is over.
inline constexpr std::string_view time_over_reason = "the task did not end ";

/// The brake holds the task, or it is to fail, because its own time is over. `timed_out` alone does not say so: it stays when the task has
/// gone on after that, and a step may be the reason later.
inline bool is_held_for_time(const v1::TaskRecord& task) {
  const auto& reason = task.failing() ? task.failed_reason() : task.undo_reason();
  return (task.failing() || task.undo_held()) && reason.rfind(time_over_reason, 0) == 0;
}

/// As reason_of; for a task that has not started, when it does; for one that goes on, what one of its steps has been failing with.
inline std::string why_of(const v1::TaskRecord& task) {
  const auto& reason = reason_of(task);
  if (!reason.empty() || fairlead::has_ended(task.state())) return reason;
  if (task.scheduled()) return "starts at " + format_utc(task.start_at_unix_ms());
  const auto* step = failing_step_of(task);
  if (step == nullptr || !step->has_fault()) return {};
  const auto& fault = step->fault();
  const auto failed = step->direction() == v1::DIRECTION_UNDO ? step->undo().failed() : step->failure_count();
  return std::string{step->direction() == v1::DIRECTION_UNDO ? "the undo of step " : "step "} + step->path() +
         " is retried: " + fault.code() + " on " + std::to_string(failed) + (failed == 1 ? " attempt" : " attempts") +
         (fault.message().empty() ? "" : ", " + fault.message());
}

}  // namespace fairlead::core
