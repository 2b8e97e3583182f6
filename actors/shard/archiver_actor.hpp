#pragma once
// The archiver in CAF, on a thread of its own because archives sync.

#include "actors/protocol/handles.hpp"
#include "actors/shard/archiver.hpp"
#include "actors/shard/store_actor.hpp"
#include "actors/supervision/supervised.hpp"

namespace fairlead {

struct archiver_setup {
  const clock* time = nullptr;
  const store::store* reads = nullptr;
  std::shared_ptr<store::archive> archives;
  retention_policy policy;
  scheduler_actor scheduler;
  observer* log = nullptr;
  fatal_handler on_fatal;
};

/// Spawn it detached.
archiver_actor::behavior_type run_archiver(supervised_pointer<archiver_actor> self, archiver_setup setup);

}  // namespace fairlead
