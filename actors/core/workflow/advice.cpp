#include "actors/core/workflow/advice.hpp"

#include <algorithm>

#include "actors/core/expression/expression.hpp"

namespace fairlead::core {

namespace {

/// `zone=eu and gpu=yes`.
std::string in_words(const google::protobuf::RepeatedPtrField<v1::Label>& labels) {
  std::string out;
  for (int i = 0; i < labels.size(); ++i)
    out += (i == 0 ? "" : i + 1 == labels.size() ? " and " : ", ") + labels[i].key() + "=" + labels[i].value();
  return out;
}

}  // namespace

std::vector<definition_problem> advise(const v1::WorkflowDefinition& definition, const lookup_catalog& looks_up,
                                       const label_catalog& carries) {
  std::vector<definition_problem> out;
  for (const auto& step : definition.steps()) {
    if (carries && !step.labels().empty() && !carries(step.agent(), step.labels()))
      out.push_back({step.name(), "labels",
                     "no agent " + step.agent() + " carries " + in_words(step.labels()) + ": the step would wait until one is there",
                     "give the agent these labels, or take them off the step"});
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
