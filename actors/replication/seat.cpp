#include "actors/replication/seat.hpp"

#include <utility>

#include "actors/replication/describe.hpp"

namespace fairlead {

namespace {

v1::ReplicaHello hello_of(fairlead::store::journaled_store& own, const replica_seat::options& how) {
  v1::ReplicaHello out;
  out.set_shard(how.shard);
  out.set_node(how.node);
  out.set_replica(own.replica()->id);
  const auto& members = own.replica()->members;
  if (members.empty() || !out.mutable_members()->ParseFromString(members)) return out;
  // A shard that has begun has both.
  if (const auto id = own.known_shard(how.shard, how.shard_count)) out.set_store_id(*id);
  if (const auto lineage = own.claim_lineage({})) *out.mutable_lineage() = *lineage;
  return out;
}

}  // namespace

replica_seat::replica_seat(fairlead::store::journaled_store& own, options how, const clock& wall, std::function<std::int64_t()> boot_ms)
    : own_(own),
      options_(std::move(how)),
      wall_(wall),
      boot_ms_(std::move(boot_ms)),
      time_(wall, boot_ms_),
      led_time_(wall, boot_ms_),
      others_(hello_of(own, options_), options_.nodes) {
  options_.how.self = own.replica()->id;
  for (const auto& node : options_.nodes) nodes_[node] = {};
  nodes_[options_.node] = {options_.how.self, true};
  if (others_.members()) open();
}

void replica_seat::open() {
  options_.how.born_with = *others_.members();
  const std::lock_guard lock(guard_);
  replica_ = std::make_unique<replica>(own_, options_.how, boot_ms_, &time_);
  others_.follow(replica_->view().members);
  tell_nodes_locked();
  if (declines_) (void)replica_->decline(true);
}

void replica_seat::tell_nodes_locked() {
  if (!replica_) return;
  std::vector<raft::node_replica> all;
  for (const auto& [node, its] : nodes_) all.push_back(its);
  replica_->know_nodes(std::move(all));
  if (options_.shard_count < 2) return;  // the only shard stays where it is led
  std::vector<raft::replica_id> order;
  for (const auto& node : order_of_leaders(options_.shard, options_.nodes))
    if (const auto id = nodes_.at(node).id; id != 0) order.push_back(id);
  replica_->prefer(std::move(order));
}

status replica_seat::decline(bool on) {
  {
    const std::lock_guard lock(guard_);
    declines_ = on;
  }
  auto* const it = consensus();
  return it != nullptr ? it->decline(on) : status(nothing{});
}

status replica_seat::begin() {
  const auto& me = others_.me();
  if (auto written =
          own_.begin_shard(me.members().SerializeAsString(), {options_.shard, options_.shard_count, me.store_id()}, me.lineage());
      !written)
    return written;
  open();
  return nothing{};
}

void replica_seat::met(const std::string& node, raft::replica_id id) {
  const std::lock_guard lock(guard_);
  nodes_.at(node) = {id, true};
  tell_nodes_locked();
}

void replica_seat::lost(const std::string& node) {
  const std::lock_guard lock(guard_);
  nodes_.at(node).present = false;
  tell_nodes_locked();
}

void replica_seat::follow_members() {
  if (const auto* const it = consensus()) others_.follow(it->view().members);
}

replica* replica_seat::consensus() const {
  const std::lock_guard lock(guard_);
  return replica_.get();
}

v1::ReplicationStatus replica_seat::describe() const {
  replication_facts facts{options_.node, {}, {}, options_.how.election_ms, boot_ms_(), to_unix_ms(time_.now()), to_unix_ms(wall_.now())};
  {
    const std::lock_guard lock(guard_);
    for (const auto& [node, its] : nodes_) facts.ids[node] = its.id;
  }
  // What is there once stays.
  if (const auto* const it = consensus()) facts.view = it->view();
  return describe_replication(facts);
}

}  // namespace fairlead
