#pragma once
// The conditions of a list of tasks that are one value each, under the names that parameters and fields of the API have.

#include <cstdint>
#include <string>

#include "messages/api.pb.h"

namespace fairlead::app {

struct task_flag {
  const char* name;
  void (v1::TaskListRequest::*set)(bool);
};
inline constexpr task_flag task_flags[] = {
    {"parked", &v1::TaskListRequest::set_parked_only},
    {"archived", &v1::TaskListRequest::set_archived},
};

struct task_text {
  const char* name;
  std::string* (v1::TaskListRequest::*of)();
  bool of_parked;  // only parked tasks have it
};
inline constexpr task_text task_texts[] = {
    {"workflow", &v1::TaskListRequest::mutable_workflow, false},   {"job", &v1::TaskListRequest::mutable_job, false},
    {"id_prefix", &v1::TaskListRequest::mutable_id_prefix, false}, {"agent", &v1::TaskListRequest::mutable_agent, false},
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

}  // namespace fairlead::app
