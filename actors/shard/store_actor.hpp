#pragma once
// Group commit on its own thread: all batches gathered in the mailbox become one transaction with one sync.

#include "actors/protocol/handles.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/shard/commit_gauge.hpp"
#include "actors/supervision/supervised.hpp"
#include "store/store.hpp"

namespace fairlead {

/// Sends `committed{sequence}` to the sender of the newest batch of a group. `gauge` may be null. Spawn it detached.
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
