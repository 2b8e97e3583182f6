#pragma once
// Writes a definition as the equivalent YAML file, for operators who look at a deployed workflow.

#include <string>

#include "messages/workflow.pb.h"

namespace fairlead::detail {

/// Reading the text gives the same definition, except for Protobuf types: no files hold their descriptors.
std::string yaml_of(const v1::WorkflowDefinition& definition);

}  // namespace fairlead::detail
