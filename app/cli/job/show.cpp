// `job show`.

#include <algorithm>
#include <memory>

#include "actors/core/request_limits.hpp"
#include "app/cli/job/job.hpp"
#include "app/cli/job/text.hpp"
#include "app/json/job/jobs.hpp"
#include "app/json/remedies.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

constexpr std::uint32_t most_coming = 100;

struct show_options {
  std::string name;
  bool yaml = false;
  std::uint32_t coming = 5;
};

/// The node reports parked tasks with the launches, not with the job. A launch missing in the reply
/// counts as not parked.
parked_launches parked_of(client& to, const v1::JobRecord& job) {
  const auto started = std::find_if(job.open().begin(), job.open().end(),
                                    [](const v1::OpenLaunch& open) { return open.state() == v1::LAUNCH_STATE_STARTED; });
  if (started == job.open().end()) return {};
  v1::JobHistoryRequest request;
  request.set_name(job.spec().name());
  request.set_from_unix_ms(started->nominal_unix_ms());
  request.set_page_size(max_page_size);
  request.set_launches_only(true);
  const auto reply = to.job_history(request);
  parked_launches out;
  if (reply)
    for (const auto& entry : reply->items())
      if (entry.parked()) out.insert(entry.launch().nominal_unix_ms());
  return out;
}

/// The answer needs the task and its workflow. If the task cannot be read, the command does not
/// offer a cancel.
bool may_cancel(client& to, const std::string& task) {
  if (task.empty()) return false;
  v1::TaskShowRequest request;
  request.set_id(task);
  const auto reply = to.show(request);
  return reply && can_be_undone(reply->task(), reply->definition());
}

}  // namespace

void add_job_show(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand(
      "show", "Show one job: its settings, why launches wait, its next times, its latest launches and the commands that help");
  auto options = std::make_shared<show_options>();
  command->add_option("NAME", options->name, "Name of the job")->required();
  auto* yaml = command->add_flag("--yaml", options->yaml, "Print only the job file of the job, as 'job deploy' reads it");
  command->add_option("--coming", options->coming, "How many of the next times to show")
      ->type_name("N")
      ->check(CLI::Range(1U, most_coming))
      ->capture_default_str();
  add_client_options(*command, context);
  yaml->excludes(command->get_option("--json"));
  command->callback([&context, options] {
    v1::JobShowRequest request;
    request.set_name(options->name);
    request.set_coming(options->coming);
    parked_launches parked;
    bool can_cancel = false;
    const auto ask = [&](client& to) {
      auto reply = to.job(request);
      if (!reply || options->yaml) return reply;
      parked = parked_of(to, reply->job());
      if (!context.json) can_cancel = may_cancel(to, launch_in_the_way(reply->job(), parked));
      return reply;
    };
    run_request(
        context, ask, [&](const v1::JobShowReply& reply) { return job_show_json(reply, parked); },
        [&](const v1::JobShowReply& reply) {
          return options->yaml ? job_show_yaml(reply) : job_show_text(reply, now_unix_ms(), parked, can_cancel);
        });
  });
}

}  // namespace fairlead::app
