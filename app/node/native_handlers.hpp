#pragma once
// The native agents that every `fairlead` binary brings along, for trying things out: `kind: native`, `handler: NAME`.

#include <memory>
#include <string>
#include <vector>

#include "actors/agents/backend.hpp"
#include "messages/error.hpp"

namespace fairlead::app {

/// `echo` (call `echo`: the output is the input) and `pause` (call `pause`: waits for the number of milliseconds in the input's field `ms`,
/// then gives the input back).
std::vector<std::string> native_handler_names();

result<std::shared_ptr<agents::backend>> make_native_handler(const std::string& handler, std::uint32_t concurrency);

}  // namespace fairlead::app
