#pragma once
// A workflow as a person writes it: YAML to WorkflowDefinition, with the place of every key kept, so that what core finds later is shown
// with its line. docs/workflows.md is the reference of the keys.

#include <string>
#include <utility>
#include <vector>

#include "actors/core/workflow/check.hpp"
#include "app/yaml/document.hpp"
#include "app/yaml/places.hpp"
#include "messages/workflow.pb.h"

namespace fairlead::app {

struct workflow_file {
  std::string file;
  std::string source;                 // the text as read, for people
  v1::WorkflowDefinition definition;  // whole, defaults filled in, when there are no problems
  std::vector<problem> problems;      // in the order of the file
  yaml_places places;                 // of its keys; "" is the file

  /// Line and column of a key, or of the nearest one around it.
  std::pair<int, int> place_of(const std::string& where) const { return places.of(where); }
};

/// Reads and checks everything that can be known without a node. With a catalog (from a node file) agents and calls are checked too.
workflow_file read_workflow(const std::string& path, const core::agent_catalog* agents);
workflow_file parse_workflow(const std::string& file, const std::string& text, const core::agent_catalog* agents);

/// What a step gets that says nothing itself.
inline constexpr std::int64_t default_timeout_ms = 30'000;
inline constexpr std::int64_t default_retry_for_ms = 3'600'000;  // if neither attempts nor retry_for is given
inline constexpr std::int64_t default_backoff_first_ms = 1'000;
inline constexpr double default_backoff_factor = 2;
inline constexpr std::int64_t default_backoff_max_ms = 60'000;
inline constexpr std::uint32_t default_most_rounds = 1'000;  // of a step that is repeated
inline constexpr std::uint32_t default_items_at_once = 10;   // of a step with for_each

}  // namespace fairlead::app
