#include "app/metrics/node_figures.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace fairlead::app {

namespace {

constexpr std::string_view agents_path = "node/agents/";

/// Names of the agent actors of this node that are not stopped, by the tree.
std::vector<std::string> agents_here(const v1::InspectReply& tree) {
  std::vector<std::string> out;
  for (const auto& actor : tree.actors()) {
    const std::string_view path = actor.path();
    if (actor.guardian() || path.substr(0, agents_path.size()) != agents_path || actor.state() == "stopped") continue;
    out.emplace_back(path.substr(agents_path.size()));
  }
  return out;
}

/// Instances that can get work from a shard, by name.
std::set<std::string> registered(const v1::StatusReply& reply) {
  std::set<std::string> out;
  for (const auto& agent : reply.agents())
    if (!agent.instance().empty() && !agent.away()) out.insert(agent.instance());
  return out;
}

void look_for_agents(const std::vector<std::string>& agents, const std::string& node, const v1::StatusReply& reply,
                     const std::string& where, std::vector<std::string>& reasons) {
  const auto known = registered(reply);
  for (const auto& agent : agents)
    if (known.count(node + "/" + agent) == 0) reasons.push_back("agent " + agent + " is not registered with " + where + " yet");
}

}  // namespace

bool leads(const node_figures& all, std::uint32_t shard) {
  const auto found = all.replicas.find(shard);
  return found == all.replicas.end() || found->second.replication().role() == "leader";
}

v1::ShardStatus shard_status_of(const v1::StatusReply& reply, std::uint32_t shard) {
  v1::ShardStatus out;
  const auto& all = reply.shards();
  const auto found = std::find_if(all.begin(), all.end(), [shard](const v1::ShardStatus& one) { return one.shard() == shard; });
  if (found != all.end()) {
    out = *found;
  } else {
    out.set_shard(shard);
    out.set_here(true);
    out.set_up(true);
    out.set_epoch(reply.epoch());
    out.set_oldest_due_unix_ms(reply.oldest_due_unix_ms());
    out.set_stalest_task(reply.stalest_task());
    out.set_stalest_since_unix_ms(reply.stalest_since_unix_ms());
    out.set_resumed_tasks(reply.resumed_tasks());
    out.set_resuming(reply.resuming());
  }
  if (!out.has_counts() && reply.has_counts()) *out.mutable_counts() = reply.counts();
  if (!out.has_store() && reply.has_store()) *out.mutable_store() = reply.store();
  if (!out.has_traffic() && reply.has_traffic()) *out.mutable_traffic() = reply.traffic();
  return out;
}

node_verdict healthy(const node_figures& all) {
  node_verdict out;
  if (all.stopping) return out;  // a node that ends as asked is healthy
  if (!all.told.tree.reply) out.reasons.push_back("the gateway does not answer: " + all.told.tree.reason);
  if (all.told.tree.reply)
    for (const auto& actor : all.told.tree.reply->actors())
      if (actor.state() == "given_up")
        out.reasons.push_back(actor.path() + " has failed too often and is not restarted" +
                              (actor.last_reason().empty() ? "" : ": " + actor.last_reason()));
  for (const auto& [number, own] : all.replicas)
    if (const auto& why = own.replication().trouble(); !why.empty())
      out.reasons.push_back("the replica of shard " + std::to_string(number) + " takes no part: " + why);
  for (const auto& [number, shard] : all.told.shards) {
    const auto name = "shard " + std::to_string(number);
    // Between an election and its first entry a leader has no Scheduler yet.
    const auto own = all.replicas.find(number);
    if (!shard.reply && own != all.replicas.end() && own->second.replication().epoch() == 0) continue;
    if (!shard.reply) {
      out.reasons.push_back(name + " does not answer: " + shard.reason);
    } else if (const auto status = shard_status_of(*shard.reply, number); !status.up()) {
      out.reasons.push_back(name + " is not up" + (status.reason().empty() ? "" : ": " + status.reason()));
    }
  }
  return out;
}

node_verdict ready(const node_figures& all) {
  if (all.stopping) return {{"the node is stopping"}};
  auto out = healthy(all);
  if (!out.good()) return out;
  if (!all.told.status.reply) return {{"the node's status is unknown: " + all.told.status.reason}};
  if (all.told.status.reply->draining()) out.reasons.push_back("the node is draining");
  for (const auto& [number, own] : all.replicas)
    if (own.replication().leader().empty()) out.reasons.push_back("no leader of shard " + std::to_string(number) + " is known");
  const auto agents = agents_here(*all.told.tree.reply);
  for (const auto& [number, shard] : all.told.shards) {
    const auto name = "shard " + std::to_string(number);
    if (!shard.reply) {
      out.reasons.push_back(name + " does not answer: " + shard.reason);
      continue;
    }
    if (shard_status_of(*shard.reply, number).resuming()) out.reasons.push_back(name + " is still loading its open tasks");
    look_for_agents(agents, all.node, *shard.reply, name, out.reasons);
  }
  // The node's status has the agents' registrations with all other shards together.
  const auto& routes = all.told.status.reply->shards();
  if (std::any_of(routes.begin(), routes.end(), [](const v1::ShardStatus& one) { return !one.here() && one.up(); }))
    look_for_agents(agents, all.node, *all.told.status.reply, "the shards of other nodes", out.reasons);
  return out;
}

}  // namespace fairlead::app
