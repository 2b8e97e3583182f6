#include <algorithm>
#include <memory>

#include "actors/core/task/reason.hpp"
#include "actors/core/task/task.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/json_argument.hpp"
#include "app/cli/labels.hpp"
#include "app/cli/lines.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/task/batch.hpp"
#include "app/cli/task/reply_options.hpp"
#include "app/cli/task/waiting.hpp"
#include "app/cli/task/watch.hpp"
#include "app/cli/words.hpp"
#include "app/json/task.hpp"
#include "app/json/times.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t refusals_shown = 20;
/// How long a waiting command continues while no node answers.
constexpr std::chrono::seconds submit_wait{60};

struct submit_options {
  std::string workflow;
  std::string id;
  std::optional<std::string> input;
  std::vector<std::string> labels;
  std::optional<std::int32_t> priority;
  std::string batch;
  reply_options reply;
  std::optional<std::string> at;
  std::optional<std::string> delay;
  bool wait = false;
  bool quiet = false;
};

/// `--at` or `--delay` as the fields of a submission; neither: none.
result<v1::Submission> start_of(const submit_options& options) {
  v1::Submission out;
  if (options.at) {
    const auto at = read_start("--at", *options.at);
    if (!at) return at.failure();
    out.set_start_at_unix_ms(*at);
  }
  if (options.delay) {
    const auto delay = read_duration("--delay", *options.delay, 1);
    if (!delay) return delay.failure();
    out.set_delay_ms(*delay);
  }
  return out;
}

std::string submitted_text(const v1::SubmitResult& taken) {
  if (!taken.created()) return "Task " + taken.id() + " was submitted before.\n";
  if (taken.start_at_unix_ms() == 0) return "Task " + taken.id() + " is submitted.\n";
  return "Task " + taken.id() + " is submitted and starts at " + time_text(taken.start_at_unix_ms()) + ".\n";
}

/// A line of its own; empty for a task without output.
std::string output_text(const result<std::string>& output) {
  if (!output) return as_sentence(output.failure().sentence) + "\n";
  return output->empty() ? "" : "Output: " + printable(*output) + "\n";
}

/// The output of a task that has ended or is parked; empty: it has none.
result<std::string> output_of(client& to, bool created, v1::TaskEnd& end) {
  if (end.has_output()) return to.output(end.id());
  if (created || !has_ended(end.state())) return std::string{};
  // Of a task in the archive only its state has been told.
  v1::TaskShowRequest request;
  request.set_id(end.id());
  const auto shown = to.show(request);
  // An output that cannot be read is not said to be null.
  end.set_has_output(!shown || shown->task().has_output());
  if (!shown) return shown.failure();
  end.set_reason(core::reason_of(shown->task()));
  return end.has_output() ? to.output(end.id()) : result<std::string>{std::string{}};
}

int submit_one(cli_context& context, const submit_options& options) {
  auto labels = parse_labels(options.labels);
  if (!labels) return fail(labels.failure());
  auto address = reply_address_of(options.reply);
  if (!address) return fail(address.failure());
  auto input = options.input ? read_json_argument(*options.input, "The input") : result<std::string>{std::string{}};
  if (!input) return fail(input.failure());
  const auto start = start_of(options);
  if (!start) return fail(start.failure());
  auto timeout = timeout_of(context);
  if (!timeout) return fail(timeout.failure());
  auto connected = options.wait ? connect_to_wait(context, submit_wait) : connect(context);
  if (!connected) return fail(connected.failure());

  v1::SubmitRequest request;
  auto* item = request.add_items();
  *item = *start;
  item->set_id(options.id);
  item->set_workflow(options.workflow);
  item->set_input(std::move(*input));
  item->set_priority(options.priority.value_or(0));
  for (auto& label : *labels) *item->add_labels() = std::move(label);
  if (*address) *item->mutable_reply() = std::move(**address);
  auto reply = connected->submit(std::move(request));
  if (!reply) return fail(reply.failure());
  const auto& taken = reply->results(0);
  if (taken.error().code() != v1::ERROR_CODE_OK) return fail(error::from_proto(taken.error()));

  if (!options.wait) {
    print(context, context.json ? submit_json(taken) + "\n" : submitted_text(taken));
    return context.code;
  }
  if (!context.json) print(context, submitted_text(taken));
  auto end = wait_aloud(*connected, context, taken.id(), timeout->value_or(duration{0}));
  if (!end) {
    if (context.json) print(context, submit_json(taken) + "\n");
    return fail(end.failure());
  }
  const auto output = output_of(*connected, taken.created(), *end);
  if (context.json)
    print(context, submit_json(taken, &*end, output ? *output : std::string{}) + "\n");
  else
    print(context, end_text(taken.id(), end->state(), end->parked(), end->reason()) + output_text(output));
  if (context.code != exit_ok) return context.code;
  return end->state() == v1::TASK_STATE_COMPLETED && !end->parked() ? exit_ok : exit_failed;
}

