#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "actors/core/text/nearest.hpp"
#include "actors/core/workflow/advice.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/graph/graph.hpp"
#include "app/cli/operator_name.hpp"
#include "app/cli/problems.hpp"
#include "app/cli/screen/screen.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/versions/versions.hpp"
#include "app/cli/workflow/workflow_show.hpp"
#include "app/config/config.hpp"
#include "app/expressions/workflow_expressions.hpp"
#include "app/files/deploy_order.hpp"
#include "app/files/workflow_file.hpp"
#include "app/json/node/workflows.hpp"
#include "app/json/writer.hpp"
#include "app/simulate/command.hpp"
#include "app/workflow_test/command.hpp"

namespace fairlead::app {

namespace {

struct read_files {
  std::vector<workflow_file> workflows;
  std::vector<problem> problems;  // of all files, the node file first
  std::vector<problem> advice;    // warnings: the workflow can run
};

void add_advice(const workflow_file& file, const node_config& agents, std::vector<problem>& out) {
  for (const auto& one : core::advise(file.definition, lookups_of(agents), labels_of(agents))) {
    const auto where = "steps." + one.step + "." + one.field;
    const auto at = file.place_of(where);
    out.push_back({file.file, at.first, at.second, where, one.sentence, one.remedy});
  }
}

/// Which workflows are deployed is not known here, so only a name that is nearly that of another file is worth a warning.
void add_names_nearly_right(read_files& files) {
  std::vector<std::string> names;
  for (const auto& file : files.workflows) names.push_back(file.definition.name());
  for (const auto& file : files.workflows) {
    if (!file.problems.empty()) continue;
    for (const auto& step : file.definition.steps()) {
      if (step.kind() != v1::STEP_KIND_WORKFLOW || std::find(names.begin(), names.end(), step.workflow()) != names.end()) continue;
      const auto close = core::nearest(step.workflow(), names);
      if (close.empty()) continue;
      const auto where = "steps." + step.name() + ".workflow";
      const auto at = file.place_of(where);
      files.advice.push_back({file.file, at.first, at.second, where,
                              "none of these files is workflow " + step.workflow() + ", but one of them is workflow " + close,
                              "correct the name if " + close + " is meant"});
    }
  }
}

read_files read_all(const std::vector<std::string>& paths, const std::string& agents_path) {
  read_files out;
  config_file node;
  std::optional<core::agent_catalog> agents;
  if (!agents_path.empty()) {
    node = read_node_config(agents_path);
    out.problems = node.problems;
    if (node.problems.empty()) agents = catalog_of(node.config);
  }
  expression_pool worker;
  for (const auto& path : paths) {
    out.workflows.push_back(read_with_expressions(path, agents ? &*agents : nullptr, worker));
    const auto& found = out.workflows.back().problems;
    out.problems.insert(out.problems.end(), found.begin(), found.end());
    if (agents && found.empty()) add_advice(out.workflows.back(), node.config, out.advice);
  }
  add_names_nearly_right(out);
  return out;
}

std::string check_json(const read_files& files) {
  json_writer out;
  out.begin_object().key("ok").boolean(files.problems.empty()).key("files").begin_array();
  for (const auto& file : files.workflows) {
    out.begin_object()
        .key("file")
        .string(file.file)
        .key("ok")
        .boolean(file.problems.empty())
        .key("workflow")
        .string(file.definition.name());
    out.key("steps").number(std::int32_t{file.definition.steps_size()}).end_object();
  }
  write_problems(out.end_array(), files.problems);
  write_problems(out, files.advice, "warnings");
  return out.end_object().text() + "\n";
}

enum class picture { none, text, dot };

/// The option of a command that draws workflows; `--json` has a form of its own.
struct picture_options {
  bool text = false;
  bool dot = false;

