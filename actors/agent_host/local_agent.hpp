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
  std::string name;  // the one steps use; also that of its instance, behind the node's name
  std::string kind;
  std::shared_ptr<agents::backend> backend;
  agents::agent_settings settings;
  std::shared_ptr<const agents::secrets> secrets;  // null: it has none
  /// Another backend like the first, for when the agent has to be started again. None: it stays away then.
  std::function<result<std::shared_ptr<agents::backend>>()> make;
};

}  // namespace fairlead