std::string outcome_json(const batch_outcome& outcome) {
  json_writer out;
  out.begin_object().key("submitted").number(outcome.submitted).key("already").number(outcome.already);
  out.key("refused").number(std::uint64_t{outcome.refusals.size()}).key("refusals").begin_array();
  for (const auto& refusal : outcome.refusals)
    out.begin_object().key("line").number(refusal.line).key("id").string(refusal.id).key("error").string(refusal.why.sentence).end_object();
  out.end_array().key("completed").number(outcome.completed).key("undone").number(outcome.undone);
  out.key("failed").number(outcome.failed).key("parked").number(outcome.parked);
  out.key("parked_tasks").begin_array();
  for (const auto& end : outcome.first_parked)
    out.begin_object().key("id").string(end.id()).key("reason").string(end.reason()).end_object();
  return out.end_array().key("seconds").seconds(outcome.seconds).end_object().text() + "\n";
}

std::string outcome_text(const batch_outcome& outcome, bool waited) {
  text_table counts{{{"SUBMITTED", align::right},
                     {"ALREADY", align::right},
                     {"REFUSED", align::right},
                     {"COMPLETED", align::right},
                     {"UNDONE", align::right},
                     {"FAILED", align::right},
                     {"PARKED", align::right},
                     {"SECONDS", align::right}}};
  auto ended = [&](std::uint64_t n) { return waited ? std::to_string(n) : std::string{"-"}; };
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f", outcome.seconds);
  counts.add({std::to_string(outcome.submitted), std::to_string(outcome.already), std::to_string(outcome.refusals.size()),
              ended(outcome.completed), ended(outcome.undone), ended(outcome.failed), ended(outcome.parked), seconds});
  auto out = counts.text();
  if (!outcome.first_parked.empty()) {
    text_table parked{{{"PARKED TASK"}, {"WHY", align::left, narrow::below}}};
    for (const auto& end : outcome.first_parked) parked.add({end.id(), end.reason()});
    out += "\n" + parked.text();
    if (outcome.parked > outcome.first_parked.size())
      out += "and " + std::to_string(outcome.parked - outcome.first_parked.size()) + " more; 'fairlead task list --parked' lists them\n";
  }
  if (outcome.refusals.empty()) return out;
  text_table refused{{{"LINE", align::right}, {"ID"}, {"REFUSED BECAUSE", align::left, narrow::below}}};
  for (std::size_t i = 0; i < outcome.refusals.size() && i < refusals_shown; ++i) {
    const auto& refusal = outcome.refusals[i];
    refused.add({std::to_string(refusal.line), refusal.id.empty() ? "-" : refusal.id, refusal.why.sentence});
  }
  out += "\n" + refused.text();
  if (outcome.refusals.size() > refusals_shown)
    out += "and " + std::to_string(outcome.refusals.size() - refusals_shown) + " more; --json lists all of them\n";
  return out;
}

