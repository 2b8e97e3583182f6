#pragma once
// What a checker asks about steps with joins, worked out from a task's row and its workflow alone.

#include <cstdint>

#include "messages/task.pb.h"
#include "tests/simulation/plans/workflows.hpp"

namespace fairlead::simulation {

/// So many needs of the step are completed that its join is met. A need that an undo of the whole task has taken back since counts.
bool join_met(const shape& plan, const v1::TaskRecord& record, std::uint32_t step);

/// Steps that need it may start, or, where it is dropped, a pivot that waits for it.
bool is_over(const shape& plan, const v1::TaskRecord& record, std::uint32_t step);

/// Whether the step may start, as far as other steps are concerned.
bool is_ready(const shape& plan, const v1::TaskRecord& record, std::uint32_t step);

/// Each step that needs the dropped one is dropped, or has a join that is met without it.
bool drop_is_lawful(const shape& plan, const v1::TaskRecord& record, std::uint32_t dropped);

}  // namespace fairlead::simulation
