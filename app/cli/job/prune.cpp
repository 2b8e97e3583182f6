#include "app/cli/job/prune.hpp"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "actors/core/request_limits.hpp"
#include "actors/core/text/text.hpp"
#include "app/cli/screen/table.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t most_told = 20;
// A request may have 1000 names. A deletion also deletes the job's launches, often 1000 or more,
// and the shard does nothing else meanwhile.
constexpr std::size_t names_a_request = 100;

bool begins_with(const std::string& name, const std::string& prefix) { return name.compare(0, prefix.size(), prefix) == 0; }

bool gone(const v1::JobOperateResult& one) { return one.error().code() == v1::ERROR_CODE_OK; }

/// The first error gives the exit code.
void end_with(cli_context& context, int code) {
  if (context.code == exit_ok) context.code = code;
}

}  // namespace

status check_prune_prefix(const std::string& prefix) {
  if (!prefix.empty()) return nothing{};
  return invalid("--prune finds imported jobs by the prefix of their names, but --prefix is empty",
                 "Leave out --prune, and delete jobs that you do not need any more by hand: fairlead job delete NAME");
}

status check_prune(const prune_plan& plan) {
  // A line left out may have a job from an earlier import. The job still runs and may be the only
  // copy of the line.
  if (plan.left_out != 0)
    return invalid("--prune deletes nothing while lines are left out: an earlier import may have created jobs for the " +
                       (plan.left_out == 1 ? "line" : std::to_string(plan.left_out) + " lines") + " of " + plan.file + " listed above",
                   "Correct the errors listed above, or leave out --prune and delete jobs by hand: fairlead job delete NAME");
  // An empty crontab is probably a wrong file, or the output of a command that failed in a pipe.
  if (plan.jobs == 0)
    return invalid(plan.file + ": the crontab has no entries, and --prune would delete every job whose name begins with " + plan.prefix,
                   "To delete them all: fairlead job list " + plan.prefix + " shows them, fairlead job delete NAME... deletes them");
  return nothing{};
}

result<std::vector<std::string>> other_jobs(const job_list_request& list, const std::vector<v1::JobSpec>& own, const std::string& prefix) {
  std::set<std::string> names;
  for (const auto& job : own) names.insert(job.name());
  std::vector<std::string> out;
  v1::JobListRequest request;
  request.set_name_contains(prefix);
  request.set_page_size(max_page_size);
  do {
    const auto page = list(request);
    if (!page) return page.failure();
    for (const auto& job : page->items())
      if (begins_with(job.name(), prefix) && names.count(job.name()) == 0) out.push_back(job.name());
    request.set_after(page->after());
  } while (!request.after().empty());
  return out;
}

std::string others_text(const std::vector<std::string>& names) {
  std::string out = names.size() == 1 ? "1 job with this prefix is not in this crontab, and is kept."
                                      : std::to_string(names.size()) + " jobs with this prefix are not in this crontab, and are kept.";
  out +=
      " A changed line is a new job; the job of the old line is kept. Import with --prune to delete all jobs that are not in this crontab, "
      "or";
  out += " delete the jobs that you do not need any more:\n";
  for (std::size_t i = 0; i < std::min(names.size(), most_told); ++i) out += "  fairlead job delete " + printable(names[i]) + "\n";
  if (names.size() > most_told) out += "  … and " + std::to_string(names.size() - most_told) + " more\n";
  return out;
}

pruned delete_jobs(const job_operate_request& operate, const std::vector<std::string>& names, const std::string& who,
                   const std::string& file) {
  pruned out;
  v1::JobOperateRequest request;
  request.mutable_action()->set_verb(v1::JOB_VERB_DELETE);
  request.mutable_action()->set_who(who);
  // A path may be longer than a reason, and may not be UTF-8.
  request.mutable_action()->set_reason(core::clean_text("no longer in " + file, reason_limit));
  for (std::size_t at = 0; at < names.size(); at += names_a_request) {
    request.clear_names();
    for (auto i = at; i < std::min(at + names_a_request, names.size()); ++i) request.add_names(names[i]);
    auto reply = operate(request);
    if (reply && reply->results_size() != request.names_size())
      reply = error{v1::ERROR_CODE_INTERNAL, "the node did not answer for every job", "List the jobs that are left: fairlead job list"};
    if (!reply) {
      const auto left = names.size() - at;
      out.failed = reply.failure();
      out.failed->sentence += "; " + std::to_string(left) + (left == 1 ? " job is" : " jobs are") + " not confirmed as deleted";
      return out;
    }
    for (int i = 0; i < reply->results_size(); ++i) {
      auto& one = *reply->mutable_results(i);
      // A node may leave out the name, which the request already has.
      one.set_name(request.names(i));
      // The job may already be deleted: by another operator, or by this request if it was sent
      // twice after a lost connection.
      if (one.error().code() == v1::ERROR_CODE_NOT_FOUND) one.clear_error();
      out.results.push_back(std::move(one));
    }
  }
  return out;
}

std::string pruned_text(const pruned& what) {
  if (what.results.empty() && !what.failed) return "No job to delete.\n";
  std::string out;
  for (const auto& one : what.results)
    if (gone(one)) out += "Job " + printable(one.name()) + " is deleted.\n";
  return out;
}

std::vector<error> refusals_of(const pruned& what) {
  std::vector<error> out;
  for (const auto& one : what.results) {
    if (gone(one)) continue;
    auto why = error::from_proto(one.error());
    why.sentence = "Job " + one.name() + " is not deleted: " + why.sentence;
    out.push_back(std::move(why));
  }
  return out;
}

std::vector<std::string> left_of(const std::vector<std::string>& names, const pruned& what) {
  std::set<std::string> deleted;
  for (const auto& one : what.results)
    if (gone(one)) deleted.insert(one.name());
  std::vector<std::string> out;
  for (const auto& name : names)
    if (deleted.count(name) == 0) out.push_back(name);
  return out;
}

void write_pruned(json_writer& out, const pruned& what) {
  out.key("deleted").begin_array();
  for (const auto& one : what.results) {
    out.begin_object().key("job").string(one.name()).key("code").string(code_word(one.error().code()));
    out.key("error").string(one.error().sentence()).key("remedy").string(one.error().remedy()).end_object();
  }
  out.end_array();
}

tidied tidy_jobs(cli_context& context, const tidy_requests& to, const tidy_plan& plan) {
  tidied out;
  const bool pruning = plan.prune && context.code == exit_ok;
  auto others = other_jobs(to.list, plan.own, plan.prefix);
  if (!others) {
    // Only --prune needs the list; without it the error does not matter.
    if (!pruning) return out;
    auto why = others.failure();
    why.sentence = "Nothing is deleted because the existing jobs cannot be listed: " + why.sentence;
    end_with(context, fail(why));
    return out;
  }
  out.others = std::move(*others);
  if (!pruning) {
    if (!plan.prune && !context.json && !out.others.empty()) std::fputs(("notice: " + others_text(out.others)).c_str(), stderr);
    return out;
  }
  out.done = delete_jobs(to.operate, out.others, plan.who, plan.file);
  out.others = left_of(out.others, out.done);
  if (!context.json) print(context, pruned_text(out.done));
  // The errors follow the deleted jobs.
  for (const auto& why : refusals_of(out.done)) end_with(context, context.json ? exit_code_of(why.code) : fail(why));
  if (out.done.failed) end_with(context, fail(*out.done.failed));
  return out;
}

}  // namespace fairlead::app
