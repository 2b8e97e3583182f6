// The console's own commands that only read.

#include <algorithm>
#include <memory>

#include "app/cli/task/text.hpp"
#include "app/console/commands.hpp"
#include "app/console/views/views.hpp"
#include "app/json/node/agents.hpp"
#include "app/json/node/nodes.hpp"

namespace fairlead::app {

namespace {

using status_view = std::string (*)(const v1::StatusReply&);

void add_status_view(CLI::App& app, cli_context& context, const char* name, const char* help, status_view json, status_view text) {
  auto* command = app.add_subcommand(name, help);
  add_client_options(*command, context);
  command->callback([&context, json, text] {
    run_request(
        context, [](client& to) { return to.status_of_node({}); }, json, text);
  });
}

result<v1::InspectReply> inspect(client& to, const std::string& node) {
  // The name is checked first. A gateway could only report that no node of the name is connected,
  // and the client would retry for long.
  if (!node.empty()) {
    const auto known = to.status_of_node({});
    if (!known) return known.failure();
    if (const auto checked = check_node(*known, node); !checked) return checked.failure();
  }
  v1::InspectRequest request;
  request.set_node(node);
  return to.inspect(request);
}

void add_node_option(CLI::App& command, std::string& node) {
  command.add_option("NODE", node, "Name of a node (default: the connected node)");
}

void add_tree(CLI::App& app, cli_context& context) {
  auto* command = app.add_subcommand("tree", "Show the supervision tree of a node, with restarts and their reasons");
  auto node = std::make_shared<std::string>();
  add_node_option(*command, *node);
  add_client_options(*command, context);
  command->callback([&context, node] {
    run_request(
        context, [&](client& to) { return inspect(to, *node); }, tree_json, tree_text);
  });
}

void add_actors(CLI::App& app, cli_context& context) {
  auto* command = app.add_subcommand("actors", "Show the actors of a node, with waiting and handled messages");
  auto node = std::make_shared<std::string>();
  auto order = std::make_shared<actors_order>();
  add_node_option(*command, *node);
  command->add_option("--sort", order->by, "Column to sort by")
      ->type_name("FIGURE")
      ->check(CLI::IsMember({"mailbox", "handled", "restarts", "path"}))
      ->capture_default_str();
  command->add_option("--top", order->top, "How many to list at most")
      ->type_name("N")
      ->check(CLI::Range(1U, 10'000U))
      ->capture_default_str();
  add_client_options(*command, context);
  command->callback([&context, node, order] {
    run_request(
        context, [&](client& to) { return inspect(to, *node); }, [&](const v1::InspectReply& reply) { return actors_json(reply, *order); },
        [&](const v1::InspectReply& reply) { return actors_text(reply, *order); });
  });
}

void add_agents(CLI::App& app, cli_context& context) {
  auto* command = app.add_subcommand("agents", "Show the registry: load and health of the instances, breakers and limits of the services");
  auto filter = std::make_shared<registry_filter>();
  command->add_option("PART", filter->name, "Only instances whose agent, instance or node name contains PART");
  command->add_flag("--sick", filter->sick, "Only instances that get single probe attempts");
  command->add_flag("--away", filter->away, "Only instances whose node is not connected");
  command->add_flag("--draining", filter->draining, "Only draining instances");
  command->add_flag("--waiting", filter->waiting, "Only agents that steps wait for");
  add_client_options(*command, context);
  command->callback([&context, filter] {
    run_request(
        context, [](client& to) { return to.status_of_node({}); },
        [&](const v1::StatusReply& reply) { return agent_list_json(filtered(reply, *filter)); },
        [&](const v1::StatusReply& reply) { return registry_text(filtered(reply, *filter)); });
  });
}

void add_counters(CLI::App& app, cli_context& context, console_memory& memory) {
  auto* command = app.add_subcommand("counters", "Show the counters of the shards, with rates since the last repetition");
  auto shard = std::make_shared<std::optional<std::uint32_t>>();
  command->add_option("--shard", *shard, "Only this shard (default: the sum of all shards)")->type_name("N");
  add_client_options(*command, context);
  command->callback([&context, &memory, shard] {
    counters_view view;
    run_request(
        context,
        [&](client& to) -> result<v1::StatusReply> {
          auto reply = to.status_of_node({});
          if (!reply) return reply;
          const auto& shards = reply->shards();
          if (*shard && std::none_of(shards.begin(), shards.end(), [&](const auto& one) { return one.shard() == **shard; }))
            return error{v1::ERROR_CODE_NOT_FOUND, "There is no shard " + std::to_string(**shard), "'shards' lists all shards"};
          view = memory.counters.look(*reply, *shard, std::chrono::steady_clock::now());
          return reply;
        },
        [&](const v1::StatusReply&) { return counters_json(view); }, [&](const v1::StatusReply&) { return counters_text(view); });
  });
}

/// Asks for the agents only if some step may wait for an agent.
result<v1::TaskShowReply> show(client& to, const std::string& id, known_agents& agents) {
  v1::TaskShowRequest request;
  request.set_id(id);
  auto reply = to.show(request);
  if (!reply || !may_wait_for_agent(*reply)) return reply;
  if (const auto status = to.status_of_node({})) agents = agents_of(*status);
  return reply;
}

void add_steps(CLI::App& app, cli_context& context) {
  auto* command = app.add_subcommand("steps", "Show the steps of one task, and what each step waits for");
  auto id = std::make_shared<std::string>();
  command->add_option("ID", *id, "Id of the task")->required();
  add_client_options(*command, context);
  command->callback([&context, id] {
    known_agents agents;
    run_request(
        context, [&](client& to) { return show(to, *id, agents); },
        [&](const v1::TaskShowReply& reply) { return task_steps_json(reply, agents); },
        [&](const v1::TaskShowReply& reply) { return task_steps_text(reply, agents); });
  });
}

void add_history(CLI::App& app, cli_context& context) {
  auto* command = app.add_subcommand("history", "Show the history of one task");
  auto id = std::make_shared<std::string>();
  command->add_option("ID", *id, "Id of the task")->required();
  add_client_options(*command, context);
  command->callback([&context, id] {
    v1::TaskShowRequest request;
    request.set_id(*id);
    run_request(
        context, [&](client& to) { return to.show(request); }, task_history_json, task_history_text);
  });
}

}  // namespace

void add_console_views(CLI::App& app, cli_context& context, console_memory& memory) {
  add_status_view(app, context, "nodes", "Show the connected node, and its connections to other nodes", nodes_json, nodes_text);
  add_tree(app, context);
  add_actors(app, context);
  add_status_view(app, context, "shards", "Show the shards: their nodes, epochs, counts, stores and commits", shards_json, shards_text);
  add_agents(app, context);
  add_counters(app, context, memory);
  add_steps(app, context);
  add_history(app, context);
}

}  // namespace fairlead::app
