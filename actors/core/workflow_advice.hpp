#pragma once
// What may run and still deserves a word before it does.

#include <functional>
#include <string>
#include <vector>

#include "actors/core/workflow_check.hpp"

namespace fairlead::core {

/// Whether a perform of `call` that is in doubt can be looked up at `agent`.
using lookup_catalog = std::function<bool(const std::string& agent, const std::string& call)>;

/// `definition` has passed check_definition.
std::vector<definition_problem> advise(const v1::WorkflowDefinition& definition, const lookup_catalog& looks_up);

}  // namespace fairlead::core
