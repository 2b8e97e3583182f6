#include "app/cli/task/operate.hpp"

#include <memory>

#include "actors/core/task/task.hpp"
#include "app/cli/json.hpp"
#include "app/cli/operator_name.hpp"
#include "app/cli/table.hpp"
#include "app/cli/words.hpp"

namespace fairlead::app {

namespace {

std::string done_json(const v1::OperateResult& result) {
  json_writer out;
  out.begin_object().key("id").string(result.id()).key("state").string(core::state_word(result.state()));
  out.key("parked").boolean(result.parked()).key("paused").boolean(result.paused()).key("reason").string(result.reason());
  return out.end_object().text() + "\n";
}

std::string done_text(const v1::OperateResult& result) {
  auto out = "Done: task " + printable(result.id()) + " is " + task_state_text(result.state(), result.parked(), result.paused());
  if (result.parked() && !result.reason().empty()) out += ": " + result.reason();
  return as_sentence(out) + "\n";
}

int operate_on_one(cli_context& context, const operation& what) {
  auto connected = connect(context);
  if (!connected) return fail(connected.failure());
  v1::OperateRequest request;
  *request.mutable_action() = what.action;
  request.add_ids(what.id);
  const auto reply = connected->operate(request);
  if (!reply) return fail(reply.failure());
  const auto& result = reply->results(0);
  if (result.error().code() != v1::ERROR_CODE_OK) return fail(error::from_proto(result.error()));
  print(context, context.json ? done_json(result) : done_text(result));
  return context.code;
}

int operate(cli_context& context, const operate_options& options) {
  const auto what = read_operation(options);
  if (!what) return fail(what.failure());
  return what->which ? operate_on_many(context, options, *what) : operate_on_one(context, *what);
}

struct verb_help {
  const char* verb;
  bool takes_step;
  const char* help;
};

constexpr verb_help verbs[] = {
    {"retry", true, "Give steps that were given up a new round of attempts, try waiting ones at once, and let a parked task go on"},
    {"skip", true, "Go on without a step: its output is null. In a task that is being undone, pass the undo of a step over"},
    {"settle", true, "Say how a step in doubt turned out"},
    {"undo", false, "Take back what a running or completed task has done"},
    {"cancel", false, "Stop a pending or running task, and take back what it has done"},
    {"pause", false, "Start nothing new in a task until it is resumed"},
    {"resume", false, "Let a paused task go on"},
};

void add_verb(CLI::App& group, cli_context& context, const verb_help& verb) {
  auto* command = group.add_subcommand(verb.verb, verb.help);
  auto options = std::make_shared<operate_options>();
  options->verb = verb.verb;
  command
      ->add_option(
          "ID", options->words,
          verb.takes_step ? "Id of the task, unless a filter is given, and a step of it" : "Id of the task, unless a filter is given")
      ->type_name(verb.takes_step ? "[STEP]" : "")
      ->expected(0, verb.takes_step ? 2 : 1);
  if (options->verb == "retry")
    command->add_option("--input", options->input, "The step's new input, in place of what its workflow says")->type_name("JSON|@FILE|@-");
  if (options->verb == "settle") {
    command->add_option("--completed", options->completed, "It was carried out, and this is its output")->type_name("JSON|@FILE|@-");
    command->add_flag("--never-happened", options->never_happened, "It was not carried out, and will not be");
  }
  command->add_option("--reason", options->reason, "Why, for the task's history")->type_name("TEXT");
  add_operator_option(*command, options->by);
  add_filter_options(*command, options->filter);
  command->add_flag("--yes", options->yes, "With a filter: do not ask for confirmation");
  add_client_options(*command, context);
  command->callback([&context, options] { context.code = operate(context, *options); });
}

}  // namespace

void add_operate_commands(CLI::App& group, cli_context& context) {
  for (const auto& verb : verbs) add_verb(group, context, verb);
}

}  // namespace fairlead::app
