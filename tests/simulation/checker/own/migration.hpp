#pragma once
// The judge of tasks that go on by another version of their workflow.
//
// Rules:
//   version_changed   a task goes on by another version, and nobody has ordered that
//   migrated_order    its steps are not those of the version, in their order
//   migrated_begun    a step that had begun is not there any more under its number, or is carried out or undone otherwise

#include "messages/task.pb.h"
#include "tests/simulation/plans/workflows.hpp"

namespace fairlead::simulation {

/// Judges the change, and gives the task before it as if it had been of the later version: with the steps that had begun, and no others.
v1::TaskRecord carried_over(world& in, const v1::TaskRecord& before, const v1::TaskRecord& after, const shape& from, const shape& to,
                            bool is_ordered);

}  // namespace fairlead::simulation
