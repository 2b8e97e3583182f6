#pragma once
// `fairlead node`: one process with a shard, its agents and a published gateway.

#include <string>

namespace fairlead::app {

struct node_options {
  std::string config_path;
};

/// Runs until SIGTERM, SIGINT or a failure that must stop the node. Returns the exit code (exit_codes.hpp).
int run_node(const node_options& options);

}  // namespace fairlead::app
