#pragma once
// The state transitions of steps and tasks; there are no other changes of their states. Each transition has a name, the states in which it
// may begin, and one destination. docs/architecture.md draws them and says when each happens; tests/docs_test.py compares the two.
//
// Only the restore of a backup sets states outside this table (restore.hpp): it has no event, and nothing is in progress then.

#include "actors/core/transition.hpp"
#include "messages/task.pb.h"

namespace fairlead::core {

using step_transition = transition<v1::StepState>;
using task_transition = transition<v1::TaskState>;

namespace step_moves {

namespace at {
inline constexpr auto pending = v1::STEP_STATE_PENDING;
inline constexpr auto running = v1::STEP_STATE_RUNNING;
inline constexpr auto completed = v1::STEP_STATE_COMPLETED;
inline constexpr auto failed = v1::STEP_STATE_FAILED;
inline constexpr auto in_doubt = v1::STEP_STATE_IN_DOUBT;
inline constexpr auto skipped = v1::STEP_STATE_SKIPPED;
inline constexpr auto undoing = v1::STEP_STATE_UNDOING;
inline constexpr auto undone = v1::STEP_STATE_UNDONE;
}  // namespace at

inline constexpr step_transition start{"start", any_of(at::pending), at::running};
inline constexpr step_transition complete{"complete", any_of(at::running, at::pending), at::completed};
inline constexpr step_transition fail{"fail", any_of(at::running, at::pending), at::failed};
inline constexpr step_transition accept{"accept", any_of(at::running), at::in_doubt};
inline constexpr step_transition doubt{"doubt", any_of(at::running, at::pending, at::failed), at::in_doubt};
inline constexpr step_transition hand_back{"hand_back", any_of(at::running), at::pending};
inline constexpr step_transition retry{"retry", any_of(at::failed, at::in_doubt), at::pending};
inline constexpr step_transition repeat{"repeat", any_of(at::running, at::in_doubt), at::pending};
inline constexpr step_transition settle{"settle", any_of(at::in_doubt, at::failed, at::pending), at::completed};
inline constexpr step_transition disprove{"disprove", any_of(at::in_doubt, at::failed), at::pending};
inline constexpr step_transition exhaust{"exhaust", any_of(at::in_doubt), at::failed};
inline constexpr step_transition skip{"skip", any_of(at::pending, at::failed), at::skipped};
inline constexpr step_transition bring_back{"bring_back", any_of(at::skipped), at::pending};
inline constexpr step_transition undo{"undo", any_of(at::completed, at::in_doubt, at::failed, at::pending), at::undoing};
inline constexpr step_transition undone{"undone", any_of(at::undoing), at::undone};

inline constexpr const step_transition* all[] = {&start,   &complete, &fail, &doubt,  &hand_back, &retry,  &settle,    &disprove,
                                                 &exhaust, &skip,     &undo, &undone, &repeat,    &accept, &bring_back};

}  // namespace step_moves

namespace task_moves {

namespace at {
inline constexpr auto pending = v1::TASK_STATE_PENDING;
inline constexpr auto running = v1::TASK_STATE_RUNNING;
inline constexpr auto completed = v1::TASK_STATE_COMPLETED;
inline constexpr auto undoing = v1::TASK_STATE_UNDOING;
inline constexpr auto undone = v1::TASK_STATE_UNDONE;
inline constexpr auto failed = v1::TASK_STATE_FAILED;
}  // namespace at

inline constexpr task_transition admit{"admit", any_of(at::pending), at::running};
inline constexpr task_transition complete{"complete", any_of(at::running), at::completed};
inline constexpr task_transition fail{"fail", any_of(at::pending, at::running, at::undoing), at::failed};
inline constexpr task_transition undo{"undo", any_of(at::pending, at::running, at::completed, at::failed), at::undoing};
inline constexpr task_transition undone{"undone", any_of(at::undoing), at::undone};

inline constexpr const task_transition* all[] = {&admit, &complete, &fail, &undo, &undone};

}  // namespace task_moves

}  // namespace fairlead::core
