#pragma once
// The shepherds of exec agents (actors/agents/exec/order.hpp has their messages with the node).
//
// `fairlead exec-shepherd` waits for orders on descriptor 3 and forks a shepherd for each. A shepherd is the subreaper of one command:
// every process that the command starts, in any session, however often it forks away from its parents, stays a descendant of the shepherd.
// No descendant outlives the shepherd, whether the command ends, its time runs out or the node ends, which shows as the end of a socket.

namespace fairlead::app {

/// The word that selects this entry in main().
inline constexpr const char* shepherd_entry = "exec-shepherd";

/// Serves until the node is gone. Returns the exit code.
int run_shepherds();

/// One command from its start to the end of its last descendant. Descriptors in the order of agents::order_descriptor; all are closed.
void run_shepherd(const int* descriptors);

}  // namespace fairlead::app
