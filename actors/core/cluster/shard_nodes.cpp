#include "actors/core/cluster/shard_nodes.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/workflow/check.hpp"

namespace fairlead::core {

namespace {

std::string shard_text(std::uint32_t shard) { return "shard " + std::to_string(shard); }

result<v1::ShardNodes> with_node(const v1::ShardNodes& now, const v1::ShardNodesRequest& what, bool is_linked) {
  const auto& node = what.node();
  if (node.replica() == 0)
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "Node " + node.name() + " says of no replica that it has.", "Report this as a bug."};
  if (std::max(what.reads(), 1U) < format_of(now))
    return error{v1::ERROR_CODE_WRONG_STATE, unknown_format(node.name(), {}, format_of(now), shard_text(what.shard())),
                 "Run the release of the other nodes there."};
  for (const auto& one : now.nodes()) {
    if (one.name() != node.name() && one.replica() == node.replica())
      return error{v1::ERROR_CODE_CONFLICT,
                   "Nodes " + one.name() + " and " + node.name() + " have the same replica of " + shard_text(what.shard()) +
                       ": the store of one is a copy of the other's.",
                   "Give node " + node.name() + " an empty store."};
    if (one.name() != node.name()) continue;
    if (one.leaves())
      return error{v1::ERROR_CODE_WRONG_STATE, "Node " + node.name() + " is still leaving " + shard_text(what.shard()) + ".",
                   "Try again when `fairlead cluster status` does not show the node any more."};
    // A node that has lost its store comes with another one.
    if (is_linked && one.replica() != node.replica())
      return error{v1::ERROR_CODE_CONFLICT, "Another node with the name " + node.name() + " holds " + shard_text(what.shard()) + ".",
                   "Give the new node another name, or stop the other one."};
    if (one.replica() == node.replica() && one.address() == node.address()) return now;
  }
  auto out = now;
  auto* const all = out.mutable_nodes();
  const auto is_it = [&](const auto& one) { return one.name() == node.name(); };
  const auto place = std::find_if(all->begin(), all->end(), is_it);
  if (place != all->end()) {
    *place = node;
  } else {
    if (all->size() >= most_shard_nodes)
      return error{v1::ERROR_CODE_WRONG_STATE,
                   "As many nodes as possible hold " + shard_text(what.shard()) + ": " + std::to_string(all->size()) + ".",
                   "Take it away from another node first: fairlead cluster leave."};
    *all->Add() = node;
    std::sort(all->begin(), all->end(), [](const auto& one, const auto& other) { return one.name() < other.name(); });
  }
  out.set_damaged_at_unix_ms(std::max(now.damaged_at_unix_ms(), node.damaged_at_unix_ms()));
  out.set_version(now.version() + 1);
  return out;
}

result<v1::ShardNodes> without_node(const v1::ShardNodes& now, const v1::ShardNodesRequest& what) {
  auto out = now;
  const auto stays = [](const auto& one) { return !one.leaves(); };
  for (auto& one : *out.mutable_nodes()) {
    if (one.name() != what.node().name()) continue;
    if (one.leaves()) return now;
    if (std::count_if(now.nodes().begin(), now.nodes().end(), stays) == 1)
      return error{v1::ERROR_CODE_WRONG_STATE, "Node " + one.name() + " is the last one that holds " + shard_text(what.shard()) + ".",
                   "Let another node join first: fairlead cluster join."};
    one.set_leaves(true);
    out.set_version(now.version() + 1);
    return out;
  }
  return error{v1::ERROR_CODE_NOT_FOUND, "Node " + what.node().name() + " does not hold " + shard_text(what.shard()) + ".",
               "`fairlead cluster status` lists the nodes that do."};
}

}  // namespace

std::string unknown_format(const std::string& node, const std::string& release, std::uint32_t format, const std::string& written_in_it) {
  return "Node " + node + " does not know format " + std::to_string(format) +
         (written_in_it.empty() ? "" : ", in which " + written_in_it + " is written") +
         (release.empty() ? "." : ": it has release " + release + ".");
}

