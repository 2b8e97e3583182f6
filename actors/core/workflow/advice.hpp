#pragma once
// Advice about definitions that may run.

#include <functional>
#include <string>
#include <vector>

#include "actors/core/workflow/check.hpp"

namespace fairlead::core {

/// Whether a perform of `call` in doubt can be looked up at `agent`.
using lookup_catalog = std::function<bool(const std::string& agent, const std::string& call)>;

/// Whether an instance of `agent` carries all of these labels, or may carry them as far as is known.
using label_catalog = std::function<bool(const std::string& agent, const google::protobuf::RepeatedPtrField<v1::Label>& labels)>;

/// Whether there is a workflow of this name.
using workflow_catalog = std::function<bool(const std::string& workflow)>;

/// `definition` has passed check_definition. Without `carries` there is no advice about labels, and without `knows` none about sub-workflows.
std::vector<definition_problem> advise(const v1::WorkflowDefinition& definition, const lookup_catalog& looks_up,
                                       const label_catalog& carries = {}, const workflow_catalog& knows = {});

}  // namespace fairlead::core
