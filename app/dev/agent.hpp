#pragma once
// Agents without services, to try out workflows. Each agent answers as its scripts or the input
// say.

#include <memory>
#include <string>
#include <vector>

#include "actors/agents/backend.hpp"
#include "app/dev/scripts.hpp"

namespace fairlead::app {

/// The field of a step's input that holds a script for this step. It takes precedence over the
/// call's script.
inline constexpr std::string_view script_field = "$script";

/// An agent `name` with these calls. A call without a script returns its input. The number of the
/// attempt alone selects the action, so a restart does not change the action.
std::shared_ptr<agents::backend> make_scripted_backend(std::string name, std::vector<std::string> calls,
                                                       std::shared_ptr<const scripts> told);

}  // namespace fairlead::app
