#pragma once
// Checks the steps of a workflow against its Protobuf types before anything runs.

#include <vector>

#include "actors/core/workflow/check.hpp"

namespace fairlead::core {

/// Checks that the types can be read and have names, that the steps name types of the set, and that the literal parts of a step's `with`
/// fit its input type; results of expressions are unknown. Problems are in the order of the steps.
std::vector<definition_problem> check_types(const v1::WorkflowDefinition& definition);

}  // namespace fairlead::core
