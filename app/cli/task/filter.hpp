#pragma once
// Options that select tasks, shared by lists and by actions on many tasks.

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "messages/api.pb.h"
#include "messages/error.hpp"

namespace fairlead::app {

struct task_filter {
  std::vector<std::string> states;
  bool parked = false;
  std::optional<std::string> workflow;
  std::vector<std::string> labels;
  std::optional<std::string> older_than;
  std::optional<std::string> younger_than;

  /// Whether any option was given.
  bool given() const;
};

/// `--state`, `--parked`, `--workflow`, `--label`, `--older-than` and `--younger-than`.
void add_filter_options(CLI::App& command, task_filter& filter);

/// The request for the first page. Errors name the option that cannot be parsed. An empty value is
/// refused: it is probably an unset variable of a script, and would select all tasks.
result<v1::TaskListRequest> list_request(const task_filter& filter);

}  // namespace fairlead::app
