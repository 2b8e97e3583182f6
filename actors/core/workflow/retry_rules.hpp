#pragma once
// Rules of a step for faults with certain codes (`retry` in the file): which rule a fault counts for, and what is wrong with the rules.

#include <string_view>
#include <vector>

#include "actors/core/workflow/check.hpp"
#include "messages/workflow.pb.h"

namespace fairlead::core {

/// Whether `pattern` names the code: it is the code, or ends with `*` and the code begins with the rest.
bool names_code(std::string_view pattern, std::string_view code);

/// The index of the step's first rule that names the code; -1: none does. No rule counts faults that the Scheduler itself finds, such as
/// `output_type`.
int rule_for(const v1::StepDefinition& step, std::string_view code);

/// A code that the Scheduler sets, where no attempt has failed or where another one cannot help. Services cannot use it.
bool is_found_by_scheduler(std::string_view code);

/// What is wrong with the rules of a step, except for their attempts, times and pauses.
std::vector<definition_problem> check_retry_rules(const v1::StepDefinition& step);

}  // namespace fairlead::core
