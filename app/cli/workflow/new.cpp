// `fairlead workflow new`.

#include <filesystem>
#include <memory>

#include "actors/core/workflow/check.hpp"
#include "app/certificates/files.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/workflow/starts.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app {

namespace {

struct new_command {
  std::string name;
  std::string file;  // empty: NAME.yaml
  std::string kind = workflow_start_kinds().front();
  bool force = false;
};

status write_start(const new_command& what, const std::string& path) {
  if (!core::valid_name(what.name))
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, core::shown_name(what.name) + " is not a valid name of a workflow",
                 std::string{"give "} + core::name_rule};
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed))
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, path + " is a folder", "give a file with --file"};
  if (!what.force && std::filesystem::exists(std::filesystem::symlink_status(path, failed)))
    return error{v1::ERROR_CODE_CONFLICT, "the file " + path + " is there already",
                 "give another file with --file, or replace this one with --force"};
  return write_together({{path, workflow_start(what.kind, what.name)}}, what.force ? existing_files::replace : existing_files::refuse);
}

void make(cli_context& context, const new_command& what) {
  const auto path = what.file.empty() ? what.name + ".yaml" : what.file;
  if (auto written = write_start(what, path); !written.ok()) {
    context.code = fail(written.failure());
    return;
  }
  if (context.json)
    print(context, json_writer{}.begin_object().key("workflow").string(what.name).key("file").string(path).end_object().text() + "\n");
  else
    print(context, "Workflow " + what.name + " is in " + path + ". Check it:   fairlead workflow check " + path +
                       "\nTry it with scripted agents:   fairlead dev " + path + "\n");
}

}  // namespace

void add_workflow_new(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("new", "Write a commented workflow file to begin with");
  auto what = std::make_shared<new_command>();
  command->add_option("NAME", what->name, "Name of the workflow")->required();
  command->add_option("--file", what->file, "The file to write; without it NAME.yaml in the working folder")->type_name("FILE");
  command
      ->add_option("--kind", what->kind,
                   "What the workflow is like: steps that can be undone, a service that is polled, an approval, or a list of items")
      ->type_name("order|poll|approval|list")
      ->check(CLI::IsMember(workflow_start_kinds()))
      ->capture_default_str();
  command->add_flag("--force", what->force, "Replace the file if it is there already");
  add_json_option(*command, context);
  command->callback([&context, what] { make(context, *what); });
}

}  // namespace fairlead::app
