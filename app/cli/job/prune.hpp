#pragma once
// Finds and deletes jobs that have an import's name prefix and are not in the crontab. Most of them
// come from lines that were removed. They are launched until an operator deletes them.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/context.hpp"
#include "app/json/writer.hpp"
#include "messages/error.hpp"
#include "messages/job.pb.h"

namespace fairlead::app {

using job_list_request = std::function<result<v1::JobListReply>(const v1::JobListRequest&)>;
using job_operate_request = std::function<result<v1::JobOperateReply>(const v1::JobOperateRequest&)>;

/// With an empty prefix, imported jobs cannot be distinguished from other jobs. Errors:
/// invalid_argument.
status check_prune_prefix(const std::string& prefix);

/// What is known of a crontab before the first request.
struct prune_plan {
  std::string file;
  std::string prefix;
  std::size_t jobs = 0;
  std::size_t left_out = 0;  // refused lines
};

/// Whether all jobs to be deleted are surely not needed any more. Errors: invalid_argument.
status check_prune(const prune_plan& plan);

/// Reads all pages. Errors: an error of any page, because part of a list would be taken for the
/// whole list.
result<std::vector<std::string>> other_jobs(const job_list_request& list, const std::vector<v1::JobSpec>& own, const std::string& prefix);

/// The notice about these jobs when --prune is absent. `names` is not empty.
std::string others_text(const std::vector<std::string>& names);

struct pruned {
  std::vector<v1::JobOperateResult> results;  // of the first jobs, in order; a job without an error is deleted
  std::optional<error> failed;                // the error of a message; the state of the jobs in it is unknown
};

/// Deletes the jobs in several messages. A job that is already deleted is no error.
pruned delete_jobs(const job_operate_request& operate, const std::vector<std::string>& names, const std::string& who,
                   const std::string& file);

std::string pruned_text(const pruned& what);
/// One error for each refused job, with its name.
std::vector<error> refusals_of(const pruned& what);
/// The jobs that were not deleted.
std::vector<std::string> left_of(const std::vector<std::string>& names, const pruned& what);
/// Writes the member `deleted` into an object.
void write_pruned(json_writer& out, const pruned& what);

struct tidy_requests {
  job_list_request list;
  job_operate_request operate;
};

struct tidy_plan {
  const std::vector<v1::JobSpec>& own;
  std::string file;
  std::string prefix;  // not empty
  std::string who;
  bool prune = false;
};

struct tidied {
  std::vector<std::string> others;  // jobs that remain
  pruned done;
};

/// The end of an import: finds the other jobs with the prefix, and deletes or lists them. Deletes
/// nothing if context.code already has an error: an old job may be the only copy of a line whose
/// new job was refused. Sets context.code.
tidied tidy_jobs(cli_context& context, const tidy_requests& to, const tidy_plan& plan);

}  // namespace fairlead::app
