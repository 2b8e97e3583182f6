#pragma once
// Sends requests to the gateway of its own process, for callers that are no actors.

#include "actors/protocol/handles.hpp"
#include "actors/protocol/node_answers.hpp"

namespace fairlead {

/// The system must outlive the function. May be called from any thread that runs no actor.
ask_node ask_gateway(caf::actor_system& system, gateway_actor gateway);

}  // namespace fairlead
