#pragma once
// An operator's action on tasks as programs write it: `{"verb": "retry", "reason": "…"}` and its other fields.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/json/fields.hpp"
#include "app/json/node/task_verbs.hpp"

namespace fairlead::app {

/// As it was written. `settle` of the command line has two outcomes, which are two verbs here.
struct asked_action {
  std::string verb, step, input, output, reason;
  std::optional<std::string> from, to;
  bool now = false;

  /// They write to this.
  std::vector<json_field> fields();
  /// `who` and conditions are left out. On an error `pointer` is the field at fault.
  result<v1::OperatorAction> read(std::string& pointer) const;
};

/// Whether an action on all tasks of a list means this one of them: a list cannot ask for paused tasks, or for ended ones beside others.
bool concerns(v1::OperatorVerb verb, const v1::TaskSummary& task);

/// Why a task in this state would be refused the action, as far as the state alone tells; empty: it may be taken. `paused`: absent where nobody knows.
std::string misfit_of(v1::OperatorVerb verb, v1::TaskState state, bool parked, std::optional<bool> paused);

/// Whether an action on all tasks of a list leaves this one to the action on its parent, which goes down to its children by itself.
bool left_to_parent(v1::OperatorVerb verb, const std::string& task_id);

/// How many levels of parents the task of this id has above it.
std::size_t level_of(const std::string& task_id);

/// A refusal without the task's id in it, so that the same refusal of many tasks is one sentence. An id inside a longer word (`1` in `t-1`) stays.
std::string without_id(const std::string& sentence, const std::string& id);

}  // namespace fairlead::app
