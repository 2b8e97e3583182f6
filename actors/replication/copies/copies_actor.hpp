#pragma once
// Gives copies of a shard's state to replicas that lack too many entries, and takes them, on a thread of its own: making a copy, and looking at one,
// takes as long as reading all of it. It compares the state here with that of the others, too.

#include "actors/protocol/handles.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/replication/copies/copy_giver.hpp"
#include "actors/replication/seat.hpp"
#include "actors/supervision/supervised.hpp"
#include "store/lmdb/archive.hpp"

namespace fairlead {

struct copies_setup {
  replica_seat* seat = nullptr;  // outlives the actor
  std::shared_ptr<store::archive> archives;
  observer* log = nullptr;
  replica_actor replica;  // passes on what goes to other replicas
  fatal_handler on_fatal;
  fatal_handler on_damage;          // of the store; null: nobody acts on it
  fatal_handler on_difference;      // as of state_comparer::world; null: nobody acts on it
  std::shared_ptr<copy_turn> turn;  // as of copy_giver::world
};

/// Spawn it detached.
copies_actor::behavior_type run_copies(supervised_pointer<copies_actor> self, copies_setup setup);

}  // namespace fairlead
