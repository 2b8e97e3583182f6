#pragma once
// The W3C trace context of an attempt, derived from stored data: the same attempt gives the same header after any restart.

#include <string>

#include "messages/agent.pb.h"

namespace fairlead::agents {

/// `00-<trace id>-<span id>-01`. The trace id is XXH3-128 of the task id (canonical, big-endian bytes), so all requests of a task share
/// it; the span id is XXH3-64 of: task id, NUL, step path, NUL, direction and attempt in decimal with NUL between. Neither is all zero.
std::string trace_parent(const v1::Perform& what);

}  // namespace fairlead::agents
