// `job list` and `job history`: fetch pages until enough entries are there.

#include <memory>

#include "app/cli/commands.hpp"
#include "app/cli/job/job.hpp"
#include "app/cli/job/moments.hpp"
#include "app/cli/job/text.hpp"
#include "app/cli/labels.hpp"
#include "app/cli/pages.hpp"
#include "app/json/job/jobs.hpp"

namespace fairlead::app {

namespace {

constexpr std::uint32_t longest_list = 1'000'000;

struct list_options {
  std::optional<std::string> workflow;
  std::vector<std::string> labels;
  bool paused = false;
  bool failing = false;
  std::string part;
  std::string after;
  std::uint32_t limit = 100;
};

struct history_options {
  std::string name;
  range_options range;
  bool launches = false;
  std::uint32_t limit = 100;
};

result<v1::JobListRequest> request_of(const list_options& options) {
  v1::JobListRequest out;
  // An empty value is probably an unset variable of a script. It would list the jobs of all
  // workflows.
  if (options.workflow && options.workflow->empty())
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "--workflow is empty", "Give the name of a workflow, or leave --workflow out"};
  out.set_workflow(options.workflow.value_or(""));
  auto labels = parse_labels(options.labels);
  if (!labels) return labels.failure();
  for (auto& label : *labels) *out.add_labels() = std::move(label);
  if (options.paused) out.set_paused(true);
  out.set_failing(options.failing);
  out.set_name_contains(options.part);
  out.set_after(options.after);
  out.set_partial(true);
  return out;
}

struct asked_history {
  v1::JobHistoryRequest request;
  asked_range range;
};

result<asked_history> request_of(const history_options& options) {
  auto range = asked_range::read(options.range, now_unix_ms());
  if (!range) return range.failure();
  asked_history out{{}, std::move(*range)};
  out.request.set_name(options.name);
  out.request.set_launches_only(options.launches);
  return out;
}

result<v1::JobListReply> fetch(client& from, v1::JobListRequest request, std::uint32_t limit) {
  return fetch_pages(
      std::move(request), limit, [&](const auto& one) { return from.jobs(one); },
      [](const auto& page, auto& to) {
        to.set_after(page.after());
        return !page.after().empty();
      });
}

result<v1::JobHistoryReply> fetch(client& from, const asked_history& asked, std::uint32_t limit) {
  auto request = asked.request;
  const auto range = range_of(asked.range, from, request.name());
  if (!range) return range.failure();
  request.set_from_unix_ms(range->from_unix_ms);
  // The request excludes its end, and a whole day is included.
  request.set_to_unix_ms(range->to_unix_ms + (asked.range.ends_with_day() ? 1 : 0));
  return fetch_pages(
      std::move(request), limit, [&](const auto& one) { return from.job_history(one); },
      [](const auto& page, auto& to) {
        to.set_before_unix_ms(page.before_unix_ms());
        return page.before_unix_ms() != 0;
      });
}

/// The callback of both commands: fetches the pages and prints JSON or text.
template <class Options, class Json, class Text>
void on_call(CLI::App& command, cli_context& context, std::shared_ptr<Options> options, Json json, Text text) {
  command.callback([&context, options, json, text] {
    const auto request = request_of(*options);
    if (!request) {
      context.code = fail(request.failure());
      return;
    }
    run_request(
        context, [&](client& to) { return fetch(to, *request, options->limit); }, json, text);
  });
}

}  // namespace

void add_job_list(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("list", "List jobs, by name");
  auto options = std::make_shared<list_options>();
  command->add_option("PART", options->part, "Only jobs whose names contain PART")->type_name("");
  command->add_option("--workflow", options->workflow, "Only jobs that launch this workflow")->type_name("WORKFLOW");
  command->add_option("--label", options->labels, "Only jobs with this label (repeatable)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--paused", options->paused, "Only paused jobs");
  command->add_flag("--failing", options->failing,
                    "Only jobs whose latest launch failed or could not start, that have a parked task, or that missed times");
  command->add_option("--limit", options->limit, "How many to list at most")
      ->type_name("N")
      ->check(CLI::Range(1U, longest_list))
      ->capture_default_str();
  command->add_option("--after", options->after, "Only jobs after this name; continues an earlier list")->type_name("JOB");
  add_client_options(*command, context);
  const auto quiet = add_quiet_option(*command, "names");
  on_call(*command, context, options, job_list_json, [options, quiet](const v1::JobListReply& reply) {
    if (*quiet) return only(reply.items(), [](const auto& job) { return job.name(); });
    const bool of_some = options->workflow || !options->labels.empty() || options->paused || options->failing;
    return job_list_text(reply, of_some || !options->part.empty() || !options->after.empty());
  });
}

void add_job_history(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("history", "List the launches and the skipped times of one job, newest first");
  auto options = std::make_shared<history_options>();
  command->add_option("NAME", options->name, "Name of the job")->required();
  add_range_options(*command, options->range, "End of the time range (not included; a day is included whole)");
  command->add_flag("--launches", options->launches, "Leave out skipped times");
  command->add_option("--limit", options->limit, "How many to list at most")
      ->type_name("N")
      ->check(CLI::Range(1U, longest_list))
      ->capture_default_str();
  add_client_options(*command, context);
  add_table_options(*command);
  on_call(*command, context, options, job_history_json, job_history_text);
}

}  // namespace fairlead::app
