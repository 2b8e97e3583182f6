#pragma once
// Small pieces of work on a task's record, used by the task machine alone.

#include <string>

#include "actors/core/decision.hpp"

namespace fairlead::core {

/// Payloads longer than this stand apart from the row.
inline constexpr std::size_t inline_payload_bytes = 4096;

/// Puts `json` into the row or into a slot of its own.
void set_payload(v1::TaskRecord& record, v1::Payload& target, std::string json, decision& out);

/// Adds a history event.
void add_event(v1::TaskRecord& record, v1::EventKind kind, std::uint32_t step_plus_one, std::uint32_t attempt, moment now,
               std::string detail = {});

/// Moves a step, noting the transition.
void move_step(v1::TaskRecord& record, std::uint32_t step, v1::StepState to, decision& out, std::string detail = {});

/// Moves the task, noting the transition.
void move_task(v1::TaskRecord& record, v1::TaskState to, decision& out, std::string detail = {});

/// Parks the task: nothing starts any more until an operator acts. `reason` is one sentence.
void park(v1::TaskRecord& record, std::string reason, moment now, decision& out);

/// When the task must be looked at next; 0 when nothing will happen by time alone (pending, over; parked or paused with no attempt out).
/// `waiting`: some step is ready but found no slot, or its input is being evaluated.
std::int64_t next_due(const v1::TaskRecord& record, const context& ctx, bool waiting);

}  // namespace fairlead::core