  picture chosen() const { return dot ? picture::dot : text ? picture::text : picture::none; }
};

std::shared_ptr<picture_options> add_picture_options(CLI::App& command) {
  auto out = std::make_shared<picture_options>();
  auto* const graph = command.add_flag("--graph", out->text, "Print the steps as a graph: a table, level by level");
  auto* const dot = command.add_flag("--dot", out->dot, "Print the steps as a graph for Graphviz");
  auto* const json = command.get_option("--json");
  graph->excludes(dot)->excludes(json);
  dot->excludes(json);
  return out;
}

std::string drawn(const v1::WorkflowDefinition& definition, picture how) {
  return how == picture::dot ? graph_dot(definition) : graph_text(definition);
}

void check_workflows(cli_context& context, const std::vector<std::string>& paths, const std::string& agents_path, picture how) {
  const auto files = read_all(paths, agents_path);
  if (how == picture::dot) show_as_written();
  if (context.json) {
    print(context, check_json(files));
  } else if (how != picture::none) {
    bool first = true;
    for (const auto& file : files.workflows) {
      if (!file.problems.empty()) continue;
      print(context, (first ? "" : "\n") + drawn(file.definition, how));
      first = false;
    }
  } else {
    for (const auto& file : files.workflows)
      if (file.problems.empty())
        print(context, file.file + ": ok, workflow " + file.definition.name() + " with " + std::to_string(file.definition.steps_size()) +
                           (file.definition.steps_size() == 1 ? " step\n" : " steps\n"));
  }
  for (const auto& one : files.advice) std::fprintf(stderr, "warning: %s\n", to_text(one).c_str());
  if (!files.problems.empty()) context.code = fail_with(files.problems);
}

/// Deploys nothing if any file has a problem.
void deploy_workflows(cli_context& context, const std::vector<std::string>& paths) {
  const auto files = read_all(paths, "");
  if (!files.problems.empty()) {
    context.code = fail_with(files.problems);
    return;
  }
  auto connected = connect(context);
  if (!connected) {
    context.code = fail(connected.failure());
    return;
  }
  json_writer out;
  out.begin_object().key("deployed").begin_array();
  std::optional<error> failed;
  std::vector<v1::WorkflowDefinition> all;
  for (const auto& file : files.workflows) all.push_back(file.definition);
  for (const auto one : deploy_order(all)) {
    const auto& file = files.workflows[one];
    v1::DeployRequest request;
    *request.mutable_definition() = file.definition;
    request.set_source(file.source);
    auto reply = connected->deploy(request);
    if (!reply) {
      failed = reply.failure();
      failed->sentence = file.file + ": " + failed->sentence;
      break;
    }
    write_deployed(out, file.definition.name(), *reply);
    if (!context.json) print(context, deployed_text(file.definition.name(), *reply));
  }
  if (context.json) print(context, out.end_array().end_object().text() + "\n");
  if (failed) context.code = fail(*failed);
}

void add_check(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("check", "Check workflow files without a node; every error is listed with its line");
  auto paths = std::make_shared<std::vector<std::string>>();
  auto agents = std::make_shared<std::string>();
  command->add_option("FILE", *paths, "Workflow files")->required();
  command->add_option("--agents", *agents, "A node file: also check that it has the agents and calls of the workflows")
      ->type_name("NODE.yaml");
  add_json_option(*command, context);
  const auto how = add_picture_options(*command);
  command->callback([&context, paths, agents, how] { check_workflows(context, *paths, *agents, how->chosen()); });
}

void add_deploy(CLI::App& group, cli_context& context) {
  auto* command =
      group.add_subcommand("deploy", "Deploy workflows as the current versions; open tasks keep the version that they began with");
  auto paths = std::make_shared<std::vector<std::string>>();
  command->add_option("FILE", *paths, "Workflow files; nothing is deployed if a file has an error")->required();
  add_client_options(*command, context);
  command->callback([&context, paths] { deploy_workflows(context, *paths); });
}

void add_workflow_list(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("list", "List the deployed workflows");
  add_client_options(*command, context);
  const auto quiet = add_quiet_option(*command, "names");
  command->callback([&context, quiet] {
    run_request(
        context, [](client& to) { return to.workflows({}); }, workflow_list_json,
        [&](const v1::WorkflowListReply& reply) {
          if (*quiet) return only(reply.items(), [](const auto& workflow) { return workflow.name(); });
          return workflow_list_text(reply);
        });
  });
}

void add_workflow_show(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("show", "Show a deployed workflow");
  auto name = std::make_shared<std::string>();
  auto source = std::make_shared<bool>(false);
  auto version = std::make_shared<std::string>();
  command->add_option("NAME", *name, "Name of the workflow")->required();
  auto* const as_deployed = command->add_flag("--source", *source, "Print only the YAML of the workflow, as it was deployed");
  command->add_option("--version", *version, "The version whose content begins so, at least 8 digits (default: the current one)")
      ->type_name("HASH");
  add_client_options(*command, context);
  const auto how = add_picture_options(*command);
  as_deployed->excludes("--graph")->excludes("--dot");
  command->callback([&context, name, source, version, how] {
    if (*source || how->chosen() == picture::dot) show_as_written();
    run_request(
        context, [&](client& to) { return ask_for_version(to, *name, *version); }, workflow_show_json,
        [&](const v1::WorkflowShowReply& reply) {
          if (how->chosen() != picture::none) return drawn(reply.workflow().definition(), how->chosen());
          return *source ? reply.workflow().source() : workflow_show_text(reply);
        });
  });
}

void delete_workflow(cli_context& context, const std::string& name, const std::string& by) {
  v1::WorkflowDeleteRequest request;
  request.set_name(name);
  request.set_who(operator_name(by));
  run_request(
      context, [&](client& to) { return to.delete_workflow(request); },
      [&](const v1::WorkflowDeleteReply&) { return workflow_deleted_json(name); },
      [&](const v1::WorkflowDeleteReply&) {
        return "Workflow " + printable(name) + " is deleted. Its tasks go on by the versions that they began with.\n";
      });
}

void add_workflow_delete(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand(
      "delete", "Delete a workflow: nothing can be submitted to it any more. Its tasks go on. Refused while a job launches it");
  auto name = std::make_shared<std::string>();
  auto by = std::make_shared<std::string>();
  command->add_option("NAME", *name, "Name of the workflow")->required();
  add_operator_option(*command, *by);
  add_client_options(*command, context);
  command->callback([&context, name, by] { delete_workflow(context, *name, *by); });
}

}  // namespace

void add_workflow_commands(CLI::App& app, cli_context& context) {
  auto* group = app.add_subcommand("workflow", "Write, check, test, simulate, deploy, compare, show and delete workflows");
  group->require_subcommand(1);
  add_workflow_new(*group, context);
  add_workflow_schema(*group, context);
  add_check(*group, context);
  add_workflow_test(*group, context);
  add_workflow_simulate(*group, context);
  add_deploy(*group, context);
  add_workflow_list(*group, context);
  add_workflow_show(*group, context);
  add_workflow_diff(*group, context);
  add_workflow_migrate(*group, context);
  add_workflow_delete(*group, context);
}

}  // namespace fairlead::app
