#pragma once
// A replica in CAF, on a thread of its own: what gathers in its mailbox while the disk is at work is the next write.

#include <functional>
#include <memory>

#include "actors/protocol/handles.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/replication/seat.hpp"
#include "actors/supervision/supervised.hpp"

namespace fairlead {

struct replica_setup {
  replica_seat* seat = nullptr;  // outlives the actor
  const clock* time = nullptr;
  observer* log = nullptr;
  links_actor links;
  copies_actor copies;  // null: nobody here gives or takes copies
  fatal_handler on_fatal;
  /// The replica's store is not what it was; it takes part no more. On the actor's thread. May be empty.
  fatal_handler on_older_copy;
  /// The shard goes on elsewhere in this lineage; it takes part no more. On the actor's thread. May be empty.
  std::function<void(const v1::Lineage& latest)> on_outlived;
  /// A group of the Scheduler's batches counts, so long after it was proposed.
  std::function<void(std::size_t batches, std::size_t bytes, std::chrono::microseconds took)> on_committed;
  /// What this replica introduces itself with, when it has begun, and whenever other nodes hold the shard. On the actor's thread. May be empty.
  std::function<void(const v1::ReplicaHello&)> on_others;
  /// This replica leads from now on, or no longer. On the actor's thread.
  std::function<void(bool now)> on_leads;
};

class replica_shell;

struct replica_state {
  std::shared_ptr<replica_shell> shell;
  static inline const char* name = "replica";
};

/// Spawn it detached: it waits for the disk.
replica_actor::behavior_type run_replica(supervised_stateful_pointer<replica_actor, replica_state> self, replica_setup setup);

}  // namespace fairlead
