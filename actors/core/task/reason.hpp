#pragma once
// The reason for a task's state, one sentence, for every place that shows a task or reports its end.

#include <string>

#include "messages/task.pb.h"

namespace fairlead::core {

/// Why the task is parked; otherwise why it is or was undone; otherwise empty.
inline const std::string& reason_of(const v1::TaskRecord& task) {
  const bool back = task.state() == v1::TASK_STATE_UNDOING || task.state() == v1::TASK_STATE_UNDONE;
  return back && task.parked_reason().empty() ? task.undo_reason() : task.parked_reason();
}

}  // namespace fairlead::core
