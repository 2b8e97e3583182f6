#pragma once
// The definition by which the task of one item goes, where the step with `for_each` has a call (ParentOf.call_of).

#include <cstdint>

#include "messages/task.pb.h"
#include "messages/workflow.pb.h"

namespace fairlead::core {

/// The step's call alone. The task fails where the step would have given up, and nobody waits for an operator but in doubt.
inline v1::WorkflowDefinition definition_of_call(const v1::WorkflowDefinition& whole, std::uint32_t index) {
  v1::WorkflowDefinition out;
  out.set_name(whole.name());
  out.set_on_failure(v1::ON_FAILURE_FAIL);
  out.set_keep_days(whole.keep_days());
  out.set_types(whole.types());
  if (index >= static_cast<std::uint32_t>(whole.steps_size())) return out;
  auto& step = *out.add_steps();
  step = whole.steps(static_cast<int>(index));
  step.clear_for_each();
  step.clear_needs();
  step.clear_join();
  step.clear_when_json();
  step.clear_on_failure();
  step.clear_cool_off_ms();
  step.clear_with_json();  // its whole input
  out.set_output_json("\"${ .steps[\\\"" + step.name() + "\\\"] }\"");
  return out;
}

/// The definition by which the task goes; `stored`: that of its workflow's version.
inline v1::WorkflowDefinition definition_of_task(const v1::TaskRecord& task, v1::WorkflowDefinition stored) {
  return task.parent().call_of() == 0 ? stored : definition_of_call(stored, task.parent().call_of() - 1);
}

}  // namespace fairlead::core
