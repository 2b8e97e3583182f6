#include "app/cli.hpp"

#include <memory>
#include <string_view>

#include "actors/core/text/text.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/parse.hpp"
#include "app/cli/screen/screen.hpp"
#include "app/console/commands.hpp"
#include "app/examples.hpp"
#include "app/expressions/worker.hpp"
#include "app/json/writer.hpp"
#include "app/node/node.hpp"

namespace fairlead::app {

namespace {

void add_node_command(CLI::App& app, cli_context& context) {
  auto* command = app.add_subcommand(
      "node", "Run a node until SIGTERM or SIGINT; subcommands drain, resume, reload or forget a node, or set its log level");
  auto options = std::make_shared<node_options>();
  auto* config = command->add_option("--config", options->config_path, "The node file")->type_name("FILE");
  command->require_subcommand(0, 1);
  add_node_verbs(*command, context);
  // They ask a running node, wherever its file is.
  for (auto* verb : command->get_subcommands({})) verb->excludes(config);
  command->callback([&context, options, command, config] {
    if (!command->get_subcommands().empty()) return;
    if (config->empty()) throw CLI::RequiredError("--config");
    context.code = run_node(*options);
  });
}

void add_expression_worker(CLI::App& app, cli_context& context) {
  auto* command = app.add_subcommand(expression_worker_entry, "Evaluate expressions for a node (started by the node itself)");
  command->group("");  // not for people: left out of the help
  auto memory_bytes = std::make_shared<std::uint64_t>(default_expression_memory_bytes);
  command->add_option("--memory", *memory_bytes, "Largest address space of the process, in bytes");
  command->callback([&context, memory_bytes] { context.code = run_expression_worker(*memory_bytes); });
}

void add_version(CLI::App& app, cli_context& context) {
  auto* command = app.add_subcommand("version", "Show the version");
  add_json_option(*command, context);
  command->callback([&context] {
    print(context, context.json ? json_writer{}.begin_object().key("version").string(FAIRLEAD_VERSION).end_object().text() + "\n"
                                : "fairlead " FAIRLEAD_VERSION "\n");
  });
}

void add_inspect(CLI::App& app, cli_context& context) {
  auto* group = app.add_subcommand(
      "inspect", "Look into a cluster: nodes, supervision trees, actors, shards, agents and counters; steps and history of a task");
  group->require_subcommand(1);
  const auto memory = std::make_shared<console_memory>();
  add_console_views(*group, context, *memory);
  group->callback([memory] {});  // the commands refer to it
}

void add_help(CLI::App& app, cli_context& context) {
  auto* command = app.add_subcommand("help", "Show the help of a command");
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("COMMAND", *words, "The command, such as: task list");
  command->callback([&app, &context, words] { print_help(app, context, *words, "fairlead help"); });
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  CLI::App app{"Fairlead runs a set of distributed actions as one: every task completes, is undone, or is parked for an operator.",
               "fairlead"};
  app.set_version_flag("--version", std::string{"fairlead "} + FAIRLEAD_VERSION, "Show the version and exit");
  app.set_help_flag("-h,--help", "Show this help and exit");
  app.require_subcommand(1);
  // Commands that are added later inherit it.
  app.formatter(help_formatter());
  const show_on terminal{screen::of_stdout()};
  cli_context context;
  add_node_command(app, context);
  add_dev_command(app, context);
  add_submit_command(app, context);
  add_replies_command(app, context);
  add_task_commands(app, context);
  add_operation_commands(app, context);
  add_workflow_commands(app, context);
  add_job_commands(app, context);
  add_agent_commands(app, context);
  add_agent_check(*app.get_subcommand("agent"), context);  // not in the console: it asks no node
  add_alert_commands(app, context);
  add_brake_commands(app, context);
  add_audit_command(app, context);
  add_status_command(app, context);
  add_cluster_commands(app, context);
  add_console_command(app, context);
  add_inspect(app, context);
  add_config_commands(app, context);
  add_token_commands(app, context);
  add_certificate_commands(app, context);
  add_store_commands(app, context);
  add_journal_commands(app, context);
  add_backup_command(app, context);
  add_restore_command(app, context);
  add_help(app, context);
  add_version(app, context);
  add_expression_worker(app, context);
  // Not before the commands are there, because they would inherit it.
  app.footer(
      "'fairlead COMMAND --help' shows a command's options and examples. Exit codes: 0 done, 1 refused or not completed, 2 bad usage or "
      "input, 3 not found, 4 conflict, 5 unavailable or timed out, 70 bug, 74 disk or damaged store, 75 store or port in use.");
  add_examples(app);

  // What is sent must be UTF-8: a node cannot even read a request that is not.
  for (int i = 1; i < argc; ++i) {
    const std::string_view word{argv[i]};
    if (core::clean_text(word, word.size()) == word) continue;
    return fail(
        {v1::ERROR_CODE_INVALID_ARGUMENT, "argument " + std::to_string(i) + " is not valid UTF-8", "set the terminal's encoding to UTF-8"});
  }

  return run_words(app, context, {argv + 1, argv + argc}, "fairlead ", " --help");
}

}  // namespace fairlead::app
