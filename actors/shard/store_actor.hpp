#pragma once
// Group commit on a thread of its own: everything that has gathered in the mailbox becomes one transaction with one sync.

#include "actors/protocol/handles.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/shard/commit_gauge.hpp"
#include "actors/supervision/supervised.hpp"
#include "store/store.hpp"

namespace fairlead {

/// Tells `committed{sequence}` to whoever sent the newest batch of a group. `gauge` may be null. Spawn it detached.
store_actor::behavior_type run_store(supervised_stateful_pointer<store_actor, struct store_state> self, store::store* target,
                                     fatal_handler on_fatal, commit_gauge* gauge);

struct store_state {
  std::vector<store::batch> gathered;
  caf::strong_actor_ptr asker;
  bool armed = false;
  bool failed = false;
  static inline const char* name = "store";
};

}  // namespace fairlead
