#pragma once
// A task goes on by another version of its workflow. What has begun has to be the same there: agents, callbacks and the history name a step by
// its place, and what was done is undone as it was said when it was done.

#include <string>
#include <vector>

#include "actors/core/workflow/workflow.hpp"
#include "messages/task.pb.h"

namespace fairlead::core {

struct unfit_step {
  std::string step;
  std::string why;  // goes on the sentence "step NAME": "has begun, and …"
};

/// The step has left a trace in its record, other than that it was found ready and waited for a slot.
bool has_begun(const v1::StepRecord& step);

/// Which steps stand in the way, in the order of the record, and then in that of `to`. Both versions are usable, and the record is of `from`.
std::vector<unfit_step> unfit_steps(const v1::TaskRecord& record, const workflow& from, const workflow& to);

/// The steps of the record as `to` has them: those that have begun as they are, all others anew.
void carry_over(v1::TaskRecord& record, const workflow& from, const workflow& to, const workflow_engine& engine);

}  // namespace fairlead::core
