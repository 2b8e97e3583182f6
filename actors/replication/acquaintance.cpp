#include "actors/replication/acquaintance.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/cluster/shard_nodes.hpp"
#include "messages/lineage.hpp"

namespace fairlead {

namespace {

error refused(std::string sentence, std::string remedy) { return {v1::ERROR_CODE_CONFLICT, std::move(sentence), std::move(remedy)}; }

bool has(const google::protobuf::RepeatedField<std::uint64_t>& in, std::uint64_t id) {
  return std::find(in.begin(), in.end(), id) != in.end();
}

/// Copies of one store that went on apart from each other do not. One that was away may know none of those that vote by now, and is a member still.
bool share_a_member(const v1::ReplicaHello& one, const v1::ReplicaHello& other) {
  const auto knows = [](const v1::ReplicaHello& who, std::uint64_t id) {
    return has(who.members().voters(), id) || has(who.members().standbys(), id);
  };
  const auto& voters = one.members().voters();
  return std::any_of(voters.begin(), voters.end(), [&](std::uint64_t id) { return has(other.members().voters(), id); }) ||
         knows(one, other.replica()) || knows(other, one.replica());
}

/// It is one of those that it names. One that is new knows those of the moment when it came, and all of these may have left since.
bool is_member(const v1::ReplicaHello& who) {
  return has(who.members().voters(), who.replica()) || has(who.members().standbys(), who.replica());
}

std::string shard_of(const v1::ReplicaHello& which) { return "shard " + std::to_string(which.shard()); }

}  // namespace

std::optional<raft::members> acquaintance::members() const {
  if (!has_begun(me_)) return std::nullopt;
  return raft::decode_members(me_.members().SerializeAsString());
}

void acquaintance::follow(const raft::members& all) { me_.mutable_members()->ParseFromString(*raft::encode(all)); }

void acquaintance::follow(const v1::ShardNodes& nodes) {
  if (nodes.version() > me_.nodes().version()) *me_.mutable_nodes() = nodes;
}

status acquaintance::meet(const v1::ReplicaHello& you) {
  const auto where = shard_of(me_);
  if (you.shard() != me_.shard())
    return refused("A replica of " + shard_of(you) + " took this one for one of it, and it is one of " + where + ".",
                   "Report this as a bug.");
  if (you.replica() == 0) return invalid("Node " + you.node() + " has a replica of " + where + " without an id.", "Report this as a bug.");
  if (const auto owner = you.replica() == me_.replica() ? me_.node() : node_of(you.replica()); !owner.empty() && owner != you.node())
    return refused(
        "Nodes " + owner + " and " + you.node() + " have the same replica of " + where + ": the store of one is a copy of the other's.",
        "Stop the node with the copy, and give it an empty store.");
  if (has_begun(you) && raft::decode_members(you.members().SerializeAsString()) == std::nullopt)
    return invalid("Node " + you.node() + " names replicas of " + where + " that cannot be.", "Report this as a bug.");
  if (!core::valid_shard_nodes(you.nodes()))
    return invalid("Node " + you.node() + " names nodes of " + where + " that cannot be.", "Report this as a bug.");
  // Lists of node files. With others than the first node begins with, a node would take the replica of another one for its own.
  const bool by_files =
      me_.nodes().version() == 0 && you.nodes().version() == 0 && !me_.nodes().nodes().empty() && !you.nodes().nodes().empty();
  if (by_files && core::names_of(me_.nodes()) != core::names_of(you.nodes()))
    return refused("Nodes " + me_.node() + " and " + you.node() + " name different nodes that are to hold " + where + ": " +
                       core::names_of(me_.nodes()) + ", and " + core::names_of(you.nodes()) + ".",
                   "Write the same shards.replicas in the node files of all of them.");
  const bool began_apart = is_member(me_) && is_member(you) && !share_a_member(me_, you);
  if (has_begun(me_) && has_begun(you) && (compare(you.lineage(), me_.lineage()) != lineage_order::same || began_apart))
    return refused("Nodes " + me_.node() + " and " + you.node() + " hold stores of " + where + " that began apart from each other (" +
                       to_text(me_.lineage()) + ", " + to_text(you.lineage()) + ").",
                   "Decide which one to keep, stop the node with the other one, and give it an empty store.");
  if (has_begun(you)) follow(you.nodes());
  for (const auto* who : {&std::as_const(me_), &you})
    if (core::reads(*who) < core::format_of(me_.nodes()))
      return refused(core::unknown_format(who->node(), who->release(), core::format_of(me_.nodes()), where),
                     "Run the release of the other nodes there.");
  if (you.node() == me_.node()) return refused("Two nodes with the name " + me_.node() + " hold " + where + ".", "Give one another name.");
  for (const auto& node : {me_.node(), you.node()}) {
    if (core::find_node(me_.nodes(), node) != nullptr) continue;
    if (me_.nodes().nodes().empty())
      return error{v1::ERROR_CODE_UNAVAILABLE,
                   "Neither node " + me_.node() + " nor node " + you.node() + " knows which nodes hold " + where + ".",
                   "Start a node that holds it, or run fairlead cluster join again."};
    if (me_.nodes().version() != 0)
      return refused("Node " + node + " is none of those that hold " + where + ".",
                     "If it is to hold the shard, give it an empty store and run fairlead cluster join on it.");
    return refused("Node " + me_.node() + " does not name node " + node + " among those that hold " + where + ".",
                   "Write the same shards.replicas in the node files of all of them.");
  }
  // One that is new itself may have heard of a lineage that is over.
  if (!has_begun(me_) && has_begun(you) && is_member(you)) {
    *me_.mutable_members() = you.members();
    *me_.mutable_lineage() = you.lineage();
    me_.set_store_id(you.store_id());
    began_ = true;
  }
  met_[you.node()] = you;
  return nothing{};
}

bool acquaintance::begin(const v1::Lineage& lineage, const std::string& store_id) {
  const auto& nodes = me_.nodes().nodes();
  // A list that has been changed is of a shard that others have begun.
  if (has_begun(me_) || me_.nodes().version() != 0 || nodes.empty() || nodes.begin()->name() != me_.node() ||
      static_cast<int>(met_.size()) + 1 != nodes.size())
    return false;
  std::vector<raft::replica_id> ids{me_.replica()};
  for (const auto& [node, one] : met_) ids.push_back(one.replica());
  std::sort(ids.begin(), ids.end());
  me_.mutable_members()->mutable_voters()->Assign(ids.begin(), ids.end());
  *me_.mutable_lineage() = lineage;
  me_.set_store_id(store_id);
  return began_ = true;
}

std::string acquaintance::node_of(raft::replica_id id) const {
  for (const auto& [node, one] : met_)
    if (one.replica() == id) return node;
  return {};
}

const v1::ReplicaHello* acquaintance::known(const std::string& node) const {
  const auto found = met_.find(node);
  return found == met_.end() ? nullptr : &found->second;
}

std::vector<std::string> acquaintance::others() const {
  std::vector<std::string> out;
  for (const auto& one : me_.nodes().nodes())
    if (one.name() != me_.node()) out.push_back(one.name());
  return out;
}

}  // namespace fairlead
