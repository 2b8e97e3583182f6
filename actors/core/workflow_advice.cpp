#include "actors/core/workflow_advice.hpp"

#include <algorithm>

#include "actors/core/expression.hpp"

namespace fairlead::core {

std::vector<definition_problem> advise(const v1::WorkflowDefinition& definition, const lookup_catalog& looks_up) {
  std::vector<definition_problem> out;
  for (const auto& step : definition.steps()) {
    if (!step.has_undo() || step.undo().none()) continue;
    const auto with = input_template::compile(step.undo().with_json());
    if (!with.ok()) continue;
    const auto& reads = with->mentioned_steps();
    if (std::find(reads.begin(), reads.end(), step.name()) == reads.end() || looks_up(step.agent(), step.call())) continue;
    out.push_back({step.name(), "undo.with",
                   "this undo needs the step's own output, and agent " + step.agent() + " cannot look up " + step.call() +
                       ": in doubt, the task would park instead of being undone",
                   "undo by something that is known before the step, such as ${ .task.id }"});
  }
  return out;
}

}  // namespace fairlead::core
