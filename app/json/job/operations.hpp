#pragma once
// What came of jobs that were applied, and of an operator's actions on jobs, as JSON.

#include <string>
#include <vector>

#include "messages/job.pb.h"

namespace fairlead::app {

/// `done` has the results of the first jobs in order. If a message failed, later jobs have no result.
std::string job_applied_json(const std::vector<v1::JobApplyResult>& done);

std::string job_operated_json(const std::vector<v1::JobOperateResult>& results);

}  // namespace fairlead::app
