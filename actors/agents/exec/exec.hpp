#pragma once
// Agents that run commands. See docs/agents.md for the node file and the interface of a command.

#include <memory>
#include <string_view>

#include "actors/agents/backend.hpp"
#include "actors/agents/exec/config.hpp"
#include "messages/error.hpp"

namespace fairlead::agents {

/// Checks the whole configuration without starting anything. The error (invalid_argument) names agent, call and field.
status check_exec_agent(const exec_agent_config& config);

/// Reads an exit code or a range of codes (0 to 255); false: `text` is neither.
bool parse_exit_range(std::string_view text, exit_range& out);

/// Numbers of the configured user and group, from the system.
struct exec_identity {
  bool given = false;
  std::uint32_t user = 0;
  std::uint32_t group = 0;
  std::vector<std::uint32_t> groups;
};
/// Errors: not_found for a user or group that this machine does not know.
result<exec_identity> find_identity(const std::string& user, const std::string& group);

/// A backend with one thread for all commands. From the first attempt on it has one process from which a shepherd is forked for each
/// command. Input that does not fit a call's arguments completes inside start() with a permanent fault (code bad_arguments,
/// secret_not_allowed); all else completes on that thread. Errors as check_exec_agent; not_found for a user, group or secret; unavailable
/// if this process may not take on the user, or the system gives no thread.
result<std::unique_ptr<backend>> make_exec_backend(exec_agent_config config, exec_options options = {});

}  // namespace fairlead::agents
