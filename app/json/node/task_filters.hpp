#pragma once
// The conditions of a list of tasks that are one value each, under the names that parameters and fields of the API have.

#include <cstdint>
#include <optional>
#include <string>

#include "actors/core/request_limits.hpp"
#include "messages/api.pb.h"
#include "messages/error.hpp"
#include "messages/ids.hpp"

namespace fairlead::app {

struct task_flag {
  const char* name;
  void (v1::TaskListRequest::*set)(bool);
  bool of_ended;  // also of a list of ended tasks alone
};
inline constexpr task_flag task_flags[] = {
    {"parked", &v1::TaskListRequest::set_parked_only, false},
    {"archived", &v1::TaskListRequest::set_archived, false},
    {"top_level", &v1::TaskListRequest::set_top_level, true},
};

struct task_text {
  const char* name;
  std::string* (v1::TaskListRequest::*of)();
  bool of_parked;  // only parked tasks have it
  std::size_t most_bytes = max_id_bytes;
};
inline constexpr task_text task_texts[] = {
    {"workflow", &v1::TaskListRequest::mutable_workflow, false},
    {"job", &v1::TaskListRequest::mutable_job, false},
    {"id_prefix", &v1::TaskListRequest::mutable_id_prefix, false},
    {"parent", &v1::TaskListRequest::mutable_parent, false, max_known_id_bytes},
    {"agent", &v1::TaskListRequest::mutable_agent, false},
    {"reason", &v1::TaskListRequest::mutable_fault_code, true},
};

struct task_time {
  const char* name;
  bool is_moment;  // else an age, such as `2h`
  void (v1::TaskListRequest::*set)(std::int64_t);
};
inline constexpr task_time task_times[] = {
    {"older_than", false, &v1::TaskListRequest::set_older_than_ms},
    {"younger_than", false, &v1::TaskListRequest::set_younger_than_ms},
    {"ended_since", true, &v1::TaskListRequest::set_ended_since_unix_ms},
    {"ended_until", true, &v1::TaskListRequest::set_ended_until_unix_ms},
};

/// Why no task can meet what is said about parents; `parent` and `top_level` are named as the caller names them.
inline std::optional<error> misfit_of_parents(const v1::TaskListRequest& what, const std::string& parent, const std::string& top_level) {
  if (what.parent().empty()) return std::nullopt;
  if (what.top_level())
    return invalid(parent + " and " + top_level + " are both given, and no child is without a parent.", "Leave one of the two out.");
  if (possible_task_id(what.parent())) return std::nullopt;
  return invalid(parent + " is not a task id.",
                 "An id has 1 to 256 characters of A-Z a-z 0-9 . _ : @ / -, and that of a child up to 480, with ~.");
}

}  // namespace fairlead::app
