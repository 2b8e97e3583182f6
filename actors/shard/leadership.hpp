#pragma once
// Starts what runs only where a replicated shard is led, and stops it at once when this replica leads no longer: a branch below the shard's
// guardian. A branch that gives up ends the node, and others take over.

#include <functional>
#include <string>

#include "actors/protocol/ports.hpp"
#include "actors/supervision/guardian.hpp"
#include "actors/supervision/supervised.hpp"

namespace fairlead {

/// Takes: this replica leads, or no longer; own reminder.
using leadership_actor = caf::typed_actor<caf::reacts_to<lead_atom, bool>, caf::reacts_to<link_atom>>;

struct leadership_setup {
  std::function<guardian_actor()> where;  // the shard's guardian
  /// The branch, as a temporary child. `started` is told its actor.
  std::function<child_spec(std::function<void(caf::strong_actor_ptr)> started)> branch;
  /// The branch is being stopped: whoever sends work here is to look for another leader.
  std::function<void()> on_stop;
  fatal_handler on_fatal;
};

leadership_actor::behavior_type run_leadership(supervised_pointer<leadership_actor> self, leadership_setup setup);

}  // namespace fairlead
