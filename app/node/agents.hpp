#pragma once
// Makes agents that can be started from the agents of a node file.

#include <memory>
#include <string>
#include <vector>

#include "actors/agent_host/local_agent.hpp"
#include "app/config/config.hpp"
#include "messages/error.hpp"

namespace fairlead::app {

/// The agents that the file describes completely: `http`, `exec`, and `native` with the handlers of every binary.
/// `secrets` may be null. `program` is the `fairlead` that looks after commands; empty: this process's own executable.
result<std::vector<local_agent>> make_agents(const node_config& config, std::shared_ptr<const agents::secrets> secrets,
                                             const std::string& program = {});

/// The error names an agent with a limit for a call that it does not have. Calls in the node file were checked before; those of native
/// agents are known only now.
status check_limits(const std::vector<local_agent>& agents);

}  // namespace fairlead::app
