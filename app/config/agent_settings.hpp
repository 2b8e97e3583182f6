#pragma once
// What an agent says about its service, as the node file has it: the same for agents of the file and for workers.

#include <optional>
#include <string>
#include <vector>

#include "app/yaml/reader.hpp"
#include "messages/agent.pb.h"

namespace fairlead::app {

/// `breaker:`.
void read_breaker(const yaml_node& node, v1::BreakerPolicy& out);
/// `limits:`. `calls`: those of the agent; nullopt: they are not known here.
void read_limits(const yaml_node& node, const std::optional<std::vector<std::string>>& calls, std::vector<v1::LimitPolicy>& out);

}  // namespace fairlead::app
