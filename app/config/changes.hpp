#pragma once
// What has changed between two readings of a node file, for `fairlead node reload` and SIGHUP.

#include <map>
#include <string>
#include <vector>

#include "app/config/config.hpp"

namespace fairlead::app {

/// Every key of a node file with its value, spelled so that two readings can be compared. `store.max_size`; an agent as a whole:
/// `agents.NAME`; a list as a whole: `node.peers`.
std::map<std::string, std::string> written_keys(const yaml_value& root);

/// Names in order.
struct config_changes {
  std::vector<std::string> added;    // agents
  std::vector<std::string> changed;  // agents; if a secret has changed, all that were there before
  std::vector<std::string> removed;  // agents
  std::vector<std::string> applied;  // other keys that count at once: `log.level`, `access.certificates` and those under `secrets`
  std::vector<std::string> kept;     // keys that count from the next start on
  bool secrets = false;
  bool log_level = false;
  bool certificates = false;
};

/// `before` and `after` as read_node_config gives them. A node without the role of an agent has no agents.
config_changes changes_of(const node_config& before, const node_config& after);

}  // namespace fairlead::app
