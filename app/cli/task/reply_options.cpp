#include "app/cli/task/reply_options.hpp"

#include "actors/replies/outbox.hpp"

namespace fairlead::app {

void add_reply_options(CLI::App& command, reply_options& options) {
  auto* client = command.add_option("--reply-client", options.client,
                                    "Store the task's status events for the client with this name; 'fairlead replies NAME' fetches them");
  client->type_name("NAME");
  command.add_option("--reply-webhook", options.webhook, "Post the task's status events to this http or https URL")
      ->type_name("URL")
      ->excludes(client);
  command.add_flag("--reply-steps", options.steps, "With a reply address: send events for changes of steps as well");
}

result<std::optional<v1::ReplyAddress>> reply_address_of(const reply_options& options) {
  if (!options.client && !options.webhook) {
    if (options.steps)
      return error{v1::ERROR_CODE_INVALID_ARGUMENT, "--reply-steps is given without a reply address",
                   "Add --reply-client NAME or --reply-webhook URL"};
    return std::optional<v1::ReplyAddress>{};
  }
  // An empty value is probably an unset variable of a script.
  if (options.client && options.client->empty())
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "--reply-client is empty", "Give the name of the client, or leave --reply-client out"};
  if (options.webhook && options.webhook->empty())
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "--reply-webhook is empty", "Give an http or https URL, or leave --reply-webhook out"};
  v1::ReplyAddress out;
  out.set_client(options.client.value_or(""));
  out.set_webhook(options.webhook.value_or(""));
  out.set_steps(options.steps);
  if (auto problem = check_reply_address(out)) return *problem;
  return std::optional<v1::ReplyAddress>{std::move(out)};
}

}  // namespace fairlead::app
