#pragma once
// `fairlead workflow test FILE...`.

#include <string>
#include <vector>

#include "app/cli/context.hpp"
#include "app/rehearsal/virtual_run.hpp"
#include "app/workflow_test/report.hpp"

namespace fairlead::app {

/// Rehearses all cases of a file, unless it has problems.
file_result run_test_file(test_file file, const virtual_run::evaluator& evaluate);

void add_workflow_test(CLI::App& group, cli_context& context);

}  // namespace fairlead::app
