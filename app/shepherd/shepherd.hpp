#pragma once
// The shepherds of exec agents (actors/agents/exec/order.hpp says what passes between them and the node).
//
// `fairlead exec-shepherd` waits for orders on descriptor 3 and forks a shepherd for each. A shepherd is the subreaper of one command: whatever
// the command starts, in whatever session, and however often it forks away from its parents, stays its descendant, and none of it
// outlives the shepherd: not the end of the command, nor that of its time, nor that of the node, which shows as the end of a socket.

namespace fairlead::app {

/// The word by which main() knows that it is one.
inline constexpr const char* shepherd_entry = "exec-shepherd";

/// Serves until the node is gone. The exit code.
int run_shepherds();

/// One command from its start to the end of its last descendant. Descriptors in the order of agents::order_descriptor; all are closed.
void run_shepherd(const int* descriptors);

}  // namespace fairlead::app
