#pragma once
// The agent that carries out operations. Each node that serves the API has one.

#include <atomic>
#include <memory>

#include "actors/agent_host/local_agent.hpp"
#include "actors/protocol/handles.hpp"

namespace fairlead::app::bulk {

/// `system` must outlive the agent. `ending`: set once the node ends.
result<local_agent> make_agent(caf::actor_system& system, const gateway_actor& gateway, std::shared_ptr<const std::atomic<bool>> ending);

}  // namespace fairlead::app::bulk
