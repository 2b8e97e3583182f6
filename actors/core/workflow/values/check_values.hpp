#pragma once
// What is certain about the values of a definition before any task has run: paths that can never be there, conditions that always give the
// same, waits whose end no task lives to see. A definition with such faults can run, so a node that is sent one does not look for them.

#include <vector>

#include "actors/core/workflow/check.hpp"

namespace fairlead::core {

/// Total and bounded for any definition. What check_definition refuses is not said again.
std::vector<definition_problem> check_values(const v1::WorkflowDefinition& definition);

/// For whoever writes a definition: everything that check_definition and check_values find.
std::vector<definition_problem> check_source(const v1::WorkflowDefinition& definition, const agent_catalog* agents);

}  // namespace fairlead::core
