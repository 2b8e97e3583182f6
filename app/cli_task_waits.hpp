#pragma once
// What a step of a task waits for, in a few words.

#include <optional>
#include <set>
#include <string>

#include "messages/api.pb.h"

namespace fairlead::app {

/// The names of the agents that are there; nullopt: it is not known.
using known_agents = std::optional<std::set<std::string>>;

known_agents agents_of(const v1::StatusReply& status);

/// Empty when the step waits for nothing, or for the same as the whole task (it is parked, paused or over).
std::string waits_for(const v1::TaskShowReply& reply, int step, const known_agents& agents);

/// Whether some step may wait for an agent, so that it is worth asking who is there.
bool may_wait_for_agent(const v1::TaskShowReply& reply);

}  // namespace fairlead::app
