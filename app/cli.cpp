#include "app/cli.hpp"

#include <exception>
#include <memory>
#include <string_view>

#include "actors/core/text.hpp"
#include "app/cli_commands.hpp"
#include "app/expression_worker.hpp"
#include "app/node.hpp"

namespace fairlead::app {

namespace {

void add_node_command(CLI::App& app, cli_context& context) {
  auto* command = app.add_subcommand("node", "Run a node until SIGTERM or SIGINT");
  auto options = std::make_shared<node_options>();
  command->add_option("--config", options->config_path, "The node file")->type_name("FILE")->required();
  command->callback([&context, options] { context.code = run_node(*options); });
}

void add_expression_worker(CLI::App& app, cli_context& context) {
  auto* command = app.add_subcommand("expression-worker", "Evaluate expressions for a node (started by the node itself)");
  command->group("");  // not for people: left out of the help
  auto memory_bytes = std::make_shared<std::uint64_t>(default_expression_memory_bytes);
  command->add_option("--memory", *memory_bytes, "Bytes of address space it may have");
  command->callback([&context, memory_bytes] { context.code = run_expression_worker(*memory_bytes); });
}

void print_help(CLI::App& app, cli_context& context, const std::vector<std::string>& words) {
  auto* at = &app;
  std::string name = app.get_name();
  for (const auto& word : words) {
    auto named = at->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    if (named.empty()) {
      context.code = fail({v1::ERROR_CODE_INVALID_ARGUMENT, "There is no command '" + word + "'", "'fairlead help' lists all commands"});
      return;
    }
    at = named.front();
    name += " " + word;
  }
  // Not help(): that describes the command that was given, which is `help`.
  print(context, at->get_formatter()->make_help(at, name, CLI::AppFormatMode::Normal));
}

void add_help(CLI::App& app, cli_context& context) {
  auto* command = app.add_subcommand("help", "Show the help of a command");
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("COMMAND", *words, "The command, such as: task list");
  command->callback([&app, &context, words] { print_help(app, context, *words); });
}

/// Where a person finds out how it should have been written.
std::string help_hint(const CLI::App& app) {
  std::string name = "fairlead";
  for (auto parsed = app.get_subcommands(); !parsed.empty(); parsed = parsed.front()->get_subcommands())
    name += " " + parsed.front()->get_name();
  return "See '" + name + " --help'";
}

/// Whether the innermost command that was given is a group, so that the word after it should have been one of its commands.
bool misses_command(const CLI::App& app) {
  const auto* at = &app;
  for (auto parsed = at->get_subcommands(); !parsed.empty(); parsed = at->get_subcommands()) at = parsed.front();
  return at->get_require_subcommand_min() > 0;
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  CLI::App app{"Fairlead runs a set of distributed actions as one: every task completes, is undone, or waits in plain sight.", "fairlead"};
  app.set_version_flag("--version", std::string{"fairlead "} + FAIRLEAD_VERSION, "Show the version and exit");
  app.set_help_flag("-h,--help", "Show this help and exit");
  app.require_subcommand(1);
  app.footer(
      "'fairlead COMMAND --help' shows a command's options. Exit codes: 0 done, 1 refused or not completed, 2 bad usage or input,\n"
      "3 not found, 4 conflict, 5 unavailable or timed out, 70 bug, 74 disk or damaged store, 75 store or port in use.");
  cli_context context;
  add_node_command(app, context);
  add_dev_command(app, context);
  add_submit_command(app, context);
  add_replies_command(app, context);
  add_task_commands(app, context);
  add_workflow_commands(app, context);
  add_agent_commands(app, context);
  add_alert_commands(app, context);
  add_brake_commands(app, context);
  add_status_command(app, context);
  add_config_commands(app, context);
  add_store_commands(app, context);
  add_help(app, context);
  add_expression_worker(app, context);

  // What is sent must be UTF-8: a node cannot even read a request that is not.
  for (int i = 1; i < argc; ++i) {
    const std::string_view word{argv[i]};
    if (core::clean_text(word, word.size()) == word) continue;
    return fail(
        {v1::ERROR_CODE_INVALID_ARGUMENT, "argument " + std::to_string(i) + " is not valid UTF-8", "set the terminal's encoding to UTF-8"});
  }

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // help or version
    return app.exit(asked);
  } catch (const CLI::ParseError& refused) {
    const auto left = app.remaining(true);
    if (dynamic_cast<const CLI::RequiredError*>(&refused) != nullptr && !left.empty() && left.front().rfind("-", 0) != 0 &&
        misses_command(app))
      return fail({v1::ERROR_CODE_INVALID_ARGUMENT, "There is no command '" + left.front() + "' here", help_hint(app)});
    return fail({v1::ERROR_CODE_INVALID_ARGUMENT, refused.what(), help_hint(app)});
  } catch (const std::exception& bug) {
    return fail({v1::ERROR_CODE_INTERNAL, std::string{"A bug in fairlead: "} + bug.what(), "Please report it with what you did"});
  }
  return context.code;
}

}  // namespace fairlead::app
