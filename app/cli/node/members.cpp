// `fairlead cluster init`, `join`, `leave` and `upgrade`: which nodes hold a shard, and what they may write of it.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/cluster/shard_nodes.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/node/cluster.hpp"
#include "app/cli/operator_name.hpp"
#include "app/cli/problems.hpp"
#include "app/cli/words.hpp"
#include "app/config/config.hpp"
#include "app/json/writer.hpp"
#include "app/node/replicas.hpp"

namespace fairlead::app {

namespace {

struct member_words {
  std::string config;
  std::string address;
  std::string node;
  std::string by;
  std::string reason;
};

/// What came of it, one shard a line.
struct shard_line {
  std::uint32_t shard = 0;
  std::vector<std::string> nodes;
};

void tell(cli_context& context, const std::string& node, const char* state, const std::vector<shard_line>& shards,
          const std::string& then) {
  if (context.json) {
    json_writer out;
    out.begin_object().key("node").string(node).key("state").string(state).key("shards").begin_array();
    for (const auto& one : shards) {
      out.begin_object().key("shard").number(std::uint64_t{one.shard}).key("nodes").begin_array();
      for (const auto& name : one.nodes) out.string(name);
      out.end_array().end_object();
    }
    return print(context, out.end_array().end_object().text() + "\n");
  }
  std::string out;
  for (const auto& one : shards)
    out +=
        "Shard " + std::to_string(one.shard) + ": node " + printable(node) + " " + state + "; its nodes are " + names_of(one.nodes) + ".\n";
  print(context, out + then + "\n");
}

result<v1::ShardNodes> change(client& to, const v1::ShardNodesRequest& what) {
  auto reply = to.change_nodes(what);
  if (!reply) return reply.failure();
  return std::move(*reply->mutable_nodes());
}

shard_line line_of(std::uint32_t shard, const v1::ShardNodes& nodes) {
  shard_line out{shard, {}};
  for (const auto& one : nodes.nodes())
    if (!one.leaves()) out.nodes.push_back(one.name());
  return out;
}

/// Whether this node and each of the others can find each other: one of the two has an address in the list, or the node file names peers.
status check_reachable(const node_config& config, const v1::ShardNodesRequest& asked, const v1::ShardNodes& nodes) {
  if (!asked.node().address().empty() || !config.peers.empty()) return nothing{};
  for (const auto& one : nodes.nodes())
    if (one.address().empty() && one.name() != config.name)
      return error{
          v1::ERROR_CODE_WRONG_STATE,
          "Neither node " + config.name + " nor node " + one.name() + " says at which address the other one reaches it.",
          "Set node.listen to an address of this machine instead of " + config.listen.host + ", or name the other nodes under node.peers"};
  return nothing{};
}

/// nullopt: the file has errors, and they were told.
std::optional<node_config> read_file(cli_context& context, const std::string& path) {
  auto read = read_node_config(path);
  if (read.problems.empty()) return std::move(read.config);
  context.code = fail_with(read.problems);
  return std::nullopt;
}

int init(cli_context& context, const member_words& words) {
  auto to = connect(context);
  if (!to) return fail(to.failure());
  v1::NodeOperateRequest what;
  what.set_verb(v1::NODE_VERB_INIT);
  what.set_who(operator_name(words.by));
  what.set_reason(words.reason);
  const auto reply = to->operate_node(what);
  if (!reply) return fail(reply.failure());
  std::vector<shard_line> shards;
  for (const auto number : reply->shards()) shards.push_back({number, {reply->node()}});
  tell(context, reply->node(), "is the first of several", shards,
       "Run `fairlead cluster join ADDRESS` with the address of this node on each node that is to hold them, too.");
  return context.code;
}

int join(cli_context& context, const member_words& words) {
  const auto config = read_file(context, words.config);
  if (!config) return context.code;
  auto stores = replicas_to_be::open(*config);
  if (!stores) return fail(stores.failure());
  auto asked = stores->ask_to_join();
  if (!asked) return fail(asked.failure());
  context.nodes = words.address;
  auto to = connect(context);
  if (!to) return fail(to.failure());
  std::map<std::uint32_t, v1::ShardNodes> known;
  for (auto& one : *asked) {
    one.set_who(operator_name(words.by));
    one.set_reason(words.reason);
    auto question = one;
    question.set_only_ask(true);
    const auto answer = change(*to, question);
    if (!answer) return fail(answer.failure());
    if (const auto reachable = check_reachable(*config, one, *answer); !reachable.ok()) return fail(reachable.failure());
    known[one.shard()] = *answer;
  }
  // From here on the command can be repeated: the stores keep the names under which they ask.
  if (const auto joined = stores->join(known); !joined.ok()) return fail(joined.failure());
  if (const auto closed = stores->close(); !closed.ok()) return fail(closed.failure());
  std::vector<shard_line> shards;
  for (const auto& one : *asked) {
    const auto nodes = change(*to, one);
    if (!nodes) return fail(nodes.failure());
    shards.push_back(line_of(one.shard(), *nodes));
  }
  tell(context, config->name, "joins", shards,
       "Start the node: it gets what the others have. `fairlead cluster status` shows how far it is.");
  return context.code;
}

int leave(cli_context& context, const member_words& words) {
  auto to = connect(context);
  if (!to) return fail(to.failure());
  const auto known = to->status_of_node({});
  if (!known) return fail(known.failure());
  v1::ShardNodesRequest what;
  what.mutable_node()->set_name(words.node);
  what.set_who(operator_name(words.by));
  what.set_reason(words.reason);
  std::vector<std::uint32_t> held;
  for (const auto& shard : known->shards()) {
    if (!may_be_replicated(shard)) continue;
    what.set_shard(shard.shard());
    // Also where it was asked for before.
    const auto nodes = change(*to, what);
    if (!nodes) return fail(nodes.failure());
    const auto is_it = [&](const auto& one) { return one.name() == words.node; };
    if (std::any_of(nodes->nodes().begin(), nodes->nodes().end(), is_it)) held.push_back(shard.shard());
  }
  if (held.empty())
    return fail({v1::ERROR_CODE_NOT_FOUND, "Node " + words.node + " holds no shard together with others.",
                 "`fairlead cluster status` shows the nodes that do"});
  // All are asked before one is changed.
  std::vector<shard_line> shards;
  what.set_verb(v1::ShardNodesRequest::LEAVE);
  for (const bool only_ask : {true, false}) {
    what.set_only_ask(only_ask);
    shards.clear();
    for (const auto shard : held) {
      what.set_shard(shard);
      const auto nodes = change(*to, what);
      if (!nodes) return fail(nodes.failure());
      shards.push_back(line_of(shard, *nodes));
    }
  }
  const bool one_votes = std::any_of(shards.begin(), shards.end(), [](const auto& one) { return one.nodes.size() < 3; });
  tell(context, words.node, "leaves", shards,
       std::string{one_votes ? "Of fewer than three nodes one votes: what is acknowledged from then on is on one disk for sure.\n" : ""} +
           "`fairlead cluster status` shows when it has left. Then stop the node, and remove its stores before it holds a shard again.");
  return context.code;
}

/// In which format a shard is written, and which is next.
struct format_line {
  std::uint32_t shard = 0;
  std::uint32_t format = 1;
  std::uint32_t next = 1;    // the latest that a node of it knows
  bool has_risen = false;    // now
  std::optional<error> why;  // it cannot be written in that
};

void tell(cli_context& context, const std::vector<format_line>& shards) {
  if (context.json) {
    json_writer out;
    out.begin_object().key("shards").begin_array();
    for (const auto& one : shards) {
      out.begin_object().key("shard").number(std::uint64_t{one.shard}).key("format").number(std::uint64_t{one.format});
      out.key("next").number(std::uint64_t{one.next}).key("why").string(one.why ? one.why->sentence : "").end_object();
    }
    return print(context, out.end_array().end_object().text() + "\n");
  }
  std::string out = shards.empty() ? "No shard is held by several nodes: there is nothing to finish.\n" : "";
  bool can_rise = false;
  for (const auto& one : shards) {
    out += "Shard " + std::to_string(one.shard) + " is written in format " + std::to_string(one.format);
    can_rise = can_rise || (!one.why && one.next > one.format);
    if (one.why)
      out += ". " + printable(one.why->sentence) + (one.why->remedy.empty() ? "" : " " + printable(one.why->remedy)) + "\n";
    else if (one.next > one.format)
      out += ", and all its nodes know format " + std::to_string(one.next) + ".\n";
    else
      out += one.has_risen ? " from now on.\n" : ", the latest that its nodes know.\n";
  }
  if (can_rise) out += "Run `fairlead cluster upgrade --finish` once you will not go back to the former release.\n";
  print(context, out);
}

int upgrade(cli_context& context, const member_words& words, bool finish) {
  auto to = connect(context);
  if (!to) return fail(to.failure());
  const auto known = to->status_of_node({});
  if (!known) return fail(known.failure());
  v1::ShardNodesRequest what;
  what.set_who(operator_name(words.by));
  what.set_reason(words.reason);
  std::vector<format_line> shards;
  std::optional<error> failed;
  for (const auto& shard : known->shards()) {
    if (!may_be_replicated(shard)) continue;
    what.set_shard(shard.shard());
    what.set_verb(v1::ShardNodesRequest::SHOW);
    what.set_only_ask(false);
    const auto now = change(*to, what);
    if (!now) {
      failed = now.failure();
      break;
    }
    what.set_verb(v1::ShardNodesRequest::UPGRADE);
    what.set_only_ask(!finish);
    const auto next = change(*to, what);
    const auto refused = next ? v1::ERROR_CODE_OK : next.failure().code;
    // A node of a release before there were formats knows no such request.
    if (!next && refused != v1::ERROR_CODE_WRONG_STATE && refused != v1::ERROR_CODE_INVALID_ARGUMENT) {
      failed = next.failure();
      break;
    }
    auto& line = shards.emplace_back();
    line.shard = shard.shard();
    line.format = core::format_of(finish && next ? *next : *now);
    line.has_risen = line.format > core::format_of(*now);
    line.next = next ? core::format_of(*next) : line.format;
    if (!next) line.why = next.failure();
  }
  // What is done stays done, and is told.
  if (failed) {
    if (!shards.empty()) tell(context, shards);
    return fail(*failed);
  }
  tell(context, shards);
  const auto waits = [](const auto& one) { return one.why.has_value(); };
  if (context.code == exit_ok && std::any_of(shards.begin(), shards.end(), waits)) context.code = exit_failed;
  return context.code;
}

void add_reason(CLI::App& command, member_words& words) {
  command.add_option("--reason", words.reason, "Reason, for the log of the node that leads the shard")->type_name("TEXT");
  add_operator_option(command, words.by);
}

void add_file(CLI::App& command, member_words& words) {
  command.add_option("--config", words.config, "The node file of this node, which must not be running")->required()->type_name("FILE");
}

}  // namespace

void add_member_commands(CLI::App& group, cli_context& context) {
  auto words = std::make_shared<member_words>();
  auto* first = group.add_subcommand("init", "Let other nodes join the shards that a node holds alone");
  add_reason(*first, *words);
  add_client_options(*first, context);
  first->callback([&context, words] { context.code = init(context, *words); });

  auto* next = group.add_subcommand("join", "Let this node, whose stores are empty, hold its shards together with other nodes");
  next->add_option("ADDRESS", words->address, "HOST:PORT of a node of the cluster")->required();
  add_file(*next, *words);
  add_reason(*next, *words);
  add_json_option(*next, context);
  next->callback([&context, words] { context.code = join(context, *words); });

  auto* last = group.add_subcommand("leave", "Take the shards that a node holds together with others away from it");
  last->add_option("NODE", words->node, "Name of the node; it need not be running")->required();
  add_reason(*last, *words);
  add_client_options(*last, context);
  last->callback([&context, words] { context.code = leave(context, *words); });

  auto* upgraded =
      group.add_subcommand("upgrade", "Show whether all nodes that hold a shard know what the new release writes, and end an upgrade");
  auto finish = std::make_shared<bool>(false);
  upgraded->add_flag("--finish", *finish, "Let the leaders write what only the new release knows; an earlier one cannot be run then");
  add_reason(*upgraded, *words);
  add_client_options(*upgraded, context);
  upgraded->callback([&context, words, finish] { context.code = upgrade(context, *words, *finish); });
}

}  // namespace fairlead::app
