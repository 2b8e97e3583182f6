#pragma once
// Which step comes after which, and on what level.

#include <string>
#include <vector>

#include "messages/workflow.pb.h"

namespace fairlead::app {

struct graph_step {
  const v1::StepDefinition* definition;
  int level = 1;           // from 1, among the steps of the same kind of end
  std::vector<int> needs;  // as indices into the definition's steps
  std::vector<int>
      waits_for;  // what a pivot waits for beside them: each step that is not its descendant comes before one of these or of `needs`
};

/// In the order of the definition, which may have cycles: their steps share the last level.
std::vector<graph_step> graph_steps(const v1::WorkflowDefinition& definition);

/// `payment.charge`, `value`, `wait 10m`, `signal approve`, `workflow shipment`.
std::string does_text(const v1::StepDefinition& step);

/// What is special about the step: `pivot`, `when`, `undo refund`.
std::vector<std::string> marks_of(const v1::StepDefinition& step, const v1::WorkflowDefinition& workflow);

/// `any of`, `2 of`; empty: it needs all.
std::string join_text(const v1::StepDefinition& step);

}  // namespace fairlead::app
