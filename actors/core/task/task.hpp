#pragma once
// The task machine: the only code that changes a task. Pure: the same record, event and context give the same decision.
//
// transitions.hpp lists the allowed changes of state. An event that does not apply to the current record gives an empty decision.
//
// An outcome is accepted while its attempt is in progress, even after complete_by, and refused once recovery was decided. An attempt is in
// progress exactly while complete_by is set; a step waits for its recovery exactly while not_before is set.

#include <optional>
#include <string>
#include <vector>

#include "actors/core/task/decision.hpp"

namespace fairlead::core {

/// How long a ready step may wait for a slot or its input before the task is checked again. Only a safety net: freed slots and finished
/// evaluations are reported at once.
inline constexpr std::int64_t waiting_recheck_ms = 30'000;
/// The same of a task whose children alone are in progress.
inline constexpr std::int64_t child_recheck_ms = 3'600'000;

/// A child of a task that has no parent is at level 1.
inline constexpr std::uint32_t most_levels = 8;

/// The source of a new task. The caller has checked all of it.
struct new_task {
  std::uint64_t number = 0;
  std::string id;
  std::string name_space;
  std::string content_hash;
  std::string input;  // minified JSON text
  std::vector<v1::Label> labels;
  std::int32_t priority = 0;
  std::optional<v1::ReplyAddress> reply;
  std::optional<v1::LaunchOf> launch;      // the job and time, if the task is a launch
  std::int64_t deadline_unix_ms = 0;       // of the launch; the task's timeout passes then, or earlier by its workflow; 0: none
  std::int64_t start_at_unix_ms = 0;       // not before this moment; 0: none given
  std::int64_t delay_ms = 0;               // the same, counted from now
  std::string submitted_by;                // empty: not known
  std::optional<v1::Origin> origin;        // nullopt: not over the API
  std::optional<v1::ParentOf> parent;      // of a child
  std::string item{};                      // of a child with ParentOf.call_of: JSON text
  std::int64_t restored_from_unix_ms = 0;  // not 0: the child may have begun before, in time that a restore has lost since this moment
  std::int64_t first_restored_from_unix_ms = 0;  // of the first of several restores; 0: as restored_from_unix_ms
};

/// The record of a new task: pending, with its initial steps.
v1::TaskRecord create_task(new_task source, const context& ctx, decision& out);

/// How many signals of the name no step has taken yet. Steps take the oldest first.
std::ptrdiff_t kept_signals(const v1::TaskRecord& record, std::string_view name);

/// Whether a callback of the step came while its attempt was in progress, and counts once that has ended.
bool is_answered_early(const v1::TaskRecord& record, std::uint32_t step);

/// Makes a record that a crashed start has half changed as `create_task` has made it, so that it can be parked.
void take_back_start(v1::TaskRecord& record, const context& ctx);

/// Applies `what` to `record`. If `decision.changed` is false the record is unchanged.
/// Throws std::logic_error on an impossible event, which is a bug; the record must then be discarded and read anew.
decision decide(v1::TaskRecord& record, const event& what, const context& ctx);

/// The idempotency key of a step: the same for all attempts in one direction and generation. The last three parts hold no '/'.
std::string idempotency_key(const v1::TaskRecord& record, const v1::StepRecord& step, v1::Direction direction);
/// The parts of an idempotency key; empty if the text is not such a key.
struct key_parts {
  std::string task_id;
  std::string step;  // path
};
key_parts parts_of_key(std::string key);

/// The id of the child that carries out the step at its present generation.
std::string child_id(const v1::TaskRecord& record, const v1::StepRecord& step);

/// Some step has an attempt or a child in progress.
bool any_out(const v1::TaskRecord& record);
/// Some step has an attempt in progress.
bool any_attempt_out(const v1::TaskRecord& record);

/// Lower-case words for states, as shown to operators.
const char* state_word(v1::TaskState state);
const char* state_word(v1::StepState state);
/// As state_word; `retrying` for a step of the task that failed or is in doubt and waits for its next attempt, `waiting` for one that waits for a
/// moment, a signal or a callback, `timed_out` for one whose signal did not come in time.
const char* shown_state(const v1::TaskRecord& task, const v1::StepRecord& step);

}  // namespace fairlead::core
