#include <memory>

#include "app/cli/commands.hpp"
#include "app/dev/session.hpp"

namespace fairlead::app {

void add_dev_command(CLI::App& app, cli_context& context) {
  auto* command = app.add_subcommand("dev", "Run a temporary node to develop workflows, with agents that answer by a script");
  auto options = std::make_shared<dev_options>();
  auto port = std::make_shared<std::uint16_t>(0);
  command->add_option("PATH", options->paths, "Workflow files, or folders of them; a changed file is deployed again (default: .)")
      ->type_name("FOLDER|FILE");
  auto* node = command->add_option("--node", options->listen, "Address to listen on, on this machine only")
                   ->type_name("HOST:PORT")
                   ->capture_default_str();
  auto* given = command->add_option("--port", *port, "Same as --node 127.0.0.1:N; 0 takes a free port")->type_name("N")->excludes(node);
  command
      ->add_option("--api", options->api,
                   "Address of the API, on this machine only; port 0 takes a free one (default 127.0.0.1:7190, if free)")
      ->type_name("HOST:PORT");
  command->add_option("--agents", options->agents, "A node file: its agents run as configured; only the other agents are scripted")
      ->type_name("NODE.yaml");
  command->add_option("--keep", options->keep, "Keep the store in this folder, and reuse a store that is already there")->type_name("DIR");
  // The option takes one value each time, because the next word is a path.
  command
      ->add_option(
          "--script", options->scripts,
          "Answers of a scripted agent to its first, second, … attempt, such as payment.charge=fail:transient,sleep:1s,echo (repeatable)")
      ->type_name("AGENT.CALL=SCRIPT")
      ->allow_extra_args(false);
  command->add_option("--scripts", options->scripts_file, "YAML file with scripts, by AGENT.CALL")->type_name("FILE");
  command->callback([&context, options, port, given] {
    if (given->count() > 0) options->listen = "127.0.0.1:" + std::to_string(*port);
    context.code = run_dev(*options);
  });
}

}  // namespace fairlead::app
