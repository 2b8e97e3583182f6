#pragma once
// An agent host in CAF.

#include <memory>

#include "actors/agent_host.hpp"
#include "actors/interfaces.hpp"
#include "actors/store_actor.hpp"

namespace fairlead {

struct agent_setup {
  agent_host::identity who;
  std::shared_ptr<agents::backend> backend;  // shut down when the actor ends
  const clock* time = nullptr;
  scheduler_actor scheduler;
  fatal_handler on_fatal;
};

class agent_shell;

struct agent_state {
  std::shared_ptr<agent_shell> shell;
  static inline const char* name = "agent";
};

/// Registers with the Scheduler as its first act.
agent_actor::behavior_type run_agent(agent_actor::stateful_pointer<agent_state> self, agent_setup setup);

}  // namespace fairlead
