#pragma once
// The cron in CAF: a reminder for the next look.

#include "actors/cron/cron.hpp"
#include "actors/protocol/handles.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/supervision/supervised.hpp"
#include "store/store.hpp"

namespace fairlead {

struct cron_setup {
  const clock* time = nullptr;
  const store::store* reads = nullptr;
  scheduler_actor scheduler;
  fatal_handler on_fatal;
};

class cron_shell;

struct cron_state {
  std::shared_ptr<cron_shell> shell;
  static inline const char* name = "cron";
};

cron_actor::behavior_type run_cron(supervised_stateful_pointer<cron_actor, cron_state> self, cron_setup setup);

}  // namespace fairlead
