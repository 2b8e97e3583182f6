#pragma once
// The agent as a process that the tester starts.

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "messages/error.hpp"

namespace fairlead::app::agent_check {

class agent_process {
 public:
  /// What it prints goes to stderr. `more`: variables of its environment besides ours. Error: not_found.
  static result<std::unique_ptr<agent_process>> start(const std::vector<std::string>& command,
                                                      const std::vector<std::pair<std::string, std::string>>& more);
  agent_process(const agent_process&) = delete;
  agent_process& operator=(const agent_process&) = delete;
  ~agent_process();

  /// `ended with exit code 1`; nullopt: it runs.
  std::optional<std::string> ended();
  /// SIGTERM.
  void tell_to_end();
  /// SIGTERM, and SIGKILL after `patience`; `meanwhile` is called again and again.
  void end(std::chrono::milliseconds patience, const std::function<void()>& meanwhile);

 private:
  explicit agent_process(pid_t pid) : pid_(pid) {}
  pid_t pid_;
  std::optional<std::string> ended_;
};

}  // namespace fairlead::app::agent_check
