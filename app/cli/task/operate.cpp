#include "app/cli/task/operate.hpp"

#include <memory>

#include "actors/core/request_limits.hpp"
#include "app/cli/json_argument.hpp"
#include "app/cli/operator_name.hpp"
#include "app/cli/screen/confirm.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/task/signal.hpp"
#include "app/cli/words.hpp"
#include "app/json/node/operations.hpp"
#include "app/json/node/task_verbs.hpp"
#include "messages/ids.hpp"

namespace fairlead::app {

// ---- from the options to the request ----

namespace {

bool blank(const std::string& text) { return text.find_first_not_of(" \t\r\n") == std::string::npos; }

result<v1::OperatorVerb> verb_of(const operate_options& options, const task_verb& verb) {
  if (verb.verb != v1::OPERATOR_VERB_SETTLE_COMPLETED) return verb.verb;
  if (options.output && (options.completed || options.never_happened))
    return invalid("--output is about the task, and cannot be combined with --completed and --never-happened",
                   "Give --output alone, or leave it out");
  if (options.completed && options.never_happened)
    return invalid("--completed and --never-happened cannot be combined", "Give only one of them");
  if (options.completed || options.output) return v1::OPERATOR_VERB_SETTLE_COMPLETED;
  if (options.never_happened) return v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED;
  return invalid("The outcome of the step is missing",
                 "Give --completed JSON with the step's output, or --never-happened; without a step, --output JSON with the task's output");
}

/// A settlement is about a step, unless it gives the output of the task.
bool must_name_step(const operate_options& options, const task_verb& verb) {
  return verb.step == task_verb::step::must_be_named || (verb.verb == v1::OPERATOR_VERB_SETTLE_COMPLETED && !options.output);
}

constexpr char filter_names[] = "--state, --parked, --workflow, --label, --older-than, --younger-than, --parent";

/// Without a filter the words are ID and STEP. With a filter they are STEP alone.
status read_words(const operate_options& options, bool needs_step, operation& out) {
  auto words = options.words;
  if (options.filter.given()) {
    const std::size_t most = needs_step ? 1 : 0;
    if (words.size() > most) return invalid("Both '" + words.front() + "' and a filter are given", "Give either a task ID or a filter");
    if (!options.filter.narrows())
      return invalid("--top-level is the only filter, and would mean nearly all tasks",
                     std::string{"Give another filter, too: "} + filter_names);
  } else {
    if (words.empty()) return invalid("No task is given", std::string{"Give a task ID, or a filter: "} + filter_names);
    if (!possible_task_id(words.front()))
      return invalid("'" + words.front() + "' is not a task id",
                     "An id has 1 to 256 characters of A-Z a-z 0-9 . _ : @ / -, and that of a child up to 480, with ~");
    if (options.yes && out.action.verb() != v1::OPERATOR_VERB_DELETE)
      return invalid("--yes can only be used with a filter, not with a task ID", "Leave --yes out");
    out.id = words.front();
    words.erase(words.begin());
  }
  if (!words.empty()) {
    if (words.front().empty()) return invalid("STEP is empty", "'fairlead task show' lists the steps of a task");
    out.action.set_step(words.front());
  }
  if (needs_step && out.action.step().empty()) return invalid("No step is given", "'fairlead task show' lists the steps of a task");
  if (options.output && !out.action.step().empty())
    return invalid("--output gives the output of the task, and step '" + out.action.step() + "' is given",
                   "Leave the step out, or give the output of the step as --completed JSON");
  return nothing{};
}

status read_json(const operate_options& options, operation& out) {
  const auto& output = options.output ? options.output : options.completed;
  if (!options.input && !output) return nothing{};
  if (options.input && out.action.step().empty())
    return invalid("--input needs a step, and no step is given", "Give the task ID and the step");
  auto json = options.input ? read_json_argument(*options.input, "The input") : read_json_argument(*output, "The output");
  if (!json) return json.failure();
  out.action.set_json(std::move(*json));
  return nothing{};
}

}  // namespace

result<operation> read_operation(const operate_options& options) {
  const auto& row = *find_task_verb(options.verb);
  operation out;
  const auto verb = verb_of(options, row);
  if (!verb) return verb.failure();
  out.action.set_verb(*verb);
  if (const auto read = read_words(options, must_name_step(options, row), out); !read) return read.failure();
  if (row.needs_reason && blank(options.reason))
    return invalid("'" + options.verb + "' needs a reason, and no reason is given", "Give --reason TEXT; the task's history keeps it");
  if (options.reason.size() > reason_limit)
    return invalid("The reason is longer than " + std::to_string(reason_limit) + " bytes", "Give a shorter reason");
  if (const auto read = read_json(options, out); !read) return read.failure();
  if (options.filter.given()) {
    auto which = list_request(options.filter);
    if (!which) return which.failure();
    out.which = std::move(*which);
  }
  out.action.set_at_once(options.now);
  out.action.set_reason(options.reason);
  out.action.set_who(operator_name(options.by));
  return out;
}

// ---- one task ----

namespace {

std::string done_text(const v1::OperateResult& result, v1::OperatorVerb verb) {
  if (verb == v1::OPERATOR_VERB_DELETE)
    return "Done: the record of task " + printable(result.id()) + (result.repeated() ? " was deleted before.\n" : " is deleted.\n");
  auto out = "Done: task " + printable(result.id()) + " is " + task_state_text(result.state(), result.parked(), result.paused());
  if (result.parked() && !result.reason().empty()) out += ": " + result.reason();
  return as_sentence(out) + "\n" + (result.notice().empty() ? "" : "Note: " + as_sentence(result.notice()) + "\n");
}

int operate_on_one(cli_context& context, const operate_options& options, const operation& what) {
  if (what.action.verb() == v1::OPERATOR_VERB_DELETE && !options.yes)
    if (const auto confirmed = confirm("delete the record of task " + printable(what.id)); !confirmed) return fail(confirmed.failure());
  auto connected = connect(context);
  if (!connected) return fail(connected.failure());
  v1::OperateRequest request;
  *request.mutable_action() = what.action;
  request.add_ids(what.id);
  const auto reply = connected->operate(request);
  if (!reply) return fail(reply.failure());
  const auto& result = reply->results(0);
  if (result.error().code() != v1::ERROR_CODE_OK) return fail(error::from_proto(result.error()));
  print(context, context.json ? operated_json(result) + "\n" : done_text(result, what.action.verb()));
  return context.code;
}

int operate(cli_context& context, const operate_options& options) {
  const auto what = read_operation(options);
  if (!what) return fail(what.failure());
  return what->which ? operate_on_many(context, options, *what) : operate_on_one(context, options, *what);
}

void add_verb(CLI::App& group, cli_context& context, const task_verb& verb) {
  auto* command = group.add_subcommand(verb.word, verb.help);
  auto options = std::make_shared<operate_options>();
  options->verb = verb.word;
  const auto takes_step = verb.step != task_verb::step::none;
  command
      ->add_option(
          "ID", options->words,
          takes_step ? "Id of the task (left out with a filter), and the name of a step" : "Id of the task (left out with a filter)")
      ->type_name(takes_step ? "[STEP]" : "")
      ->expected(0, takes_step ? 2 : 1);
  if (verb.verb == v1::OPERATOR_VERB_RETRY)
    command->add_option("--input", options->input, "New input of the step, instead of the one from its workflow")
        ->type_name("JSON|@FILE|@-");
  if (verb.verb == v1::OPERATOR_VERB_SETTLE_COMPLETED) {
    command->add_option("--completed", options->completed, "The step was carried out, with this output")->type_name("JSON|@FILE|@-");
    command->add_flag("--never-happened", options->never_happened, "The step was not carried out and will not be");
    command
        ->add_option("--output", options->output,
                     "Without a step: the output of the task, where what its workflow says cannot be computed or is too large")
        ->type_name("JSON|@FILE|@-");
  }
  if (verb.verb == v1::OPERATOR_VERB_TERMINATE)
    command->add_flag("--now", options->now,
                      "Do not wait for attempts in progress: the task ends at once, and their steps are in doubt. The agents' outcomes are "
                      "refused later");
  command
      ->add_option("--reason", options->reason,
                   verb.verb == v1::OPERATOR_VERB_DELETE ? "Reason, written to the node's log" : "Reason, stored in the task's history")
      ->type_name("TEXT");
  add_operator_option(*command, options->by);
  add_filter_options(*command, options->filter);
  command->add_flag("--yes", options->yes,
                    verb.verb == v1::OPERATOR_VERB_DELETE ? "Do not ask for confirmation" : "With a filter: do not ask for confirmation");
  add_client_options(*command, context);
  command->callback([&context, options] { context.code = operate(context, *options); });
}

}  // namespace

void add_operate_commands(CLI::App& group, cli_context& context) {
  for (const auto& verb : task_verbs)
    if (!verb.of_workflow) verb.of_one_task ? add_signal_command(group, context) : add_verb(group, context, verb);
}

}  // namespace fairlead::app
