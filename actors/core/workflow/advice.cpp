#include "actors/core/workflow/advice.hpp"

#include <algorithm>
#include <string_view>

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

/// Whether what is given differs from item to item. An absent `with` is the item.
bool tells_items_apart(const std::string& json, std::string_view own_step = {}) {
  const auto compiled = input_template::compile(json);
  if (!compiled || !compiled->item_root().empty()) return true;
  const auto& reads = compiled->mentioned_steps();
  return std::find(reads.begin(), reads.end(), own_step) != reads.end();
}

void advise_items(const v1::StepDefinition& step, std::vector<definition_problem>& out) {
  const auto* remedy = "read ${ .item } or ${ .index } in it";
  if (!step.with_json().empty() && !tells_items_apart(step.with_json()))
    out.push_back({step.name(), "with", "each item is given the same: `with` reads neither .item nor .index", remedy});
  if (step.has_undo() && !step.undo().none() && !tells_items_apart(step.undo().with_json(), step.name()))
    out.push_back({step.name(), "undo.with", "the undo of each item is given the same: it reads neither .item nor .index", remedy});
}

}  // namespace

std::vector<definition_problem> advise(const v1::WorkflowDefinition& definition, const lookup_catalog& looks_up,
                                       const label_catalog& carries, const workflow_catalog& knows) {
  std::vector<definition_problem> out;
  for (const auto& step : definition.steps()) {
    if (carries && !step.labels().empty() && !carries(step.agent(), step.labels()))
      out.push_back({step.name(), "labels",
                     "no agent " + step.agent() + " carries " + in_words(step.labels()) + ": the step would wait for such an instance",
                     "add these labels to the agent, or remove them from the step"});
    if (step.has_for_each()) advise_items(step, out);
    // A workflow that names itself is there as soon as it can run.
    if (knows && step.kind() == v1::STEP_KIND_WORKFLOW && step.workflow() != definition.name() && !knows(step.workflow()))
      out.push_back({step.name(), "workflow", "there is no workflow " + step.workflow() + ": the step would fail with code no_workflow",
                     "deploy " + step.workflow() + " before the first task gets to this step"});
    if (!step.has_undo() || step.undo().none()) continue;
    const auto with = input_template::compile(step.undo().with_json());
    if (!with.ok()) continue;
    const auto& reads = with->mentioned_steps();
    if (std::find(reads.begin(), reads.end(), step.name()) == reads.end() || looks_up(step.agent(), step.call())) continue;
    out.push_back({step.name(), "undo.with",
                   "this undo needs the output of its step, but agent " + step.agent() + " cannot look up " + step.call() +
                       ": if the step is in doubt, the task is parked instead of undone",
                   "use only values in the undo that are known before the step, such as ${ .task.id }"});
  }
  return out;
}

}  // namespace fairlead::core
