#include "actors/replication/acquaintance.hpp"

#include <algorithm>
#include <utility>

#include "messages/lineage.hpp"

namespace fairlead {

namespace {

error refused(std::string sentence, std::string remedy) { return {v1::ERROR_CODE_CONFLICT, std::move(sentence), std::move(remedy)}; }

/// Copies of one store that went on apart from each other do not.
bool share_a_member(const v1::ShardMembers& one, const v1::ShardMembers& other) {
  return std::find_first_of(one.voters().begin(), one.voters().end(), other.voters().begin(), other.voters().end()) != one.voters().end();
}

std::string shard_of(const v1::ReplicaHello& which) { return "shard " + std::to_string(which.shard()); }

}  // namespace

acquaintance::acquaintance(v1::ReplicaHello me, std::vector<std::string> nodes) : me_(std::move(me)), nodes_(std::move(nodes)) {
  std::sort(nodes_.begin(), nodes_.end());
}

std::optional<raft::members> acquaintance::members() const {
  if (!has_begun(me_)) return std::nullopt;
  return raft::decode_members(me_.members().SerializeAsString());
}

void acquaintance::follow(const raft::members& all) { me_.mutable_members()->ParseFromString(*raft::encode(all)); }

status acquaintance::meet(const v1::ReplicaHello& you) {
  const auto where = shard_of(me_);
  if (you.shard() != me_.shard())
    return refused("A replica of " + shard_of(you) + " took this one for one of it, and it is one of " + where + ".",
                   "Report this as a bug.");
  if (std::find(nodes_.begin(), nodes_.end(), you.node()) == nodes_.end() || you.node() == me_.node())
    return refused("Node " + me_.node() + " does not name node " + you.node() + " among those that hold " + where + ".",
                   "Write the same shards.replicas in the node files of all of them.");
  if (you.replica() == 0) return invalid("Node " + you.node() + " has a replica of " + where + " without an id.", "Report this as a bug.");
  if (const auto owner = you.replica() == me_.replica() ? me_.node() : node_of(you.replica()); !owner.empty() && owner != you.node())
    return refused(
        "Nodes " + owner + " and " + you.node() + " have the same replica of " + where + ": the store of one is a copy of the other's.",
        "Stop the node with the copy, and give it an empty store.");
  if (has_begun(you) && raft::decode_members(you.members().SerializeAsString()) == std::nullopt)
    return invalid("Node " + you.node() + " names replicas of " + where + " that cannot be.", "Report this as a bug.");
  if (has_begun(me_) && has_begun(you) &&
      (compare(you.lineage(), me_.lineage()) != lineage_order::same || !share_a_member(me_.members(), you.members())))
    return refused("Nodes " + me_.node() + " and " + you.node() + " hold stores of " + where + " that began apart from each other (" +
                       to_text(me_.lineage()) + ", " + to_text(you.lineage()) + ").",
                   "Decide which one to keep, stop the node with the other one, and give it an empty store.");
  if (!has_begun(me_) && has_begun(you)) {
    *me_.mutable_members() = you.members();
    *me_.mutable_lineage() = you.lineage();
    me_.set_store_id(you.store_id());
    began_ = true;
  }
  met_[you.node()] = you;
  return nothing{};
}

bool acquaintance::begin(const v1::Lineage& lineage, const std::string& store_id) {
  if (has_begun(me_) || nodes_.front() != me_.node() || met_.size() + 1 != nodes_.size()) return false;
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
  for (const auto& one : nodes_)
    if (one != me_.node()) out.push_back(one);
  return out;
}

}  // namespace fairlead
