#pragma once
// Small functions on a task's record, used by the task machine. The questions are for everyone.

#include <string>
#include <string_view>

#include "actors/core/task/decision.hpp"
#include "actors/core/task/transitions.hpp"
#include "messages/task_states.hpp"

namespace fairlead::core {

/// Longer payloads are stored outside the row.
inline constexpr std::size_t inline_payload_bytes = 4096;

/// Fault code: the service may have forgotten the step's key, so no further attempt is made automatically.
inline constexpr std::string_view key_expired_code = "key_expired";
/// Fault code: the shard was restored from a backup, and the step may have been performed or undone since the backup.
inline constexpr std::string_view restored_code = "restored";
inline constexpr std::string_view out_of_rounds_code = "repeat_exhausted";
/// Fault code: key_expired and restored together.
inline constexpr std::string_view restored_key_code = "restored_key";
/// Fault code after a restore: never performed under the key in the backup, perhaps performed under the next key.
inline constexpr std::string_view restored_next_code = "restored_next_key";
/// Fault code: so many needs of the step have not completed that its join can never be met.
inline constexpr std::string_view unmet_join_code = "join";
inline constexpr std::string_view input_type_code = "input_type";
inline constexpr std::string_view output_type_code = "output_type";
/// Fault code of a step of the end whose input, condition or value cannot be computed.
inline constexpr std::string_view expression_code = "expression";
/// Fault codes of a step with a callback: its agent has accepted it; and no callback has come in time.
inline constexpr std::string_view callback_awaited_code = "callback_awaited";
inline constexpr std::string_view callback_missed_code = "callback_timeout";
/// Fault codes of a step with a sub-workflow: how its child has ended; that it cannot be undone; and why there is none.
inline constexpr std::string_view child_failed_code = "child_failed";
inline constexpr std::string_view child_undone_code = "child_undone";
inline constexpr std::string_view child_pivot_code = "child_pivot";
inline constexpr std::string_view child_gone_code = "child_gone";
inline constexpr std::string_view child_never_begun_code = "child_never_begun";  // between tasks alone: no fault has it
inline constexpr std::string_view no_workflow_code = "no_workflow";
inline constexpr std::string_view child_input_code = "input";
/// Fault codes of a step with `for_each`.
inline constexpr std::string_view item_failed_code = "item_failed";
inline constexpr std::string_view output_too_large_code = "output_too_large";
inline constexpr std::string_view too_deep_code = "too_deep";
inline constexpr std::string_view too_many_tasks_code = "too_many_tasks";

// ---- questions ----

/// An attempt of the step is in progress, in any direction.
inline bool attempt_out(const v1::StepRecord& step) { return step.complete_by_unix_ms() != 0; }

/// An attempt or a child is in progress: somebody else says when that ends.
inline bool is_out(const v1::StepRecord& step) { return attempt_out(step) || child_out(step); }

/// End of the lease of the attempt in progress: complete_by, or earlier if the agent must send heartbeats; 0: no attempt is in progress.
std::int64_t lease_end(const v1::StepRecord& step);

/// Committed hand-overs of the step in a direction; those that ended badly; those that do not count against the limit.
std::uint32_t attempt_of(const v1::StepRecord& step, v1::Direction direction);
std::uint32_t failures_of(const v1::StepRecord& step, v1::Direction direction);
std::uint32_t excused_of(const v1::StepRecord& step, v1::Direction direction);
/// Waits before further attempts in a direction since its first bad end; they count against retry_for.
std::int64_t waited_of(const v1::StepRecord& step, v1::Direction direction);

/// An attempt or a child is in progress, or the step waits for its recovery at a moment in its row.
inline bool under_way(const v1::StepRecord& step) { return is_out(step) || step.not_before_unix_ms() != 0; }

/// A look-up of the step has been decided and has no answer yet.
inline bool to_be_looked_up(const v1::StepRecord& step) {
  return step.state() == v1::STEP_STATE_IN_DOUBT && step.direction() == v1::DIRECTION_LOOKUP && !step.given_up();
}

/// Exactly this attempt is in progress.
inline bool is_out(const v1::StepRecord& step, v1::Direction direction, std::uint32_t attempt) {
  return attempt_out(step) && step.direction() == direction && attempt_of(step, direction) == attempt;
}

inline bool has_ended(const v1::TaskRecord& record) { return fairlead::has_ended(record.state()); }

/// The service may have forgotten the step's key: only a look-up or an operator can continue.
bool key_is_gone(const v1::Fault& fault);
/// The fault is about doubt since a backup.
inline bool is_of_restore(const v1::Fault& fault) { return fault.code() == restored_code || fault.code() == restored_key_code; }
/// Codes that only the Scheduler sets.
bool is_own_code(std::string_view code);

/// Whether the row notes a moment in the future, because the wall clock was set back since: a recent event of the task, a start or end of a
/// step, or a wake-up that only ends a wait.
bool noted_ahead(const v1::TaskRecord& record, std::int64_t now_ms);

/// When the task's timeout passes: its workflow's timeout, counted from submission or a later start, or its own deadline, whichever is earlier; 0: never.
std::int64_t times_out_at(const v1::TaskRecord& record, const v1::WorkflowDefinition& definition);

/// Whether a step in doubt may be handed over again under its key.
inline bool may_be_repeated(v1::InDoubt says) { return says != v1::IN_DOUBT_PARK && says != v1::IN_DOUBT_FAIL; }

/// The token of a callback in TaskRecord.actions begins so. No token that anybody chooses has this letter.
inline constexpr std::string_view callback_token =
    "\x01"
    "callback ";
inline bool is_callback_token(std::string_view token) { return token.starts_with(callback_token); }

// ---- changes ----

void set_attempt(v1::StepRecord& step, v1::Direction direction, std::uint32_t attempt);
void set_failures(v1::StepRecord& step, v1::Direction direction, std::uint32_t failures);
/// No attempt of the step is in progress any more.
void end_lease(v1::StepRecord& step);
/// Drops the progress that agents reported for the step, checkpoint included.
void forget_progress(v1::StepRecord& step, decision& out);
/// The next attempt uses another key: work and reports under the old key do not count for it.
void raise_generation(v1::StepRecord& step, decision& out);
/// The same where nothing was performed under the old key. In time that a restore has lost the undo may have been sent under the next one.
void pass_to_next_key(v1::StepRecord& step, decision& out);
/// An attempt to undo the step has ended badly.
void note_undo_ended(v1::StepRecord& step, bool doubt);
void set_waited(v1::StepRecord& step, v1::Direction direction, std::int64_t waited_ms);
/// The step has all its attempts again in that direction, and retry_for begins anew.
void excuse(v1::StepRecord& step, v1::Direction direction);
void set_excused(v1::StepRecord& step, v1::Direction direction, std::uint32_t excused);
/// The latest attempt does not count: its agent never began it.
void excuse_one(v1::StepRecord& step, v1::Direction direction);

/// Stores `json` in the row, or as a payload outside the row. An earlier payload must have been dropped.
void set_payload(v1::TaskRecord& record, v1::Payload& target, std::string json, decision& out);

/// Drops a payload to which the record will not refer any more.
void drop_payload(const v1::Payload& target, decision& out);

/// Adds a history event and returns it, so that the caller can add fields.
v1::HistoryEvent& add_event(v1::TaskRecord& record, v1::EventKind kind, std::uint32_t step_plus_one, std::uint32_t attempt, moment now,
                            std::string detail = {});

/// Moves a step or the task, and notes the transition. Throws std::logic_error if its state is none of the transition's sources: a bug,
/// which parks the task; the record is not stored.
void move_step(v1::TaskRecord& record, std::uint32_t step, const step_transition& by, moment now, decision& out, std::string detail = {});
void move_task(v1::TaskRecord& record, const task_transition& by, moment now, decision& out, std::string detail = {});

/// Adds a status event for the task's reply address, if it has one.
void add_status(v1::TaskRecord& record, v1::StatusKind kind, moment now, decision& out, const std::string& reason = {});

/// Adds an alert about the task to the decision.
void add_alert(const v1::TaskRecord& record, v1::AlertKind kind, const std::string& step, std::string sentence, std::string remedy,
               std::vector<v1::AlertRecord>& to);
/// About the task, which is parked.
void add_parked_alert(const v1::TaskRecord& record, std::vector<v1::AlertRecord>& to);

/// Parks the task, with an alert: nothing starts until an operator acts. `reason` is one sentence; a parked task keeps its first reason.
/// One that is parked for a child has no alert of its own.
void park(v1::TaskRecord& record, std::string reason, moment now, decision& out, bool for_child = false);
void unpark(v1::TaskRecord& record, moment now, decision& out);

/// When the task must be checked next; 0: nothing will happen by time alone (pending, over; parked or paused with no attempt in progress).
/// `waiting`: some step is ready but found no slot, or its input is being evaluated.
std::int64_t next_due(const v1::TaskRecord& record, const context& ctx, bool waiting);

}  // namespace fairlead::core
