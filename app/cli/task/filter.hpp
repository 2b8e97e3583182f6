#pragma once
// Which tasks are meant, as options say it: the same for lists and for what is done to many tasks at once.

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

  /// Whether anything is asked for.
  bool given() const;
};

/// `--state`, `--parked`, `--workflow`, `--label`, `--older-than` and `--younger-than`.
void add_filter_options(CLI::App& command, task_filter& filter);

/// The request for the first page. Errors name the option that cannot be read. An option that is given and empty is refused: most likely it
/// is a script's variable that is not set, and would widen what is listed, or cancelled, to everything.
result<v1::TaskListRequest> list_request(const task_filter& filter);

}  // namespace fairlead::app
