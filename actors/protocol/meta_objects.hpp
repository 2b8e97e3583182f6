#pragma once
// Makes the messages of actors/protocol/type_ids.hpp known to an actor system. One helper, so that node, client and tests cannot differ.

#include <caf/fwd.hpp>

namespace fairlead {

/// Registers the block of message types. Call it for each configuration before its actor system is built: a type that is not
/// registered arrives from another node as an empty message.
void init_meta_objects(caf::actor_system_config& config);

}  // namespace fairlead
