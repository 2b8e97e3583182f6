#pragma once
// Workflow files to begin with: whole, commented, and sound as they are.

#include <string>
#include <vector>

namespace fairlead::app {

/// The first one is the default.
std::vector<std::string> workflow_start_kinds();

/// The text of a workflow file of one of these kinds. `name` is a valid name.
std::string workflow_start(const std::string& kind, const std::string& name);

}  // namespace fairlead::app
