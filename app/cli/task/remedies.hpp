#pragma once
// What an operator can do for a task that stands still: the commands that fit its state, ready to be run.

#include <string>
#include <vector>

#include "messages/task.pb.h"
#include "messages/workflow.pb.h"

namespace fairlead::app {

struct remedy {
  std::string command;  // as it is typed, with JSON and TEXT where something is to be filled in
  std::string effect;   // what it does, without a full stop
};

/// Empty when there is nothing for an operator to do. Only commands that the Scheduler would take: no `skip` for a step in doubt, and no `undo` once a
/// pivot may have happened or where a step has no undo.
std::vector<remedy> remedies_of(const v1::TaskRecord& task, const v1::WorkflowDefinition& definition);

/// Whether the Scheduler would take an undo or a cancel of a task that has not ended.
bool can_be_undone(const v1::TaskRecord& task, const v1::WorkflowDefinition& definition);

/// The indexes of the steps that stand still until an operator decides about them. Only a parked task has such.
std::vector<int> stuck_steps(const v1::TaskRecord& task);

/// Nobody knows whether the step was carried out.
bool in_doubt(const v1::StepRecord& step);

/// The step has used up its attempts and makes another one after a long wait.
bool cooling_off(const v1::TaskRecord& task, int step);

}  // namespace fairlead::app
