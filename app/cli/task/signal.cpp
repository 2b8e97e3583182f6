#include "app/cli/task/signal.hpp"

#include <memory>

#include "actors/core/request_limits.hpp"
#include "actors/core/text/text.hpp"
#include "actors/core/workflow/check.hpp"
#include "app/cli/json_argument.hpp"
#include "app/cli/operator_name.hpp"
#include "app/cli/screen/table.hpp"
#include "app/json/node/operations.hpp"
#include "app/json/node/task_verbs.hpp"
#include "messages/ids.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

result<v1::OperateRequest> read_signal(const signal_options& options) {
  if (!possible_task_id(options.id))
    return invalid("'" + options.id + "' is not a task id",
                   "An id has 1 to 256 characters of A-Z a-z 0-9 . _ : @ / -, and that of a child up to 480, with ~");
  if (!core::valid_name(options.name))
    return invalid("'" + options.name + "' is not a name of a signal", "A name has 1 to 64 of a-z 0-9 _ -, the first of them a letter");
  if (options.reason.size() > reason_limit)
    return invalid("The reason is longer than " + std::to_string(reason_limit) + " bytes", "Give a shorter reason");
  v1::OperateRequest out;
  auto& action = *out.mutable_action();
  if (options.key) {
    // An empty key is probably an unset variable of a script, and would not keep the signal from being given twice.
    if (options.key->empty()) return invalid("--key is empty", "Give a key of your own, or leave --key out");
    if (options.key->size() > max_action_key_bytes || core::clean_text(*options.key, options.key->size()) != *options.key)
      return invalid("--key has more than " + std::to_string(max_action_key_bytes) + " bytes, or is not UTF-8",
                     "Use a shorter key of letters and digits");
    action.set_token(*options.key);
  } else {
    // A request whose node was lost is sent again, and must not give the signal twice.
    action.set_token(make_uuid_v7(now_unix_ms()));
  }
  if (options.data) {
    auto json = read_json_argument(*options.data, "The data");
    if (!json) return json.failure();
    action.set_json(std::move(*json));
  }
  action.set_verb(v1::OPERATOR_VERB_SIGNAL);
  action.set_signal(options.name);
  action.set_reason(options.reason);
  action.set_who(operator_name(options.by));
  out.add_ids(options.id);
  return out;
}

std::string signaled_text(const v1::OperateResult& result, const std::string& name, bool has_key) {
  auto out = "task " + printable(result.id()) + ": signal " + printable(name) + " ";
  if (result.repeated()) return out + (has_key ? "was given before, with the same key\n" : "given\n");
  return out + (result.kept() ? "kept until a step takes it\n" : "taken\n");
}

namespace {

int signal_task(cli_context& context, const signal_options& options) {
  const auto request = read_signal(options);
  if (!request) return fail(request.failure());
  auto connected = connect(context);
  if (!connected) return fail(connected.failure());
  const auto reply = connected->operate(*request);
  if (!reply) return fail(reply.failure());
  const auto& result = reply->results(0);
  if (result.error().code() != v1::ERROR_CODE_OK) return fail(error::from_proto(result.error()));
  print(context, context.json ? signaled_json(result, options.name) + "\n" : signaled_text(result, options.name, options.key.has_value()));
  return context.code;
}

}  // namespace

void add_signal_command(CLI::App& group, cli_context& context) {
  const auto& row = *find_task_verb("signal");
  auto* command = group.add_subcommand(row.word, row.help);
  auto options = std::make_shared<signal_options>();
  command->add_option("ID", options->id, "Id of the task")->required();
  command->add_option("NAME", options->name, "Name of the signal, as the workflow has it")->required();
  command->add_option("--data", options->data, "What the step gets as its output; null without it")->type_name("JSON|@FILE|@-");
  command->add_option("--key", options->key, "The signal is given once, however often it is sent with this key")->type_name("KEY");
  command->add_option("--reason", options->reason, "Reason, stored in the task's history")->type_name("TEXT");
  add_operator_option(*command, options->by);
  add_client_options(*command, context);
  command->callback([&context, options] { context.code = signal_task(context, *options); });
}

}  // namespace fairlead::app
