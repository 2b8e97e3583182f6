// Commands of an operator that affect a whole node.

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "app/cli/commands.hpp"
#include "app/cli/operator_name.hpp"
#include "app/cli/screen/table.hpp"
#include "app/console/commands.hpp"
#include "app/console/views/views.hpp"
#include "app/json/node/nodes.hpp"
#include "app/json/node/operations.hpp"

namespace fairlead::app {

namespace {

struct node_words {
  std::string node;
  std::string by;
  std::string reason;
  std::string level;
};

v1::NodeOperateRequest request_of(v1::NodeVerb verb, const node_words& words) {
  v1::NodeOperateRequest out;
  out.set_verb(verb);
  out.set_node(words.node);
  out.set_who(operator_name(words.by));
  out.set_reason(words.reason);
  out.set_log_level(words.level);
  return out;
}

result<v1::NodeOperateReply> operate(client& to, v1::NodeVerb verb, const node_words& words) {
  if (!words.node.empty()) {
    const auto known = to.status_of_node({});
    if (!known) return known.failure();
    if (const auto checked = check_node(*known, words.node); !checked) return checked.failure();
  }
  return to.operate_node(request_of(verb, words));
}

std::string name_of(const v1::NodeOperateReply& reply, const node_words& words) { return reply.node().empty() ? words.node : reply.node(); }

void add_words(CLI::App& command, cli_context& context, node_words& words) {
  command.add_option("--reason", words.reason, "Reason, for the node's log")->type_name("TEXT");
  add_operator_option(command, words.by);
  add_client_options(command, context);
}

/// A new leader knows nothing of the others before they have answered it.
std::vector<std::uint32_t> needed_by_at_last(client& to, const std::string& node) {
  constexpr int most_tries = 20;
  constexpr std::chrono::milliseconds again_after{100};
  std::vector<std::uint32_t> out;
  for (int i = 0; i < most_tries; ++i) {
    if (i != 0) std::this_thread::sleep_for(again_after);
    const auto known = to.status_of_node({});
    out = known ? needed_by(*known, node) : std::vector<std::uint32_t>{};
    if (out.empty()) return out;
  }
  return out;
}

void add_node_verb(CLI::App& group, cli_context& context, const char* name, const char* help, v1::NodeVerb verb) {
  auto* command = group.add_subcommand(name, help);
  auto words = std::make_shared<node_words>();
  // NODE is required: a default could drain the wrong node, and all work would leave that machine.
  command->add_option("NODE", words->node, "Name of the node")->required();
  add_words(*command, context, *words);
  const bool drain = verb == v1::NODE_VERB_DRAIN;
  command->callback([&context, words, verb, drain] {
    std::vector<std::uint32_t> needed;
    run_request(
        context,
        [&](client& to) {
          auto done = operate(to, verb, *words);
          if (drain && done) needed = needed_by_at_last(to, name_of(*done, *words));
          return done;
        },
        [&](const v1::NodeOperateReply& reply) { return node_drained_json(name_of(reply, *words), drain, reply, needed); },
        [&](const v1::NodeOperateReply& reply) {
          const auto node = printable(name_of(reply, *words));
          if (!drain) return "The agents of node " + node + " get steps again.\n";
          auto out = "The agents of node " + node + " finish the steps that they hold, " + std::to_string(reply.held()) +
                     " in all, and get no new steps.\n";
          if (reply.leads() != 0)
            out += "It still leads " + std::to_string(reply.leads()) + (reply.leads() == 1 ? " shard" : " shards") +
                   ", because no other node can. `fairlead cluster status` says which follow; the lead moves as soon as one does.\n";
          for (const auto shard : needed)
            out += "Do not stop it now: shard " + std::to_string(shard) + " would stand still, because it can lose no more node.\n";
          return out;
        });
  });
}

std::string reload_text(const v1::NodeOperateReply& reply, const node_words& words) {
  const auto& read = reply.reload();
  text_table table{{{""}, {""}}};
  const auto row = [&table](const char* what, const auto& names, const char* then = "") {
    std::string all;
    for (const auto& name : names) all += (all.empty() ? "" : ", ") + printable(name);
    if (!all.empty()) table.add({what, all + then});
  };
  row("agents added", read.added());
  row("agents changed", read.changed());
  row("agents removed", read.removed(), " (each leaves when its attempts have ended)");
  row("keys applied", read.applied());
  row("needs a restart", read.kept(), " (the former values count until then)");
  return "Node " + printable(name_of(reply, words)) + " has read " + printable(read.file()) +
         (table.empty() ? " again. Nothing has changed.\n" : " again.\n" + table.text(false));
}

void add_reload(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("reload", "Read the node file of a running node again, as SIGHUP does");
  auto words = std::make_shared<node_words>();
  command->add_option("NODE", words->node, "Name of a node (default: the connected node)");
  add_words(*command, context, *words);
  command->callback([&context, words] {
    run_request(
        context, [&](client& to) { return operate(to, v1::NODE_VERB_RELOAD, *words); },
        [&](const v1::NodeOperateReply& reply) { return node_reloaded_json(name_of(reply, *words), reply); },
        [&](const v1::NodeOperateReply& reply) { return reload_text(reply, *words); });
  });
}

void add_level(CLI::App& group, cli_context& context, const char* name) {
  auto* command = group.add_subcommand(name, "Set the log level of a node, until the node ends");
  auto words = std::make_shared<node_words>();
  command->add_option("LEVEL", words->level, "Lowest level that is logged")
      ->required()
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
  command->add_option("NODE", words->node, "Name of a node (default: the connected node)");
  add_words(*command, context, *words);
  command->callback([&context, words] {
    run_request(
        context, [&](client& to) { return operate(to, v1::NODE_VERB_LOG_LEVEL, *words); },
        [&](const v1::NodeOperateReply& reply) { return node_level_json(name_of(reply, *words), words->level, reply); },
        [&](const v1::NodeOperateReply& reply) {
          return "Node " + printable(name_of(reply, *words)) + " logs from " + words->level + " on; until now it was " +
                 printable(reply.before()) + ".\n";
        });
  });
}

void add_forget(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("forget", "Forget a node that does not come back, so that another node can take its name");
  auto words = std::make_shared<node_words>();
  command->add_option("NODE", words->node, "Name of the node")->required();
  add_words(*command, context, *words);
  command->callback([&context, words] {
    run_request(
        context,
        [&](client& to) {
          auto request = request_of(v1::NODE_VERB_FORGET, *words);
          request.clear_node();
          request.set_forgotten(words->node);
          return to.operate_node(request);
        },
        [&](const v1::NodeOperateReply& reply) { return node_forgotten_json(words->node, reply); },
        [&](const v1::NodeOperateReply& reply) {
          std::string asked;
          for (const auto& node : reply.nodes()) asked += (asked.empty() ? "" : ", ") + printable(node);
          if (!reply.known()) return "Node " + words->node + " is not known" + (asked.empty() ? "" : " to " + asked) + ".\n";
          return "Node " + words->node + " is forgotten by " + asked + ". Another node may take its name.\n";
        });
  });
}

}  // namespace

void add_node_verbs(CLI::App& group, cli_context& context) {
  add_node_verb(group, context, "drain",
                "Drain a node: other nodes lead its shards, and its agents finish the steps that they hold and get no new ones",
                v1::NODE_VERB_DRAIN);
  add_node_verb(group, context, "resume", "Give steps to the agents of a drained node again", v1::NODE_VERB_RESUME);
  add_forget(group, context);
  add_reload(group, context);
  add_level(group, context, "log-level");
}

void add_console_actions(CLI::App& app, cli_context& context) {
  auto* node = app.add_subcommand("node", "Drain, resume, reload or forget a node");
  node->require_subcommand(1);
  add_node_verbs(*node, context);
  auto* log = app.add_subcommand("log", "The log of a node");
  log->require_subcommand(1);
  add_level(*log, context, "level");
}

}  // namespace fairlead::app
