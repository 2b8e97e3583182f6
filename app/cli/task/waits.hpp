#pragma once
// What a step of a task waits for, in a few words.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/api.pb.h"

namespace fairlead::app {

/// An agent as far as steps wait for it.
struct agent_wait {
  bool there = false;                // some instance of it
  std::vector<std::string> reasons;  // why its steps wait
};

/// The agents that are there or waited for; nullopt: it is not known.
using known_agents = std::optional<std::map<std::string, agent_wait>>;

known_agents agents_of(const v1::StatusReply& status);

/// Empty when the step waits for nothing, or for the same as the whole task (it is parked, paused or over).
std::string waits_for(const v1::TaskShowReply& reply, int step, const known_agents& agents);

/// Whether some step may wait for an agent, so that it is worth asking who is there.
bool may_wait_for_agent(const v1::TaskShowReply& reply);

}  // namespace fairlead::app
