#pragma once
// The conditions of a list of tasks that are one value each, under the names that parameters and fields of the API have.

#include <cstdint>

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

struct task_time {
  const char* name;
  bool is_moment;  // else an age, such as `2h`
  void (v1::TaskListRequest::*set)(std::int64_t);
};
inline constexpr task_time task_times[] = {
    {"older_than", false, &v1::TaskListRequest::set_older_than_ms},
    {"younger_than", false, &v1::TaskListRequest::set_younger_than_ms},
    {"ended_since", true, &v1::TaskListRequest::set_ended_since_unix_ms},
};

}  // namespace fairlead::app
