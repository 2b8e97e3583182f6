#pragma once
// What came of jobs that were applied, and of an operator's actions on jobs, as JSON.

#include <string>
#include <vector>

#include "app/json/writer.hpp"
#include "messages/job.pb.h"

namespace fairlead::app {

/// `done` has the results of the first jobs in order. If a message failed, later jobs have no result.
std::string job_applied_json(const std::vector<v1::JobApplyResult>& done);

std::string job_operated_json(const std::vector<v1::JobOperateResult>& results);

/// One of these.
void write_job_applied(json_writer& out, const v1::JobApplyResult& one);
void write_job_operated(json_writer& out, const v1::JobOperateResult& one);

}  // namespace fairlead::app
