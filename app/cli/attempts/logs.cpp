#include "app/cli/attempts/logs.hpp"

#include <algorithm>
#include <memory>
#include <string_view>

#include "actors/core/text/json.hpp"
#include "app/cli/screen/screen.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/words.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app {

namespace {

constexpr const char* what_keeps_logs = "Agents keep what a command prints where its call has 'output: log'";

bool wanted(const v1::StepRecord& step, const std::string& path) { return step.has_log() && (path.empty() || step.path() == path); }

/// As written, but what a command prints must not control the terminal. Tabs stay.
std::string shown_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of("\n\t"), text.size());
    // Programs of other systems end a line with two characters.
    const auto line = text.substr(0, end);
    out += printable(end < text.size() && text[end] == '\n' && !line.empty() && line.back() == '\r' ? line.substr(0, end - 1) : line);
    if (end < text.size()) out += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!out.empty() && out.back() != '\n') out += '\n';
  return out;
}

result<v1::TaskShowReply> no_logs(const std::string& what) {
  return error{v1::ERROR_CODE_NOT_FOUND, "nothing that " + what + " has printed is kept", what_keeps_logs};
}

struct task_logs_options {
  std::string id;
  std::string step;
};

result<v1::TaskShowReply> logs_of_task(client& to, const task_logs_options& options) {
  v1::TaskShowRequest request;
  request.set_id(options.id);
  auto reply = to.show(request);
  if (!reply || has_logs(reply->task(), options.step)) return reply;
  const auto& steps = reply->task().steps();
  if (!options.step.empty() && std::none_of(steps.begin(), steps.end(), [&](const auto& one) { return one.path() == options.step; }))
    return error{v1::ERROR_CODE_NOT_FOUND, "task " + options.id + " has no step " + options.step,
                 "fairlead task show " + options.id + " shows all steps"};
  return no_logs(options.step.empty() ? "task " + options.id : "step " + options.step + " of task " + options.id);
}

constexpr std::uint32_t launches_looked_at = 10;  // each is a whole task

struct job_logs_options {
  std::string name;
  std::string launch;
};

/// Without a launch: that of the latest one that has a log.
result<v1::TaskShowReply> logs_of_job(client& to, const job_logs_options& options) {
  if (!options.launch.empty()) {
    if (options.launch.rfind(options.name + "@", 0) != 0)
      return error{v1::ERROR_CODE_INVALID_ARGUMENT, options.launch + " is no launch of job " + options.name,
                   "fairlead job history " + options.name + " lists its launches"};
    return logs_of_task(to, {options.launch, {}});
  }
  v1::JobHistoryRequest request;
  request.set_name(options.name);
  request.set_launches_only(true);
  request.set_page_size(launches_looked_at);
  const auto launches = to.job_history(request);
  if (!launches) return launches.failure();
  for (const auto& entry : launches->items()) {
    if (entry.launch().started_at_unix_ms() == 0) continue;
    v1::TaskShowRequest show;
    show.set_id(entry.id());
    auto reply = to.show(show);
    // A task may have been deleted since.
    if (!reply && reply.failure().code != v1::ERROR_CODE_NOT_FOUND) return reply;
    if (reply && has_logs(reply->task())) return reply;
  }
  return no_logs("the latest launches of job " + options.name);
}

}  // namespace

bool has_logs(const v1::TaskRecord& record, const std::string& step) {
  return std::any_of(record.steps().begin(), record.steps().end(), [&](const auto& one) { return wanted(one, step); });
}

std::string logs_text(const v1::TaskRecord& record, const std::string& step) {
  std::string out;
  for (const auto& one : record.steps()) {
    if (!wanted(one, step)) continue;
    if (!out.empty()) out += "\n";
    const auto& log = one.log();
    out += "==> " + record.id() + " " + one.path() +
           (log.direction() == v1::DIRECTION_PERFORM ? "" : " " + std::string{direction_word(log.direction())}) + " attempt " +
           std::to_string(log.attempt()) + (log.cut() ? " (only the end is kept)" : "") + " <==\n";
    out += shown_lines(core::decode_json_string(log.text().json()));
  }
  return out;
}

std::string logs_json(const v1::TaskRecord& record, const std::string& step) {
  json_writer out;
  out.begin_object().key("task").string(record.id()).key("logs").begin_array();
  for (const auto& one : record.steps()) {
    if (!wanted(one, step)) continue;
    const auto& log = one.log();
    out.begin_object().key("step").string(one.path()).key("direction").string(direction_word(log.direction()));
    out.key("attempt").number(log.attempt()).key("cut").boolean(log.cut()).key("log").raw(log.text().json()).end_object();
  }
  return out.end_array().end_object().text();
}

void add_task_logs(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("logs", "Print what the steps of a task have printed, as far as it is kept");
  auto options = std::make_shared<task_logs_options>();
  command->add_option("ID", options->id, "Id of the task")->required();
  command->add_option("STEP", options->step, "Only the log of this step");
  add_client_options(*command, context);
  command->callback([&context, options] {
    show_as_written();
    run_request(
        context, [&](client& to) { return logs_of_task(to, *options); },
        [&](const v1::TaskShowReply& reply) { return logs_json(reply.task(), options->step); },
        [&](const v1::TaskShowReply& reply) { return logs_text(reply.task(), options->step); });
  });
}

void add_job_logs(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("logs", "Print what the latest launch of a job has printed, as far as it is kept");
  auto options = std::make_shared<job_logs_options>();
  command->add_option("NAME", options->name, "Name of the job")->required();
  command->add_option("LAUNCH", options->launch, "Another launch, by its id as in 'job history'");
  add_client_options(*command, context);
  command->callback([&context, options] {
    show_as_written();
    run_request(
        context, [&](client& to) { return logs_of_job(to, *options); },
        [](const v1::TaskShowReply& reply) { return logs_json(reply.task()); },
        [](const v1::TaskShowReply& reply) { return logs_text(reply.task()); });
  });
}

}  // namespace fairlead::app
