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
  bool top_level = false;
  std::optional<std::string> parent;

  /// Whether any option was given.
  bool given() const;
  /// Whether any option was given but `--top-level`, which alone means as much as all tasks.
  bool narrows() const;
};

/// `--state`, `--parked`, `--workflow`, `--label`, `--older-than`, `--younger-than`, `--top-level` and `--parent`.
void add_filter_options(CLI::App& command, task_filter& filter);

/// The request for the first page. Errors name the option that cannot be parsed. An empty value is
/// refused: it is probably an unset variable of a script, and would select all tasks.
result<v1::TaskListRequest> list_request(const task_filter& filter);

/// Why the answer does not hold: a node of an earlier release has left out conditions that it does not know, and has listed other tasks.
std::optional<error> conditions_left_out(const v1::TaskListRequest& what, const v1::TaskListReply& answer);

}  // namespace fairlead::app
