#pragma once
// In which order several workflows are deployed.

#include <cstddef>
#include <vector>

#include "messages/workflow.pb.h"

namespace fairlead::app {

/// Indexes into `all`: sub-workflows before the workflows that name them, so that no deployment warns of one that comes next; else as given.
/// Workflows that name each other are deployed all the same, and the first one of them warns.
std::vector<std::size_t> deploy_order(const std::vector<v1::WorkflowDefinition>& all);

}  // namespace fairlead::app
