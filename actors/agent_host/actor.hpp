#pragma once
// An agent host in CAF.

#include <memory>
#include <string>

#include "actors/agent_host/host.hpp"
#include "actors/agents/carried.hpp"
#include "actors/protocol/handles.hpp"
#include "actors/supervision/supervised.hpp"

namespace fairlead {

struct agent_setup {
  agent_host::identity who;
  std::shared_ptr<agents::backend> backend;  // shut down when the actor ends
  /// The same backend, if it has wishes of its own; else null.
  std::shared_ptr<agents::carried_backend> carried;
  const clock* time = nullptr;
  observer* log = nullptr;  // may be null
  std::string node;         // node on which the actor runs, for messages
  /// Registrations of the process count up from here: an instance that moves to another node begins above those before.
  std::uint64_t first_revision = 0;
  std::string session;  // of a worker over HTTP, for the shards
  /// The links, asked for routes at the start and every few seconds. Null: the spawner sends each shard_route.
  links_actor links;
};

class agent_shell;

struct agent_state {
  std::shared_ptr<agent_shell> shell;
  static inline const char* name = "agent";
};

/// Registers with each shard that it gets a route to. An exception ends the actor; its guardian starts another one (with a higher
/// incarnation).
agent_actor::behavior_type run_agent(supervised_stateful_pointer<agent_actor, agent_state> self, agent_setup setup);

}  // namespace fairlead
