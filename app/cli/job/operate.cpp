#include "app/cli/job/operate.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "actors/core/request_limits.hpp"
#include "app/cli/job/job.hpp"
#include "app/cli/json_argument.hpp"
#include "app/cli/operator_name.hpp"
#include "app/cli/screen/confirm.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/words.hpp"
#include "app/files/job_words.hpp"
#include "app/json/job/operations.hpp"
#include "app/json/words.hpp"
#include "messages/job_verbs.hpp"

namespace fairlead::app {

namespace {

struct operated {
  std::vector<v1::JobOperateResult> results;
  std::optional<error> failed;  // the error of a message; the messages before it were carried out
};

/// Sends the names in chunks. A rewind of all jobs continues until no job is left.
operated send_all(client& to, const v1::JobAction& action, const std::vector<std::string>& names) {
  operated out;
  v1::JobOperateRequest request;
  *request.mutable_action() = action;
  const auto chunk = static_cast<std::size_t>(max_request_items);
  for (std::size_t at = 0; at == 0 || at < names.size() || !request.after().empty();) {
    request.clear_names();
    const auto end = std::min(at + chunk, names.size());
    for (auto i = at; i < end; ++i) request.add_names(names[i]);
    auto reply = to.operate_jobs(request);
    if (!reply) {
      out.failed = reply.failure();
      return out;
    }
    for (auto& one : *reply->mutable_results()) out.results.push_back(std::move(one));
    at = end;
    request.set_after(names.empty() ? reply->after() : "");
    if (names.empty() && request.after().empty()) break;
  }
  return out;
}

void operate(cli_context& context, const job_operate_options& options) {
  auto action = job_action(options);
  if (!action) {
    context.code = fail(action.failure());
    return;
  }
  if (options.verb == v1::JOB_VERB_DELETE && !options.yes)
    if (const auto confirmed = confirm("delete " + (options.names.size() == 1 ? "job " + printable(options.names.front())
                                                                              : std::to_string(options.names.size()) + " jobs"),
                                       " with the history of all launches");
        !confirmed) {
      context.code = fail(confirmed.failure());
      return;
    }
  auto connected = connect(context);
  if (!connected) {
    context.code = fail(connected.failure());
    return;
  }
  if (options.verb == v1::JOB_VERB_BACKFILL) {
    const auto now_ms = now_unix_ms();
    const auto range = range_of(*asked_range::read(options.range, now_ms), *connected, options.names.front());
    if (!range) {
      context.code = fail(range.failure());
      return;
    }
    action->set_from_unix_ms(range->from_unix_ms);
    action->set_to_unix_ms(options.range.to ? range->to_unix_ms : now_ms);
    if (options.dry_run) action->set_verb(v1::JOB_VERB_BACKFILL_DRY_RUN);
  }
  const auto done = send_all(*connected, *action, options.names);
  if (!done.failed || !done.results.empty())
    print(context, context.json ? job_operated_json(done.results) + "\n" : operated_text(*action, done.results));
  // The errors follow the successful jobs. The first error gives the exit code.
  for (const auto& one : done.results) {
    auto code = exit_ok;
    if (one.error().code() != v1::ERROR_CODE_OK)
      code = static_cast<exit_code>(context.json ? exit_code_of(one.error().code()) : fail(error::from_proto(one.error())));
    else if (options.verb == v1::JOB_VERB_RUN && one.state() == v1::LAUNCH_STATE_SKIPPED)
      code = exit_failed;  // the job was not launched
    if (context.code == exit_ok) context.code = code;
  }
  if (done.failed) {
    const auto code = fail(*done.failed);
    if (context.code == exit_ok) context.code = code;
  }
}

void add_verb(CLI::App& group, cli_context& context, const char* name, const char* help, v1::JobVerb verb) {
  auto* command = group.add_subcommand(name, help);
  auto options = std::make_shared<job_operate_options>();
  options->verb = verb;
  const bool one = verb == v1::JOB_VERB_RUN || verb == v1::JOB_VERB_BACKFILL;
  auto* names = command->add_option("NAME", options->names,
                                    one                           ? "Name of the job"
                                    : verb == v1::JOB_VERB_REWIND ? "Names of jobs (default: all)"
                                                                  : "Names of jobs");
  if (verb != v1::JOB_VERB_REWIND) names->required();
  if (one) names->expected(1);
  if (verb == v1::JOB_VERB_RUN)
    command->add_option("--input", options->input, "Input of this launch instead of the job's input; expressions in it are not evaluated")
        ->type_name("JSON|@FILE|@-");
  if (verb == v1::JOB_VERB_BACKFILL) {
    add_range_options(*command, options->range, "End of the time range (included; a day is included whole; default: now)");
    command->add_flag("--dry-run", options->dry_run, "Only show which times would be launched");
  }
  if (verb == v1::JOB_VERB_REWIND)
    command->add_flag("--dry-run", options->dry_run, "Only show which times would be launched, and how many launches and skips forgotten");
  if (one)
    command
        ->add_option(
            "--overlap", options->overlap,
            verb == v1::JOB_VERB_RUN
                ? "What to do while an earlier launch is open: allow, skip, queue, replace (default: the job's policy)"
                : "What to do while an earlier launch is open: allow or queue (default: allow if that is the job's policy, else queue)")
        ->type_name("POLICY");
  if (verb == v1::JOB_VERB_DELETE) command->add_flag("--yes", options->yes, "Do not ask for confirmation");
  command->add_option("--reason", options->reason, "Reason, shown to other operators")->type_name("TEXT");
  add_operator_option(*command, options->by);
  add_client_options(*command, context);
  command->callback([&context, options] { operate(context, *options); });
}

}  // namespace

result<v1::JobAction> job_action(const job_operate_options& options) {
  v1::JobAction out;
  const auto foresees = options.dry_run && options.verb == v1::JOB_VERB_REWIND;
  out.set_verb(foresees ? v1::JOB_VERB_REWIND_DRY_RUN : options.verb);
  out.set_who(operator_name(options.by));
  out.set_reason(options.reason);
  if (options.input) {
    auto input = read_json_argument(*options.input, "The input");
    if (!input) return input.failure();
    out.set_input(std::move(*input));
  }
  if (options.overlap) {
    const auto value = value_of_word(overlap_words(), *options.overlap, "--overlap");
    if (!value) return value.failure();
    out.set_overlap(*value);
  }
  if (options.verb != v1::JOB_VERB_BACKFILL) return out;
  // A backfill launches all times. The node would treat these two policies as `queue`.
  if (out.overlap() == v1::OVERLAP_POLICY_SKIP || out.overlap() == v1::OVERLAP_POLICY_REPLACE)
    return invalid("--overlap " + *options.overlap + " cannot be used for a backfill: a backfill launches all of its times",
                   "Give allow (all at once) or queue (one after the other)");
  const auto range = asked_range::read(options.range, now_unix_ms());
  if (!range) return range.failure();
  if (!options.range.from && !options.range.last)
    return invalid("No time range is given", "Give --from TIME, with --to TIME or up to now, or --last DURATION");
  return out;
}

std::string operated_text(const v1::JobAction& action, const std::vector<v1::JobOperateResult>& results) {
  if (results.empty() && is_rewind(action.verb())) return "No job is ahead of the clock: nothing to do.\n";
  std::string out;
  for (const auto& one : results) {
    if (one.error().code() != v1::ERROR_CODE_OK) continue;
    out += "Job " + printable(one.name());
    if (!one.launch().empty()) out += ", launch " + printable(one.launch());
    out += ": " + as_sentence(one.sentence().empty() ? "done" : one.sentence()) + "\n";
    for (const auto at_ms : one.times_unix_ms()) out += "  " + utc_words(at_ms) + "\n";
  }
  return out;
}

void add_job_verbs(CLI::App& group, cli_context& context) {
  add_verb(group, context, "pause", "Pause jobs: their times are skipped, and waiting launches are held until the job is resumed",
           v1::JOB_VERB_PAUSE);
  add_verb(group, context, "resume",
           "Resume paused jobs: held launches go on, and the jobs are launched again from their next scheduled time on",
           v1::JOB_VERB_RESUME);
  add_verb(group, context, "skip", "Skip all waiting launches of jobs; running tasks go on", v1::JOB_VERB_SKIP);
  add_verb(group, context, "run", "Launch a job once, now, even if it is paused", v1::JOB_VERB_RUN);
  add_verb(group, context, "backfill", "Launch a job for all scheduled times in a time range that have no launch", v1::JOB_VERB_BACKFILL);
  add_verb(group, context, "delete", "Delete jobs and the history of their launches; running tasks go on", v1::JOB_VERB_DELETE);
  add_verb(group, context, "rewind", "Launch jobs from now on again, after a wrong clock has launched them for times in the future",
           v1::JOB_VERB_REWIND);
}

}  // namespace fairlead::app
