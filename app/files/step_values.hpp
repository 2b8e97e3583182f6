#pragma once
// Values of single keys of a step.

#include "app/yaml/reader.hpp"
#include "messages/workflow.pb.h"

namespace fairlead::app {

/// Of `join`. A number is checked against the needs later.
void read_join(const yaml_node& node, v1::StepDefinition& step);

/// Of `wait`: a duration, a time, or an expression that gives one of them.
void read_wait(const yaml_node& node, v1::StepDefinition& step);

}  // namespace fairlead::app
