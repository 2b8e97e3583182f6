#pragma once
// Turns messages of agents into events fit for a decision. An agent may be wrong in any way: it may send nonsense, too much, or twice, or
// about a step that it does not hold. An event has bounded numbers and texts, and concerns no step but the agent's own.

#include <cstdint>
#include <optional>
#include <string>

#include "actors/core/task/decision.hpp"
#include "messages/agent.pb.h"
#include "messages/error.hpp"

namespace fairlead {

/// Why a registration is refused; nullopt: it is accepted.
std::optional<error> check_registration(const v1::RegisterAgent& said);

/// The sender of a message.
struct agent_process {
  const std::string& instance;
  std::uint64_t incarnation = 0;
};

/// False: another process holds an attempt of the step in progress. (If none is in progress, the fence of attempts decides.)
bool may_speak_for(const agent_process& who, const v1::TaskRecord& record, std::uint32_t step);
/// Whether `who` holds an attempt of the step.
bool holds_step(const agent_process& who, const v1::TaskRecord& record, std::uint32_t step);

/// The event for an outcome, whose contents are moved into it. The output is not checked.
core::attempt_ended event_of(v1::Outcome& said);
core::attempt_heartbeat event_of(v1::Heartbeat& said);

}  // namespace fairlead