int submit_batch(cli_context& context, const submit_options& options) {
  auto labels = parse_labels(options.labels);
  if (!labels) return fail(labels.failure());
  auto address = reply_address_of(options.reply);
  if (!address) return fail(address.failure());
  auto timeout = timeout_of(context);
  if (!timeout) return fail(timeout.failure());
  auto start = start_of(options);
  if (!start) return fail(start.failure());
  auto lines = line_reader::open(options.batch);
  if (!lines) return fail(lines.failure());

  batch_options how;
  how.workflow = options.workflow;
  how.wait = options.wait;
  how.patience = timeout->value_or(submit_wait);
  how.lines = lines->count_lines();
  how.labels = std::move(*labels);
  how.priority = options.priority;
  how.reply = std::move(*address);
  how.start = std::move(*start);
  auto connected = connect_alone(context, how.patience, timeout->value_or(duration{0}));
  if (!connected) return fail(connected.failure());

  progress_display display{options.quiet};
  const auto outcome = batch_run{*connected, std::move(how)}.run(*lines, display);
  print(context, context.json ? outcome_json(outcome) : outcome_text(outcome, options.wait));
  if (outcome.gave_up) return fail(*outcome.gave_up);
  if (context.code != exit_ok) return context.code;
  return outcome.refusals.empty() && outcome.undone == 0 && outcome.failed == 0 && outcome.parked == 0 ? exit_ok : exit_failed;
}

}  // namespace

void add_submit_command(CLI::App& app, cli_context& context) {
  auto* command = app.add_subcommand("submit", "Submit one task, or many from a file");
  auto options = std::make_shared<submit_options>();
  command->add_option("WORKFLOW", options->workflow, "Name of a deployed workflow")->required();
  auto* id =
      command->add_option("--id", options->id, "Id of the task (default: a new UUIDv7); submitting the same id twice creates one task")
          ->type_name("ID");
  auto* input = command->add_option("--input", options->input, "Input of the task (default: null)")->type_name("JSON|@FILE|@-");
  command->add_option("--label", options->labels, "Label of the task (repeatable)")->type_name("KEY=VALUE")->allow_extra_args(false);
  command->add_option("--priority", options->priority, "Priority; steps of tasks with a higher priority go first (default 0)")
      ->type_name("N");
  command
      ->add_option(
          "--batch", options->batch,
          "Submit one task for each line of FILE (- for standard input). A line is a JSON object with id, input, labels, "
          "priority, reply, start_at and delay, all optional. The options --label, --priority, --reply-..., --at and --delay apply "
          "to lines that do not set them")
      ->type_name("FILE")
      ->excludes(id)
      ->excludes(input);
  auto* at = command
                 ->add_option("--at", options->at,
                              "Start no earlier than at this moment, such as 2026-11-24T08:00:00Z or 2026-11-24T09:00:00+01:00")
                 ->type_name("TIME");
  command->add_option("--delay", options->delay, "Start no earlier than this long after the submission, such as 30m or 2h")
      ->type_name("DURATION")
      ->excludes(at);
  add_reply_options(*command, options->reply);
  command->add_flag("--wait", options->wait,
                    "Wait until every task has ended or is parked; exit code 0 if all tasks completed, 1 otherwise");
  command->add_flag("--quiet", options->quiet, "With --batch: show no progress");
  add_client_options(*command, context,
                     "How long to wait for the answer (default 15s); with --wait: for the end of the task (default: no limit); with "
                     "--batch: how long to keep trying while no node answers (default 60s)");
  command->callback([&context, options, command] {
    if (command->count("--id") > 0 && options->id.empty())
      context.code = fail({v1::ERROR_CODE_INVALID_ARGUMENT, "--id is empty", "Leave --id out to get a new id"});
    else
      context.code = options->batch.empty() ? submit_one(context, *options) : submit_batch(context, *options);
  });
}

}  // namespace fairlead::app
