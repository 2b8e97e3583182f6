#pragma once
// The state transitions of a launch, in the job's record while it is open and in its own row. docs/architecture.md says when each happens;
// tests/docs_test.py compares the two.

#include <stdexcept>
#include <string>

#include "actors/core/transition.hpp"
#include "messages/job.pb.h"
#include "messages/task.pb.h"

namespace fairlead::core {

using launch_transition = transition<v1::LaunchState>;

namespace launch_moves {

namespace at {
inline constexpr auto none = v1::LAUNCH_STATE_UNSPECIFIED;  // recorded for the first time
inline constexpr auto waiting = v1::LAUNCH_STATE_WAITING;
inline constexpr auto started = v1::LAUNCH_STATE_STARTED;
inline constexpr auto completed = v1::LAUNCH_STATE_COMPLETED;
inline constexpr auto undone = v1::LAUNCH_STATE_UNDONE;
inline constexpr auto skipped = v1::LAUNCH_STATE_SKIPPED;
inline constexpr auto failed = v1::LAUNCH_STATE_FAILED;
}  // namespace at

inline constexpr launch_transition wait{"wait", any_of(at::none), at::waiting};
inline constexpr launch_transition start{"start", any_of(at::waiting), at::started};
inline constexpr launch_transition skip{"skip", any_of(at::none, at::waiting), at::skipped};
inline constexpr launch_transition complete{"complete", any_of(at::started), at::completed};
inline constexpr launch_transition fail{"fail", any_of(at::started, at::completed, at::undone), at::failed};
inline constexpr launch_transition undone{"undone", any_of(at::started, at::completed, at::failed), at::undone};

inline constexpr const launch_transition* all[] = {&wait, &start, &skip, &complete, &fail, &undone};

/// The move of a launch whose task has ended.
inline const launch_transition& of_end(v1::TaskState end) {
  return end == v1::TASK_STATE_COMPLETED ? complete : end == v1::TASK_STATE_FAILED ? fail : undone;
}

}  // namespace launch_moves

/// `launch`: a v1::OpenLaunch or v1::LaunchRecord. Throws std::logic_error if the transition does not begin in its state: a bug; the job is
/// then read anew and paused.
template <class Launch>
void move_launch(Launch& launch, const launch_transition& by) {
  if (!by.may_leave(launch.state()))
    throw std::logic_error{"the launch for " + std::to_string(launch.nominal_unix_ms()) + " is " + v1::LaunchState_Name(launch.state()) +
                           ", and no transition `" + by.name + "` leads from there"};
  launch.set_state(by.to);
}

}  // namespace fairlead::core
