// Checks of a request about jobs as a whole. The shard checks each job.

#include <string>
#include <utility>

#include "actors/core/request_limits.hpp"
#include "actors/core/reserved.hpp"
#include "actors/gateway/requests/checks.hpp"
#include "messages/job_verbs.hpp"
#include "store/keys.hpp"

namespace fairlead {

namespace {

constexpr std::size_t max_apply_bytes = 16ULL << 20;
constexpr std::size_t max_after_bytes = store::max_job_name_bytes + 8;  // plus the number of a shard

std::optional<error> check_job_name(const std::string& name) {
  if (name.empty()) return invalid("the request names a job with an empty name", "fairlead job list shows the jobs");
  if (name.size() <= store::max_job_name_bytes && name.find('\0') == std::string::npos) return std::nullopt;
  return invalid("the request names a job with " + std::to_string(name.size()) +
                     " bytes or a zero byte in its name, and names have at most " + std::to_string(store::max_job_name_bytes) + " and none",
                 "fairlead job list shows the jobs");
}

std::optional<error> check_who(const std::string& who) {
  if (who.size() <= who_limit) return std::nullopt;
  return invalid("the operator's name has more than " + std::to_string(who_limit) + " bytes", "shorten it");
}

std::optional<error> too_many(int jobs) {
  if (jobs <= max_request_items) return std::nullopt;
  return invalid(
      "the request names " + std::to_string(jobs) + " jobs, at most " + std::to_string(max_request_items) + " are allowed in a request",
      "send several requests");
}

std::optional<error> check_action(const v1::JobAction& what) {
  // A verb of a later release arrives as its number.
  if (what.verb() == v1::JOB_VERB_UNSPECIFIED || !v1::JobVerb_IsValid(what.verb()) || !v1::OverlapPolicy_IsValid(what.overlap()))
    return invalid("the request has no action for its jobs", "use a client of the node's release");
  if (auto why = check_who(what.who())) return why;
  if (what.reason().size() > reason_limit)
    return invalid("the reason has more than " + std::to_string(reason_limit) + " bytes", "shorten it");
  if (what.input().size() > max_input_bytes)
    return invalid("the input has " + std::to_string(what.input().size()) + " bytes, but an input may have at most 256 KiB", "shorten it");
  const auto fills = is_backfill(what.verb());
  if (fills && (what.from_unix_ms() <= 0 || what.to_unix_ms() < what.from_unix_ms()))
    return invalid("the time range ends before it begins", "give a --to that is not earlier than --from");
  return std::nullopt;
}

}  // namespace

std::optional<error> check_request(const v1::JobApplyRequest& what) {
  if (what.jobs().empty()) return invalid("the request has no job", "give at least one");
  if (auto why = too_many(what.jobs_size())) return why;
  if (const auto size = what.ByteSizeLong(); size > max_apply_bytes)
    return invalid("the request has " + std::to_string(size) + " bytes, and at most 16 MiB are allowed in a request",
                   "send several requests");
  for (const auto& job : what.jobs())
    if (!what.has_shard() && job.workflow() == core::operations_workflow)
      return invalid("job " + job.name() + " launches the workflow " + job.workflow() + ", which is the node's own",
                     "give it another workflow; POST /v1/tasks:act of the API acts on many tasks");
  return check_who(what.who());
}

std::optional<error> check_request(const v1::JobListRequest& what) {
  if (what.labels_size() > max_filter_labels || what.workflow().size() > max_name_bytes ||
      what.name_contains().size() > store::max_job_name_bytes || what.after().size() > store::max_job_name_bytes)
    return invalid("the filters are too large: more than 32 labels, or a name that is longer than a job's name can be",
                   "use fewer labels or a shorter name");
  return std::nullopt;
}

std::optional<error> check_request(const v1::JobShowRequest& what) { return check_job_name(what.name()); }

std::optional<error> check_request(const v1::JobHistoryRequest& what) {
  if (auto why = check_job_name(what.name())) return why;
  if (what.from_unix_ms() < 0 || what.to_unix_ms() < 0 || what.before_unix_ms() < 0)
    return invalid("--from is before 1970", "leave --from out, or give a time in 1970 or later");
  return std::nullopt;
}

std::optional<error> check_request(const v1::JobOperateRequest& what) {
  if (auto why = check_action(what.action())) return why;
  if (what.names().empty()) {
    if (!is_rewind(what.action().verb())) return invalid("the request has no job", "give at least one");
    if (what.after().size() > max_after_bytes) return invalid("the cursor of the request is not valid", "use `after` of the reply before");
    return std::nullopt;
  }
  if (!what.after().empty()) return invalid("the request has both jobs and a cursor", "leave one of them out");
  if (auto why = too_many(what.names_size())) return why;
  for (const auto& name : what.names())
    if (auto why = check_job_name(name)) return why;
  return std::nullopt;
}

}  // namespace fairlead
