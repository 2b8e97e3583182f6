#pragma once
// Small pieces of work on a task's record, used by the task machine; the questions may be asked by anyone.

#include <string>
#include <string_view>

#include "actors/core/task/decision.hpp"
#include "actors/core/task/transitions.hpp"

namespace fairlead::core {

/// Payloads longer than this stand apart from the row.
inline constexpr std::size_t inline_payload_bytes = 4096;

/// The code of a step's fault when its service may have forgotten the key, so that no attempt is made under it by itself any more.
inline constexpr std::string_view key_expired_code = "key_expired";
/// When the shard was restored from a backup, and the step may have been performed or undone since that was made.
inline constexpr std::string_view restored_code = "restored";
/// Both.
inline constexpr std::string_view restored_key_code = "restored_key";
/// Since a restore: never performed under the key that the backup knows, and perhaps under the next one.
inline constexpr std::string_view restored_next_code = "restored_next_key";
inline constexpr std::string_view input_type_code = "input_type";
inline constexpr std::string_view output_type_code = "output_type";

// ---- questions ----

/// An attempt of the step is out, in whatever direction.
inline bool attempt_out(const v1::StepRecord& step) { return step.complete_by_unix_ms() != 0; }

/// When the lease of the attempt that is out ends: at complete_by, or before that where its agent has to be heard from; 0: none is out.
std::int64_t lease_end(const v1::StepRecord& step);

/// Committed hand-overs of the step in a direction, how many of them ended badly, and how many do not count against the limit.
std::uint32_t attempt_of(const v1::StepRecord& step, v1::Direction direction);
std::uint32_t failures_of(const v1::StepRecord& step, v1::Direction direction);
std::uint32_t excused_of(const v1::StepRecord& step, v1::Direction direction);

/// An attempt is out, or the step waits for its recovery at a moment that its row has.
inline bool under_way(const v1::StepRecord& step) { return attempt_out(step) || step.not_before_unix_ms() != 0; }

/// Exactly this attempt is out.
inline bool is_out(const v1::StepRecord& step, v1::Direction direction, std::uint32_t attempt) {
  return attempt_out(step) && step.direction() == direction && attempt_of(step, direction) == attempt;
}

inline bool has_ended(const v1::TaskRecord& record) {
  return record.state() == v1::TASK_STATE_COMPLETED || record.state() == v1::TASK_STATE_UNDONE;
}

/// The service may have forgotten the key of the step, so only a look-up or a person goes on from here.
bool key_is_gone(const v1::Fault& fault);
/// Codes that only the Scheduler gives.
bool is_own_code(std::string_view code);

/// Whether a newest event of the task, or the first start or last end of a step, lies in the future, or a wake-up for which nothing but waiting is the
/// reason: the wall clock was set back since.
bool noted_ahead(const v1::TaskRecord& record, std::int64_t now_ms);

/// When the task's own timeout passes: its workflow's, counted from its submission, or its own deadline, whichever is earlier; 0: never.
std::int64_t times_out_at(const v1::TaskRecord& record, const v1::WorkflowDefinition& definition);

// ---- changes ----

void set_attempt(v1::StepRecord& step, v1::Direction direction, std::uint32_t attempt);
void set_failures(v1::StepRecord& step, v1::Direction direction, std::uint32_t failures);
/// No attempt of the step is out any more.
void end_lease(v1::StepRecord& step);
/// What its agents told of the step, checkpoint included, is of no use any more.
void forget_progress(v1::StepRecord& step, decision& out);
/// The next attempt goes under another key: nothing that was done or told under the old one counts for it.
void raise_generation(v1::StepRecord& step, decision& out);
/// An attempt to undo it has ended badly.
void note_undo_ended(v1::StepRecord& step, bool doubt);
/// From now on the step has all its attempts again in that direction.
void excuse(v1::StepRecord& step, v1::Direction direction);
void set_excused(v1::StepRecord& step, v1::Direction direction, std::uint32_t excused);
/// The latest attempt does not count: it was never handed over.
void excuse_one(v1::StepRecord& step, v1::Direction direction);

/// Puts `json` into the row or into a slot of its own. What stood there before must have been dropped.
void set_payload(v1::TaskRecord& record, v1::Payload& target, std::string json, decision& out);

/// Forgets a payload that the record will not refer to any more.
void drop_payload(const v1::Payload& target, decision& out);

/// Adds a history event and gives it for whatever else is to be said in it.
v1::HistoryEvent& add_event(v1::TaskRecord& record, v1::EventKind kind, std::uint32_t step_plus_one, std::uint32_t attempt, moment now,
                            std::string detail = {});

/// Moves a step or the task, noting the transition. Throws std::logic_error where its state is none of the transition's sources: a bug, which
/// parks the task and is never stored.
void move_step(v1::TaskRecord& record, std::uint32_t step, const step_transition& by, moment now, decision& out, std::string detail = {});
void move_task(v1::TaskRecord& record, const task_transition& by, moment now, decision& out, std::string detail = {});

/// Tells the task's reply address, when it has one.
void add_status(v1::TaskRecord& record, v1::StatusKind kind, moment now, decision& out, const std::string& reason = {});

/// Asks for an alert about the task.
void add_alert(const v1::TaskRecord& record, v1::AlertKind kind, const std::string& step, std::string sentence, std::string remedy,
               decision& out);

/// Parks the task, with an alert: nothing starts any more until an operator acts. `reason` is one sentence. One that is parked keeps its
/// first reason.
void park(v1::TaskRecord& record, std::string reason, moment now, decision& out);
void unpark(v1::TaskRecord& record, moment now, decision& out);

/// When the task must be looked at next; 0 when nothing will happen by time alone (pending, over; parked or paused with no attempt out).
/// `waiting`: some step is ready but found no slot, or its input is being evaluated.
std::int64_t next_due(const v1::TaskRecord& record, const context& ctx, bool waiting);

}  // namespace fairlead::core
