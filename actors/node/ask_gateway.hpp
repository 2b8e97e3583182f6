#pragma once
// Asks the gateway of the own process, for those who are no actors.

#include "actors/protocol/handles.hpp"
#include "actors/protocol/node_answers.hpp"

namespace fairlead {

/// The system must outlive the function. Called from any thread that is none of an actor.
ask_node ask_gateway(caf::actor_system& system, gateway_actor gateway);

}  // namespace fairlead
