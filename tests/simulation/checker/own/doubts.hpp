#pragma once
// The judge of steps that are in doubt, and whose workflow says that they are to stay so.
//
// Rules:
//   repeated_in_doubt   such a step is performed again, and nobody has said that it may

#include "messages/task.pb.h"
#include "tests/simulation/plans/workflows.hpp"

namespace fairlead::simulation {

/// `was`: as seen before; null: not at all.
void judge_repeated(world& in, const v1::TaskRecord* was, const v1::TaskRecord& now, const shape& plan);

}  // namespace fairlead::simulation
