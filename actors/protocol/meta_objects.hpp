#pragma once
// What the configuration of each actor system begins with: the messages of actors/protocol/type_ids.hpp, and CAF's options. Said once, so that node,
// client and tests cannot differ.

#include <caf/fwd.hpp>

namespace fairlead {

/// Registers the block of message types. Call it for each configuration before its actor system is built: a type that is not
/// registered arrives from another node as an empty message.
void init_meta_objects(caf::actor_system_config& config);

/// CAF's options of every node and client; docs/architecture.md says why. What a node file has under `caf` is set after them.
void init_options(caf::actor_system_config& config);

}  // namespace fairlead
