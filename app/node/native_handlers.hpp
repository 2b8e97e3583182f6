#pragma once
// The native agents in every `fairlead` binary, for trying things out: `kind: native`, `handler: NAME`.

#include <memory>
#include <string>
#include <vector>

#include "actors/agents/backend.hpp"
#include "messages/error.hpp"

namespace fairlead::app {

/// `echo` (call `echo`: the output is the input) and `pause` (call `pause`: waits for the milliseconds in the input's field `ms`, then
/// returns the input).
std::vector<std::string> native_handler_names();

result<std::shared_ptr<agents::backend>> make_native_handler(const std::string& handler, std::uint32_t concurrency);

}  // namespace fairlead::app