v1::ShardNodes shard_nodes_of(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  v1::ShardNodes out;
  for (auto& name : names) out.add_nodes()->set_name(std::move(name));
  return out;
}

std::string names_of(const v1::ShardNodes& all) {
  std::string out;
  for (const auto& one : all.nodes()) out += (out.empty() ? "" : ", ") + one.name();
  return out;
}

bool valid_shard_nodes(const v1::ShardNodes& what) {
  const auto& all = what.nodes();
  const auto in_order = [](const auto& one, const auto& other) { return one.name() < other.name(); };
  return all.size() <= most_shard_nodes &&
         std::all_of(all.begin(), all.end(), [](const auto& one) { return valid_agent_name(one.name()); }) &&
         std::adjacent_find(all.begin(), all.end(), [&](const auto& one, const auto& other) { return !in_order(one, other); }) == all.end();
}

const v1::ShardNodes::Node* find_node(const v1::ShardNodes& in, const std::string& name) {
  const auto found = std::find_if(in.nodes().begin(), in.nodes().end(), [&](const auto& one) { return one.name() == name; });
  return found == in.nodes().end() ? nullptr : &*found;
}

result<v1::ShardNodes> after_request(const v1::ShardNodes& now, const v1::ShardNodesRequest& what, bool is_linked) {
  switch (what.verb()) {
    case v1::ShardNodesRequest::SHOW: return now;
    case v1::ShardNodesRequest::JOIN: return with_node(now, what, is_linked);
    case v1::ShardNodesRequest::LEAVE: return without_node(now, what);
    default: return error{v1::ERROR_CODE_INVALID_ARGUMENT, "The request names no change of nodes.", "Use a client of the node's release."};
  }
}

result<v1::ShardNodes> with_format(const v1::ShardNodes& now, std::uint32_t format,
                                   const std::function<const v1::ReplicaHello*(const std::string& node)>& hello) {
  for (const auto& one : now.nodes()) {
    const auto* const said = hello(one.name());
    if (said == nullptr)
      return error{v1::ERROR_CODE_WRONG_STATE, "Node " + one.name() + " is not connected, so nobody knows which release it has.",
                   "Start it with the new release, or take the shard away from it: fairlead cluster leave."};
    if (reads(*said) < format)
      return error{v1::ERROR_CODE_WRONG_STATE, unknown_format(one.name(), said->release(), format, {}), "Start it with the new release."};
  }
  if (format_of(now) >= format) return now;
  auto out = now;
  out.set_format(format);
  out.set_version(now.version() + 1);
  return out;
}

std::optional<v1::ShardNodes> brought_up_to_date(const v1::ShardNodes& now,
                                                 const std::function<std::uint64_t(const std::string& node)>& met,
                                                 const std::vector<std::uint64_t>& members) {
  auto updated = now;
  bool changed = now.version() == 0;  // it is in a node file alone
  for (auto& one : *updated.mutable_nodes()) {
    const auto id = met(one.name());
    if (id == 0 || id == one.replica()) continue;
    one.set_replica(id);
    changed = true;
  }
  const auto has_node = [&](std::uint64_t id) {
    return std::any_of(updated.nodes().begin(), updated.nodes().end(), [&](const auto& one) { return one.replica() == id; });
  };
  const auto is_member = [&](std::uint64_t id) { return std::find(members.begin(), members.end(), id) != members.end(); };
  const bool all_have_nodes = std::all_of(members.begin(), members.end(), has_node);
  auto out = now;
  out.clear_nodes();
  for (auto& one : *updated.mutable_nodes()) {
    const bool gone = one.leaves() && all_have_nodes && !is_member(one.replica());
    changed = changed || gone;
    if (!gone) *out.add_nodes() = std::move(one);
  }
  if (!changed) return std::nullopt;
  out.set_version(now.version() + 1);
  return out;
}

}  // namespace fairlead::core
