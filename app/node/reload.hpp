#pragma once
// Reading the node file of a running node again: the whole file is checked, and everything that it asks for is made, before anything of
// the node changes.

#include <functional>
#include <memory>
#include <string>

#include "actors/agents/secrets/secrets.hpp"
#include "actors/node/node_tree.hpp"
#include "app/config/changes.hpp"
#include "app/config/config.hpp"
#include "app/node/runtime.hpp"

namespace fairlead::app {

struct reload_plan {
  config_changes changes;
  node_config config;  // that the node has afterwards: keys that need a restart keep their values in force
  std::shared_ptr<const agents::secrets> secrets;
  node_tree::agent_changes agents;
};

/// `running`: what the node has. An error says what is wrong with the file, with its line, or with what the file names.
result<reload_plan> plan_reload(const node_config& running, const node_parts& parts, std::shared_ptr<const agents::secrets> secrets,
                                const std::function<void(const std::string&)>& warn);

v1::NodeReload to_proto(const std::string& file, const config_changes& changes);

/// In one line, for the log.
std::string to_text(const v1::NodeReload& what);

/// Of agents, by name: at least one.
error could_not_start(const std::vector<std::pair<std::string, error>>& failed);

}  // namespace fairlead::app
