#pragma once
// What an agent described in C++ becomes.

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

  /// For a node to start. The error (invalid_argument) names what is wrong with the description.
  result<app::given_agent> given() const;
};

}  // namespace fairlead::detail
