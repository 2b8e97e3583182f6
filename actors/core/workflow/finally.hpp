#pragma once
// Steps of the end: `finally: true` and `finally: after_failure`. They are performed when no other step is performed any more.

#include <vector>

#include "actors/core/workflow/check.hpp"
#include "actors/core/workflow/workflow.hpp"

namespace fairlead::core {

inline bool is_of_end(const v1::StepDefinition& step) { return step.finally() != v1::FINALLY_NO; }

/// Whether `step` is performed after `other` although it does not need it.
bool comes_at_end(const v1::StepDefinition& step, const v1::StepDefinition& other);

/// What is wrong with the step because it is one of the end, or needs one.
std::vector<definition_problem> check_finally(const v1::WorkflowDefinition& definition, const v1::StepDefinition& step);

/// The steps of the end of that kind that may start now; `over`: all of them have ended. All other steps are over.
void next_of_end(const workflow& definition, const v1::TaskRecord& record, v1::Finally which, next_steps& out);

}  // namespace fairlead::core
