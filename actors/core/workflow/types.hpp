#pragma once
// What a workflow's Protobuf types say of its steps, before anything runs.

#include <vector>

#include "actors/core/workflow/check.hpp"

namespace fairlead::core {

/// The types can be read and are named, the steps name types that are there, and what a step's `with` spells out fits its input's type; what
/// expressions will give is not known. In the order of the steps.
std::vector<definition_problem> check_types(const v1::WorkflowDefinition& definition);

}  // namespace fairlead::core
