#pragma once
// An operation as the API and the command line show it: how far it has come, by the record of its task.

#include <cstdint>
#include <string>

#include "app/bulk/tally.hpp"
#include "messages/api.pb.h"

namespace fairlead::app::bulk {

/// What an operator may do to an operation.
struct operation_verb {
  const char* word;
  v1::OperatorVerb verb;
  const char* help;
};
inline constexpr operation_verb operation_verbs[] = {
    {"stop", v1::OPERATOR_VERB_CANCEL, "End an operation where it is: what was done stays done"},
    {"pause", v1::OPERATOR_VERB_PAUSE, "Pause an operation: it acts on no further task until it is resumed"},
    {"resume", v1::OPERATOR_VERB_RESUME, "Let a paused operation go on"},
    {"retry", v1::OPERATOR_VERB_RETRY, "Let a parked operation go on"},
};
/// Null: the word is unknown.
const operation_verb* find_operation_verb(const std::string& word);

/// The id of an operation is the end of its task's id; who gives the latter means the same.
std::string task_of_operation(const std::string& id);
std::string operation_of_task(const std::string& task_id);

struct operation_view {
  std::string id, task, state, reason_of_state;
  std::string verb, step, filter, by, reason;  // empty: not known; `filter` is JSON
  bool is_of_ids = false;
  std::uint32_t rate = 0;
  std::uint64_t count = 0, left = 0;
  tally at;
  std::string note;
  std::int64_t created_unix_ms = 0, ended_unix_ms = 0;
};
operation_view view_of(const v1::TaskRecord& task);
std::string operation_json(const operation_view& one);
inline std::string operation_json(const v1::TaskRecord& task) { return operation_json(view_of(task)); }

/// The record of an operation's task, as far as its submission tells: `created_unix_ms` is about when it was taken.
v1::TaskRecord begun_record(const v1::Submission& taken, std::int64_t created_unix_ms);
/// Writes into the record, as it was before an action, what the answer to that says.
void take_state(v1::TaskRecord& task, const v1::OperateResult& done);

/// Takes out of the record of an operation's task what operation_json() does not show.
void hide_payloads(v1::TaskRecord& task);

}  // namespace fairlead::app::bulk
