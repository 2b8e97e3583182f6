#pragma once
// Why a task is where it is, in a sentence, wherever a task is shown or its end is told.

#include <string>

#include "messages/task.pb.h"

namespace fairlead::core {

/// Why it is parked, else why it is being undone or was; empty for one that is neither.
inline const std::string& reason_of(const v1::TaskRecord& task) {
  const bool back = task.state() == v1::TASK_STATE_UNDOING || task.state() == v1::TASK_STATE_UNDONE;
  return back && task.parked_reason().empty() ? task.undo_reason() : task.parked_reason();
}

}  // namespace fairlead::core
