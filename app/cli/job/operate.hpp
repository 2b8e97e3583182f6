#pragma once
// What an operator does to jobs: pause, resume, run, backfill, delete and rewind.

#include <optional>
#include <string>
#include <vector>

#include "app/cli/job/moments.hpp"
#include "messages/error.hpp"
#include "messages/job.pb.h"

namespace fairlead::app {

/// The options of one of these commands, as typed.
struct job_operate_options {
  v1::JobVerb verb = v1::JOB_VERB_UNSPECIFIED;
  std::vector<std::string> names;
  std::string reason;
  std::string by;
  std::optional<std::string> input;
  std::optional<std::string> overlap;
  range_options range;  // of a backfill
  bool dry_run = false;
  bool yes = false;
};

/// Makes all checks that need no node. The range of a backfill is set later: it may need the job's
/// zone. Errors: invalid_argument.
result<v1::JobAction> job_action(const job_operate_options& options);

std::string operated_text(const v1::JobAction& action, const std::vector<v1::JobOperateResult>& results);

}  // namespace fairlead::app
