#include <memory>

#include "app/cli/commands.hpp"
#include "app/dev/session.hpp"

namespace fairlead::app {

void add_dev_command(CLI::App& app, cli_context& context) {
  auto* command =
      app.add_subcommand("dev", "Run a throw-away node for workflows that are being written, with agents that answer as they are told");
  auto options = std::make_shared<dev_options>();
  auto port = std::make_shared<std::uint16_t>(0);
  command
      ->add_option("PATH", options->paths, "Workflow files, or folders of them; they are deployed again whenever they change (default: .)")
      ->type_name("FOLDER|FILE");
  auto* node = command->add_option("--node", options->listen, "Where it listens, on this machine alone")
                   ->type_name("HOST:PORT")
                   ->capture_default_str();
  auto* given = command->add_option("--port", *port, "The same as --node 127.0.0.1:N; 0 takes a free one")->type_name("N")->excludes(node);
  command->add_option("--agents", options->agents, "A node file: its agents are run as they are, and only the others are scripted")
      ->type_name("NODE.yaml");
  command->add_option("--keep", options->keep, "Keep the store in this folder, and go on from what is in it")->type_name("DIR");
  // One value at a time: what follows is a path.
  command
      ->add_option("--script", options->scripts,
                   "What a scripted agent answers to its first, second, … attempt, such as payment.charge=fail:transient,sleep:1s,echo; "
                   "may be given several times")
      ->type_name("AGENT.CALL=SCRIPT")
      ->allow_extra_args(false);
  command->add_option("--scripts", options->scripts_file, "A YAML file of scripts by AGENT.CALL")->type_name("FILE");
  command->callback([&context, options, port, given] {
    if (given->count() > 0) options->listen = "127.0.0.1:" + std::to_string(*port);
    context.code = run_dev(*options);
  });
}

}  // namespace fairlead::app
