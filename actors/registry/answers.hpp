#pragma once
// What agents say, made fit for a decision. An agent may be wrong in any way: it answers nonsense, too much, twice, or for a step that it does
// not hold. Whatever it says becomes an event whose numbers and texts are within bounds, and of no step but its own.

#include <cstdint>
#include <optional>
#include <string>

#include "actors/core/task/decision.hpp"
#include "messages/agent.pb.h"
#include "messages/error.hpp"

namespace fairlead {

/// Why a registration cannot be taken as it stands; nullopt: it can.
std::optional<error> check_registration(const v1::RegisterAgent& said);

/// Who is talking.
struct agent_process {
  const std::string& instance;
  std::uint64_t incarnation = 0;
};

/// False: an attempt of the step is out, and another process holds it. (Where none is out, the fence of attempts decides.)
bool may_speak_for(const agent_process& who, const v1::TaskRecord& record, std::uint32_t step);
/// `who` holds an attempt of the step.
bool holds_step(const agent_process& who, const v1::TaskRecord& record, std::uint32_t step);

/// The event for an outcome; what it says is moved out of it. The output is not looked at.
core::attempt_ended event_of(v1::Outcome& said);
core::attempt_heartbeat event_of(v1::Heartbeat& said);

}  // namespace fairlead
