#pragma once
// What a step of a task waits for, in a few words.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/json/words.hpp"
#include "messages/api.pb.h"

namespace fairlead::app {

/// An agent, as far as waiting steps need it.
struct agent_wait {
  bool there = false;                // the agent has an instance
  std::vector<std::string> reasons;  // why its steps wait
};

/// The agents that have instances or waiting steps. nullopt: unknown.
using known_agents = std::optional<std::map<std::string, agent_wait>>;

known_agents agents_of(const v1::StatusReply& status);

/// Of a step of the task that is shown; null: its version of the workflow is not known.
const v1::StepDefinition* definition_of(const v1::TaskShowReply& reply, const v1::StepRecord& step);

using moment_words = std::string (*)(std::int64_t unix_ms);

/// Empty if the step waits for nothing, or only because the whole task is parked, paused or ended.
std::string waits_for(const v1::TaskShowReply& reply, int step, const known_agents& agents, moment_words by = utc_words);

/// Whether some step may wait for an agent, so that the registry should be read.
bool may_wait_for_agent(const v1::TaskShowReply& reply);

}  // namespace fairlead::app
