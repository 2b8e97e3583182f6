#pragma once
// The archiver in CAF, on a thread of its own because archives sync.

#include "actors/archiver.hpp"
#include "actors/interfaces.hpp"
#include "actors/store_actor.hpp"
#include "actors/supervised.hpp"

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
