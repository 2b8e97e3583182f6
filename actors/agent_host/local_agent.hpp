#pragma once
// An agent instance that lives in this process.

#include <functional>
#include <memory>
#include <string>

#include "actors/agents/backend.hpp"
#include "actors/agents/secrets/secrets.hpp"
#include "actors/agents/settings.hpp"
#include "messages/error.hpp"

namespace fairlead {

struct local_agent {
  std::string name;  // the name that steps use; with the node's name in front, that of the instance
  std::string kind;
  std::shared_ptr<agents::backend> backend;
  agents::agent_settings settings;
  std::shared_ptr<const agents::secrets> secrets;  // null: none
  /// Makes another backend like the first, for a restart of the agent. Empty: the agent then stays away.
  std::function<result<std::shared_ptr<agents::backend>>()> make;
  /// Takes no work while the node carries a worker over HTTP of the same name.
  bool stands_in = false;
};

}  // namespace fairlead
