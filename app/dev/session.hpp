#pragma once
// `fairlead dev`: a temporary node. It deploys workflow files as they change, and its agents need
// no services.

#include <string>
#include <vector>

namespace fairlead::app {

struct dev_options {
  std::vector<std::string> paths;  // workflow files and folders; empty: the working directory
  std::string listen = "127.0.0.1:7100";
  std::string api;                   // where the API listens; empty: at 127.0.0.1:7190, if that is free
  std::string agents;                // a node file that gives the agents; empty: none
  std::string keep;                  // a folder for the store; empty: a temporary folder
  std::vector<std::string> scripts;  // AGENT.CALL=SCRIPT
  std::string scripts_file;
};

/// Runs until SIGINT or SIGTERM. The exit code (exit_codes.hpp).
int run_dev(const dev_options& options);

}  // namespace fairlead::app
