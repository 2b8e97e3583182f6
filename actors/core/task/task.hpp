#pragma once
// The task machine: the only code that changes a task. Pure: the same record, event and context give the same decision.
//
// From where to where a task and its steps may go says transitions.hpp. An event that does not apply to the current record gives an empty decision.
//
// An outcome is accepted while its attempt is out, even after complete_by, and refused once recovery was decided. An attempt is out exactly
// while complete_by is set; a step waits for its recovery exactly while not_before is set.

#include <optional>
#include <string>
#include <vector>

#include "actors/core/task/decision.hpp"

namespace fairlead::core {

/// How long a step that is ready may wait for a slot or for its expressions before the task is looked at again. Only a safety net: freed
/// slots and finished evaluations are told at once.
inline constexpr std::int64_t waiting_recheck_ms = 30'000;

/// What a new task is made of. All of it has been checked.
struct new_task {
  std::uint64_t number = 0;
  std::string id;
  std::string name_space;
  std::string content_hash;
  std::string input;  // minified JSON text
  std::vector<v1::Label> labels;
  std::int32_t priority = 0;
  std::optional<v1::ReplyAddress> reply;
  std::optional<v1::LaunchOf> launch;  // of the job that it is a launch of
  std::int64_t deadline_unix_ms = 0;   // its timeout passes then, if not earlier by its workflow; 0: none of its own
};

/// The record of a new task, pending, with the steps it begins with.
v1::TaskRecord create_task(new_task source, const context& ctx, decision& out);

/// Applies `what` to `record`. When `decision.changed` is false the record is as it was.
/// Throws std::logic_error on an impossible event: a bug; the record must then be thrown away and read anew.
decision decide(v1::TaskRecord& record, const event& what, const context& ctx);

/// The idempotency key of a step: the same for all attempts in one direction and generation. The last three parts hold no '/'.
std::string idempotency_key(const v1::TaskRecord& record, const v1::StepRecord& step, v1::Direction direction);
/// What such a key is of; empty where it is none.
struct key_parts {
  std::string task_id;
  std::string step;  // path
};
key_parts parts_of_key(std::string key);

/// An attempt of some step is out.
bool any_attempt_out(const v1::TaskRecord& record);

/// Lower-case words for states, as people see them.
const char* state_word(v1::TaskState state);
const char* state_word(v1::StepState state);

}  // namespace fairlead::core
