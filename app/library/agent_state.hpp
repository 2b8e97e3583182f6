#pragma once
// The state of an agent that is described in C++.

#include <fairlead/agent.hpp>
#include <fairlead/handler.hpp>

#include <map>
#include <string>
#include <vector>

#include "app/node/runtime.hpp"

namespace fairlead::detail {

struct agent_state {
  std::string name;
  std::uint32_t capacity = 64;
  agents::agent_settings settings;
  std::map<std::string, raw_handler> calls;
  std::map<std::string, raw_handler> lookups;
  std::vector<std::string> problems;  // of the description: two handlers for one call

  /// The agent, ready for a node to start. The error (invalid_argument) names the problem of the description.
  result<app::given_agent> given() const;
};

}  // namespace fairlead::detail
