#pragma once
// Jobs that begin as those of a crontab do and are not of it: most likely its lines of an earlier day, which are launched until somebody deletes them.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/context.hpp"
#include "app/cli/json.hpp"
#include "messages/error.hpp"
#include "messages/job.pb.h"

namespace fairlead::app {

using job_list_request = std::function<result<v1::JobListReply>(const v1::JobListRequest&)>;
using job_operate_request = std::function<result<v1::JobOperateReply>(const v1::JobOperateRequest&)>;

/// Without a beginning of their own, imported jobs cannot be told from the rest. Errors: invalid_argument.
status check_prune_prefix(const std::string& prefix);

/// What is known of a crontab before anything of it is sent.
struct prune_plan {
  std::string file;
  std::string prefix;
  std::size_t jobs = 0;
  std::size_t left_out = 0;  // lines that are refused
};

/// Whether only those are deleted that nobody can want any more. Errors: invalid_argument.
status check_prune(const prune_plan& plan);

/// Over all pages. Errors: of any of them, for half a list would pass for a whole one.
result<std::vector<std::string>> other_jobs(const job_list_request& list, const std::vector<v1::JobSpec>& own, const std::string& prefix);

/// For whoever has not asked for them to be deleted. Not of none.
std::string others_text(const std::vector<std::string>& names);

struct pruned {
  std::vector<v1::JobOperateResult> results;  // of the first ones, in order; those without an error are gone
  std::optional<error> failed;                // of a message; nothing is known of those it named
};

/// In several messages. A job that somebody else has deleted is no error: it is gone, as it was to be.
pruned delete_jobs(const job_operate_request& operate, const std::vector<std::string>& names, const std::string& who,
                   const std::string& file);

std::string pruned_text(const pruned& what);
/// Those that were refused, each by its name.
std::vector<error> refusals_of(const pruned& what);
/// Those that stay.
std::vector<std::string> left_of(const std::vector<std::string>& names, const pruned& what);
/// `deleted`, into an object.
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
  std::vector<std::string> others;  // that stay
  pruned done;
};

/// The end of an import: finds what is there besides its jobs, and deletes it or tells of it. Where context.code says that something has failed
/// before, nothing is deleted: an old job may be all there is of a line whose new one was refused. Sets context.code.
tidied tidy_jobs(cli_context& context, const tidy_requests& to, const tidy_plan& plan);

}  // namespace fairlead::app
