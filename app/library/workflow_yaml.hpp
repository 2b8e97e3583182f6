#pragma once
// A definition as the YAML file that says the same, for people who look at what was deployed.

#include <string>

#include "messages/workflow.pb.h"

namespace fairlead::detail {

/// Read again it gives the same definition, but for Protobuf types: their descriptors come from files that are not there.
std::string yaml_of(const v1::WorkflowDefinition& definition);

}  // namespace fairlead::detail
