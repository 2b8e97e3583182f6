#pragma once
// `fairlead workflow simulate FILE`.

#include <functional>
#include <string>
#include <vector>

#include "app/cli/context.hpp"
#include "app/simulate/world.hpp"
#include "app/yaml/document.hpp"

namespace fairlead::app {

namespace simulate {

struct wanted_simulation {
  std::string file;
  std::vector<std::string> with;          // more workflow files
  std::string agents;                     // a node file; empty: none
  std::string values;                     // a test file; empty: none
  std::string input;                      // JSON as typed; empty: none
  std::vector<std::string> without_keys;  // AGENT.CALL
  std::uint64_t seeds = 1'000, first_seed = 1;
  std::uint64_t seed = 0;  // not 0: only this run
  bool verbose = false;
};

struct prepared_stage {
  stage on;
  std::vector<problem> problems;
  std::vector<std::string> undeclared, notices;
};

/// Reads and checks all files. With problems nothing can be simulated. `check` looks at the expressions of a workflow file.
prepared_stage prepare(const wanted_simulation& wanted, const std::function<void(workflow_file&)>& check);

}  // namespace simulate

void add_workflow_simulate(CLI::App& group, cli_context& context);

}  // namespace fairlead::app
