#pragma once
// Versions of a workflow, named by the beginnings of their content hashes.

#include <string>
#include <vector>

#include "actors/core/workflow/comparison.hpp"
#include "app/cli/context.hpp"

namespace fairlead::app {

/// The version whose hash begins with `version`; empty: the current one. Errors: invalid_argument, not_found, or those of the request.
result<v1::WorkflowShowReply> ask_for_version(client& from, const std::string& workflow, const std::string& version);

/// One side of a comparison.
struct compared_version {
  std::string label;  // as a person names it: `order 3f2a09c1 (current)`, or the file
  std::string hash;   // hexadecimal, whole
  v1::WorkflowDefinition definition;
};

std::string differences_text(const compared_version& from, const compared_version& to, const std::vector<core::difference>& all);
std::string differences_json(const compared_version& from, const compared_version& to, const std::vector<core::difference>& all);

void add_workflow_diff(CLI::App& group, cli_context& context);

}  // namespace fairlead::app
