#pragma once
// The texts of a definition that may hold expressions, for those who look at all of them.

#include <string>
#include <utility>
#include <vector>

#include "messages/workflow.pb.h"

namespace fairlead::core {

/// Each with its key in the file, such as `undo.with` or `wait`. They are valid as long as `step`.
inline std::vector<std::pair<std::string, const std::string*>> templates_of(const v1::StepDefinition& step) {
  std::vector<std::pair<std::string, const std::string*>> out{{step.kind() == v1::STEP_KIND_WAIT ? "wait" : "with", &step.with_json()}};
  if (!step.when_json().empty()) out.emplace_back("when", &step.when_json());
  if (step.has_for_each()) out.emplace_back("for_each.items", &step.for_each().list_json());
  if (step.has_repeat()) out.emplace_back("repeat.until", &step.repeat().until_json());
  if (step.has_undo()) out.emplace_back("undo.with", &step.undo().with_json());
  return out;
}

/// Of all steps and of the workflow itself, each with its place in the file: `steps.ship.with`, `output`.
inline std::vector<std::pair<std::string, const std::string*>> templates_of(const v1::WorkflowDefinition& definition) {
  std::vector<std::pair<std::string, const std::string*>> out;
  for (const auto& step : definition.steps())
    for (auto& [key, text] : templates_of(step)) out.emplace_back("steps." + step.name() + "." + key, text);
  if (!definition.output_json().empty()) out.emplace_back("output", &definition.output_json());
  return out;
}

}  // namespace fairlead::core
