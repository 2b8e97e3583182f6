#pragma once
// Starts the command of a shepherd.

#include <sys/types.h>

#include <cstdint>

#include "actors/agents/exec/order.hpp"

namespace fairlead::app {

/// The stage that failed, and the errno. Written to a pipe that closes by itself when the command has begun.
struct start_failure {
  agents::start_stage stage = agents::start_stage::none;
  std::int32_t code = 0;
};

/// Forks. The child follows the order and becomes the command; `said` carries its start_failure, or ends. -1: there is no child; errno has
/// the reason. `given`: the command's descriptors 0, 1, 2, …
pid_t start_command(const agents::exec_order& order, const int* given, int& said);

}  // namespace fairlead::app
