#pragma once
// Agents without services, for trying out workflows: each answers as its scripts, or the input itself, tell it to.

#include <memory>
#include <string>
#include <vector>

#include "actors/agents/backend.hpp"
#include "app/dev/scripts.hpp"

namespace fairlead::app {

/// The field of a step's input that holds a script for this step, before that of the call.
inline constexpr std::string_view script_field = "$script";

/// An agent `name` with these calls. A call without a script gives its input back. Which action is due follows from the number of the
/// attempt alone, so it is the same after a restart.
std::shared_ptr<agents::backend> make_scripted_backend(std::string name, std::vector<std::string> calls,
                                                       std::shared_ptr<const scripts> told);

}  // namespace fairlead::app
