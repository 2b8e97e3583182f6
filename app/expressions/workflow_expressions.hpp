#pragma once
// The last check of a workflow file: whether jq compiles what plain paths cannot say.

#include <string>
#include <string_view>
#include <vector>

#include "actors/core/workflow/check.hpp"
#include "actors/expressions/pool.hpp"
#include "app/files/workflow_file.hpp"

namespace fairlead::app {

/// Adds a problem for each expression that does not compile, at the `with` it stands in. Asks the worker, so it blocks for tens of
/// milliseconds an expression; nothing is asked for a file that has problems already or holds plain paths only.
void check_expressions(workflow_file& file, expression_pool& worker);

/// What a file probably has, by its text alone: it has not been read as YAML.
struct likely_expressions {
  bool some = false;               // there are expressions for jq
  std::vector<std::string> known;  // those that can be told
};
likely_expressions guess_expressions(std::string_view text);

/// read_workflow() and check_expressions(). For a process without other threads: the worker is a copy of it, ready once the file has been read.
workflow_file read_with_expressions(const std::string& path, const core::agent_catalog* agents, expression_pool& worker);

}  // namespace fairlead::app
