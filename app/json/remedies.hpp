#pragma once
// Commands that an operator can use for a task that makes no progress. They fit the task's state
// and are ready to run.

#include <string>
#include <vector>

#include "messages/task.pb.h"
#include "messages/workflow.pb.h"

namespace fairlead::app {

struct remedy {
  std::string command;  // as it is typed, with JSON and TEXT as placeholders
  std::string effect;   // the effect of the command, without a full stop
};

/// Empty if an operator has nothing to do. The list has only commands that the Scheduler would
/// accept. It has no `skip` for a step in doubt. It has no `undo` if a pivot may have happened or a
/// step has no undo.
std::vector<remedy> remedies_of(const v1::TaskRecord& task, const v1::WorkflowDefinition& definition);

/// What the Scheduler would accept now, whether or not the task needs an operator: for whoever was refused something else. `archived`: the
/// task lies in the archive.
std::vector<remedy> choices_of(const v1::TaskRecord& task, const v1::WorkflowDefinition& definition, bool archived);

/// Whether the Scheduler would accept an undo or a cancel of the live task.
bool can_be_undone(const v1::TaskRecord& task, const v1::WorkflowDefinition& definition);

/// The indexes of the steps that wait for an operator's decision. Only a parked task has such
/// steps.
std::vector<int> stuck_steps(const v1::TaskRecord& task);

/// Whether it is unknown if the step was carried out.
bool in_doubt(const v1::StepRecord& step);

/// Of a step that is repeated: one round has ended, and the next one begins at a moment.
bool between_rounds(const v1::TaskRecord& task, const v1::StepRecord& step, const v1::StepDefinition& definition);

/// The step has used up its attempts. The next attempt comes after a long wait.
bool cooling_off(const v1::TaskRecord& task, int step);

}  // namespace fairlead::app
