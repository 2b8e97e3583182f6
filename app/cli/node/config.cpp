#include <memory>
#include <utility>

#include "app/access/named_files.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/problems.hpp"
#include "app/config/config.hpp"
#include "app/config/secrets.hpp"

namespace fairlead::app {

void add_config_commands(CLI::App& app, cli_context& context) {
  auto* group = app.add_subcommand("config", "Check node files");
  group->require_subcommand(1);
  auto* check = group->add_subcommand("check", "Check a node file without starting a node; every error is listed with its line");
  auto path = std::make_shared<std::string>();
  check->add_option("FILE", *path, "The node file")->required();
  add_json_option(*check, context);
  check->callback([&context, path] {
    auto read = read_node_config(*path);
    if (read.problems.empty()) {
      read.problems = check_secret_values(read.config);
      for (auto& wrong : check_access_files(read.config)) read.problems.push_back(std::move(wrong));
      for (auto& missing : check_exec_needs(read.config)) read.problems.push_back(std::move(missing));
    }
    if (context.json) {
      json_writer out;
      out.begin_object().key("file").string(*path).key("ok").boolean(read.problems.empty());
      write_problems(out, read.problems);
      print(context, out.end_object().text() + "\n");
    }
    if (!read.problems.empty())
      context.code = fail_with(read.problems);
    else if (!context.json)
      print(context, *path + ": ok\n");
  });
}

}  // namespace fairlead::app
