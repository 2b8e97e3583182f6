#include "app/cli/graph/levels.hpp"

#include <algorithm>

#include "actors/core/text/json.hpp"
#include "actors/core/workflow/check_kinds.hpp"
#include "actors/core/workflow/graph.hpp"
#include "app/cli/screen/table.hpp"

namespace fairlead::app {

namespace {

/// A pivot waits for all steps that are not its descendants. Of these only the last ones are named.
void add_waits_of_pivots(const core::needs_graph& graph, std::vector<graph_step>& steps) {
  const auto size = static_cast<int>(steps.size());
  for (int pivot = 0; pivot < size; ++pivot) {
    auto& mine = steps[static_cast<std::size_t>(pivot)];
    if (!mine.definition->pivot()) continue;
    const auto before = [&](int step) {
      return step != pivot && !graph.reaches(step, pivot) && steps[static_cast<std::size_t>(step)].definition->finally() == v1::FINALLY_NO;
    };
    for (int step = 0; step < size; ++step) {
      if (!before(step) || graph.reaches(pivot, step)) continue;
      bool last = true;
      for (int other = 0; last && other < size; ++other) last = !before(other) || !graph.reaches(other, step);
      if (last) mine.waits_for.push_back(step);
    }
  }
}

void add_levels(std::vector<graph_step>& steps) {
  std::vector<std::size_t> open(steps.size());
  std::vector<std::vector<int>> later(steps.size());
  std::vector<int> ready;
  int deepest = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    open[i] = steps[i].needs.size() + steps[i].waits_for.size();
    if (open[i] == 0) ready.push_back(static_cast<int>(i));
    for (const auto* before : {&steps[i].needs, &steps[i].waits_for})
      for (const int one : *before) later[static_cast<std::size_t>(one)].push_back(static_cast<int>(i));
  }
  for (std::size_t at = 0; at < ready.size(); ++at) {
    const auto& done = steps[static_cast<std::size_t>(ready[at])];
    deepest = std::max(deepest, done.level);
    for (const int next : later[static_cast<std::size_t>(ready[at])]) {
      auto& one = steps[static_cast<std::size_t>(next)];
      if (one.definition->finally() == done.definition->finally()) one.level = std::max(one.level, done.level + 1);
      if (--open[static_cast<std::size_t>(next)] == 0) ready.push_back(next);
    }
  }
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (open[i] != 0) steps[i].level = deepest + 1;
}

}  // namespace

std::vector<graph_step> graph_steps(const v1::WorkflowDefinition& definition) {
  const core::needs_graph graph{definition};
  std::vector<graph_step> out;
  for (int i = 0; i < definition.steps_size(); ++i) out.push_back({&definition.steps(i), 1, graph.needs(i), {}});
  if (graph.cycles(1).empty()) add_waits_of_pivots(graph, out);
  add_levels(out);
  return out;
}

std::string does_text(const v1::StepDefinition& step) {
  switch (step.kind()) {
    case v1::STEP_KIND_VALUE: return "value";
    case v1::STEP_KIND_WAIT: {
      const auto json = core::trim_json(step.with_json());
      return "wait " + (json.starts_with('"') ? printable(core::decode_json_string(json)) : std::string{});
    }
    case v1::STEP_KIND_SIGNAL: return "signal " + printable(step.signal());
    case v1::STEP_KIND_WORKFLOW: return "workflow " + printable(step.workflow());
    default: return printable(step.agent() + "." + step.call());
  }
}

std::vector<std::string> marks_of(const v1::StepDefinition& step, const v1::WorkflowDefinition& workflow) {
  std::vector<std::string> out;
  if (step.pivot()) out.emplace_back("pivot");
  if (!step.when_json().empty()) out.emplace_back("when");
  if (step.has_for_each()) {
    out.push_back("for each item, " + std::to_string(step.for_each().at_once()) + " at once");
    if (step.for_each().collect()) out.emplace_back("failures collect");
  }
  if (step.has_repeat()) out.emplace_back("repeat");
  if (step.callback_ms() != 0) out.emplace_back("callback");
  if (step.goes_on_untimely()) out.emplace_back("on_timeout continue");
  const auto effective = step.on_failure() == v1::ON_FAILURE_UNSPECIFIED ? workflow.on_failure() : step.on_failure();
  if (core::may_fail(step) && effective == v1::ON_FAILURE_CONTINUE && step.finally() == v1::FINALLY_NO)
    out.emplace_back("on_failure continue");
  if (step.has_undo() && !step.undo().none())
    out.push_back("undo " + printable(step.undo().call()));
  else if (!step.has_undo() && step.kind() == v1::STEP_KIND_CALL && step.finally() == v1::FINALLY_NO)
    out.emplace_back("no undo");
  else if (step.kind() == v1::STEP_KIND_WORKFLOW && step.undo().none())
    out.emplace_back("undo none");
  if (step.finally() == v1::FINALLY_ALWAYS) out.emplace_back("finally");
  if (step.finally() == v1::FINALLY_AFTER_FAILURE) out.emplace_back("finally after_failure");
  return out;
}

std::string join_text(const v1::StepDefinition& step) {
  if (step.join() == 0) return "";
  return (step.join() == 1 ? "any" : std::to_string(step.join())) + " of";
}

}  // namespace fairlead::app
