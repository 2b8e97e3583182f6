// Sends jobs to a node, for every command that creates jobs.

#include <utility>

#include "actors/client/split.hpp"
#include "actors/core/request_limits.hpp"
#include "app/cli/job/job.hpp"
#include "app/cli/operator_name.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/words.hpp"
#include "app/json/job/operations.hpp"

namespace fairlead::app {

namespace {

/// Splits the jobs by number and by size, so that each message is small enough.
std::vector<v1::JobApplyRequest> requests_of(const std::vector<v1::JobSpec>& jobs, const std::string& who, bool check_only) {
  std::vector<v1::JobApplyRequest> out;
  std::size_t bytes = 0;
  for (const auto& job : jobs) {
    const auto size = job.ByteSizeLong();
    if (out.empty() || out.back().jobs_size() >= max_request_items || bytes + size > max_input_bytes_a_message) {
      out.emplace_back();
      out.back().set_who(who);
      out.back().set_check_only(check_only);
      bytes = 0;
    }
    *out.back().add_jobs() = job;
    bytes += size;
  }
  return out;
}

const char* what_became(const v1::JobApplyResult& one, bool check_only) {
  if (check_only) return one.created() ? " would be new" : one.changed() ? " would be changed" : " would not be changed";
  return one.created() ? " is new" : one.changed() ? " is changed" : " is not changed";
}

/// Most error sentences of a node begin with the job's name, which must not appear twice.
std::string refusal_of(const std::string& job, const std::string& sentence) {
  const auto named = "job " + job + ": ";
  return "Job " + job + ": " + (sentence.compare(0, named.size(), named) == 0 ? sentence.substr(named.size()) : sentence);
}

}  // namespace

std::string applied_text(const std::vector<v1::JobApplyResult>& done, bool check_only) {
  std::string out;
  for (const auto& one : done) {
    if (one.error().code() != v1::ERROR_CODE_OK) continue;
    out += "Job " + printable(one.name()) + what_became(one, check_only);
    out += one.next_unix_ms() == 0 ? "; no next launch is planned.\n" : "; next time " + time_text(one.next_unix_ms()) + ".\n";
    for (const auto& warning : one.warnings()) out += "  warning: " + printable(warning) + "\n";
  }
  return out;
}

void apply_jobs(cli_context& context, const std::vector<v1::JobSpec>& jobs, const std::string& by, bool check_only) {
  auto connected = connect(context);
  if (!connected) {
    context.code = fail(connected.failure());
    return;
  }
  std::vector<v1::JobApplyResult> done;
  std::optional<error> failed;
  for (const auto& request : requests_of(jobs, operator_name(by), check_only)) {
    auto reply = connected->apply_jobs(request);
    if (!reply) {
      failed = reply.failure();
      break;
    }
    for (int i = 0; i < reply->results_size(); ++i) {
      done.push_back(std::move(*reply->mutable_results(i)));
      // A node may leave out the name, which the request already has.
      done.back().set_name(request.jobs(i).name());
    }
  }
  print(context, context.json ? job_applied_json(done) + "\n" : applied_text(done, check_only));
  // The errors follow the successful jobs. The first error gives the exit code.
  for (const auto& one : done) {
    if (one.error().code() == v1::ERROR_CODE_OK) continue;
    auto why = error::from_proto(one.error());
    why.sentence = refusal_of(one.name(), why.sentence);
    const auto code = context.json ? exit_code_of(why.code) : fail(why);
    if (context.code == exit_ok) context.code = code;
  }
  if (failed) {
    const auto left = jobs.size() - done.size();
    failed->sentence += "; " + std::to_string(left) + (left == 1 ? " job is" : " jobs are") + " not confirmed";
    const auto code = fail(*failed);
    if (context.code == exit_ok) context.code = code;
  }
}

}  // namespace fairlead::app
