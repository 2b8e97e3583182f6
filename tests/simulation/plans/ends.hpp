#pragma once
// Steps of the end of generated workflows.

#include <vector>

#include "messages/workflow.pb.h"
#include "tests/simulation/world/sites.hpp"
#include "tests/simulation/world/world.hpp"

namespace fairlead::simulation {

/// Adds one to three steps with `finally` behind all others.
void add_ends(v1::WorkflowDefinition& to, random_stream& luck, const std::vector<agent_site>& sites, const options& settings);

}  // namespace fairlead::simulation
