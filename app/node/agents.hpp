#pragma once
// Makes agents that can be started from the agents of a node file.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/agent_host/local_agent.hpp"
#include "app/config/config.hpp"
#include "messages/error.hpp"

namespace fairlead::app {

/// What backends of the kinds need besides their section.
struct backend_needs {
  std::string file;                                // the node file's name, for errors
  std::shared_ptr<const agents::secrets> secrets;  // may be null
  std::string program;                             // the `fairlead` that looks after commands; empty: this process's own executable
  std::function<result<std::shared_ptr<agents::backend>>(const native_agent_section&)> native;  // the handler that a section names
};

/// The agents with their first backends.
result<std::vector<local_agent>> make_agents(const std::vector<agent_section>& sections, const backend_needs& needs);

/// The error names an agent with a limit for a call that it does not have. Calls in the node file were checked before; those of native
/// agents are known only now.
status check_limits(const std::vector<local_agent>& agents);

}  // namespace fairlead::app
