#pragma once
// Edited versions of a workflow, by which operators let tasks go on that are under way.

#include <vector>

#include "messages/workflow.pb.h"
#include "tests/simulation/world/world.hpp"

namespace fairlead::simulation {

/// Lawful ones that differ from it in a few steps: patience, steps that are added, removed, or change places. Often none.
std::vector<v1::WorkflowDefinition> make_edits(const world& in, const v1::WorkflowDefinition& of);

}  // namespace fairlead::simulation
