#pragma once
// Values of single keys of a step.

#include <functional>
#include <string>

#include "app/yaml/reader.hpp"
#include "messages/workflow.pb.h"

namespace fairlead::app {

/// Of `join`. A number is checked against the needs later.
void read_join(const yaml_node& node, v1::StepDefinition& step);

/// Of `wait`: a duration, a time, or an expression that gives one of them.
void read_wait(const yaml_node& node, v1::StepDefinition& step);

/// Of `for_each`: a list, an expression that gives one, or a map. `place` is told the place of each key.
void read_for_each(const yaml_node& node, v1::ForEachDefinition& each,
                   const std::function<void(const std::string& where, const yaml_node& value)>& place);

}  // namespace fairlead::app
