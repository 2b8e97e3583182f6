#pragma once
// Agents that run commands. See docs/agents.md for what a node file says and what a command is told.

#include <memory>
#include <string_view>

#include "actors/agents/backend.hpp"
#include "actors/agents/exec/config.hpp"
#include "messages/error.hpp"

namespace fairlead::agents {

/// Checks the whole configuration without starting anything. The error (invalid_argument) names agent, call and field.
status check_exec_agent(const exec_agent_config& config);

/// False when `text` is no exit code and no range of them (0 to 255).
bool parse_exit_range(std::string_view text, exit_range& out);

/// Numbers of the user and group that a configuration names. Asks the system.
struct exec_identity {
  bool given = false;
  std::uint32_t user = 0;
  std::uint32_t group = 0;
  std::vector<std::uint32_t> groups;
};
/// Errors: not_found for a user or group that this machine does not know.
result<exec_identity> find_identity(const std::string& user, const std::string& group);

/// A backend with one thread for all commands and, from the first attempt on, one process beside them from which a shepherd is forked for
/// each. Input that does not fit a call's arguments completes inside start() with a permanent fault (code bad_arguments, secret_not_allowed);
/// everything else completes on that thread. Errors as check_exec_agent; not_found for a user, group or secret; unavailable when
/// this process may not take on the user, or the system gives no thread.
result<std::unique_ptr<backend>> make_exec_backend(exec_agent_config config, exec_options options = {});

}  // namespace fairlead::agents
