#pragma once
// What differs between two versions of a workflow, by step and key. It goes through all fields of the messages, so that a new one is compared
// too.

#include <optional>
#include <string>
#include <vector>

#include "messages/workflow.pb.h"

namespace fairlead::core {

struct difference {
  enum class kind { changed, added, removed };
  kind what = kind::changed;
  std::string step;                   // name; empty: the workflow itself
  std::string key;                    // as in a workflow file, such as `undo.timeout`; empty: the whole step
  std::optional<std::string> before;  // nullopt: the key is not there
  std::optional<std::string> after;
  int field = 0;  // of StepDefinition, which holds the key; 0: of the workflow, or the whole step
};

/// Of two versions of a step.
std::vector<difference> compare(const v1::StepDefinition& before, const v1::StepDefinition& after);

/// Those of the workflow first, then those of the steps, in the order of `after`, and of the removed ones at last. Steps are compared by
/// name; `order` is that of the steps that both have. Empty exactly if the definitions are the same.
std::vector<difference> compare(const v1::WorkflowDefinition& before, const v1::WorkflowDefinition& after);

}  // namespace fairlead::core
