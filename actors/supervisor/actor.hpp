#pragma once
// The Supervisor in CAF: a periodic scan and a reminder for the next hint.

#include "actors/protocol/handles.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/supervision/supervised.hpp"
#include "actors/supervisor/supervisor.hpp"
#include "store/store.hpp"

namespace fairlead {

struct supervisor_setup {
  const clock* time = nullptr;
  const store::store* reads = nullptr;
  observer* log = nullptr;
  scheduler_actor scheduler;
  duration scan_period = std::chrono::seconds{1};
  fatal_handler on_fatal;
};

class supervisor_shell;

struct supervisor_state {
  std::shared_ptr<supervisor_shell> shell;
  static inline const char* name = "supervisor";
};

supervisor_actor::behavior_type run_supervisor(supervised_stateful_pointer<supervisor_actor, supervisor_state> self,
                                               supervisor_setup setup);

}  // namespace fairlead
