#include "actors/replication/seat.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/cluster/shard_nodes.hpp"
#include "actors/replication/describe.hpp"
#include "store/rows/node_rows.hpp"

namespace fairlead {

namespace {

v1::ReplicaHello hello_of(fairlead::store::journaled_store& own, const replica_seat::options& how) {
  v1::ReplicaHello out;
  out.set_shard(how.shard);
  out.set_node(how.node);
  out.set_replica(own.replica()->id);
  *out.mutable_nodes() = store::nodes_in(*own.read()).value_or(core::shard_nodes_of(how.nodes));
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
      others_(hello_of(own, options_)) {
  options_.how.self = own.replica()->id;
  take_nodes_locked();
  if (others_.members()) open();
}

void replica_seat::take_nodes_locked() {
  std::map<std::string, raft::node_replica> next;
  for (const auto& one : others_.nodes().nodes()) {
    const auto before = nodes_.find(one.name());
    auto& its = next[one.name()];
    if (before != nodes_.end()) its = before->second;
    changed_ = changed_ || before == nodes_.end();
    // What it has said to this process counts more than what it has said to a leader, unless that is news and it is away.
    const bool is_news = std::exchange(listed_[one.name()], one.replica()) != one.replica();
    if (its.id == 0 || (is_news && !its.present && one.replica() != 0)) its.id = one.replica();
    its.leaves = one.leaves();
  }
  changed_ = changed_ || next.size() != nodes_.size();
  nodes_ = std::move(next);
  if (const auto own = nodes_.find(options_.node); own != nodes_.end()) {
    own->second = {options_.how.self, true, own->second.leaves};
    leaves_ = own->second.leaves;
  }
}

void replica_seat::open() {
  options_.how.born_with = *others_.members();
  const std::lock_guard lock(guard_);
  replica_ = std::make_unique<replica>(own_, options_.how, boot_ms_, &time_);
  others_.follow(replica_->view().members);
  tell_nodes_locked();
  if (declines_ || leaves_) (void)replica_->decline(true);
}

void replica_seat::tell_nodes_locked() {
  if (!replica_) return;
  std::vector<raft::node_replica> all;
  for (const auto& [node, its] : nodes_) all.push_back(its);
  replica_->know_nodes(std::move(all));
  if (options_.shard_count < 2) return;  // the only shard stays where it is led
  std::vector<std::string> names;
  for (const auto& [node, its] : nodes_)
    if (!its.leaves) names.push_back(node);
  std::vector<raft::replica_id> order;
  for (const auto& node : order_of_leaders(options_.shard, std::move(names)))
    if (const auto id = nodes_.at(node).id; id != 0) order.push_back(id);
  replica_->prefer(std::move(order));
}

status replica_seat::decline(bool on) {
  const std::lock_guard one_at_a_time(declining_);
  {
    const std::lock_guard lock(guard_);
    declines_ = on;
    on = on || leaves_;
  }
  auto* const it = consensus();
  return it != nullptr ? it->decline(on) : status(nothing{});
}

status replica_seat::begin() {
  const auto& me = others_.me();
  if (auto written = own_.begin_shard(me.members().SerializeAsString(), {options_.shard, options_.shard_count, me.store_id()}, me.lineage(),
                                      me.nodes().SerializeAsString());
      !written)
    return written;
  open();
  return nothing{};
}

void replica_seat::met(const std::string& node, raft::replica_id id) {
  const std::lock_guard lock(guard_);
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  found->second.id = id;
  found->second.present = true;
  tell_nodes_locked();
}

void replica_seat::lost(const std::string& node) {
  const std::lock_guard lock(guard_);
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  found->second.present = false;
  tell_nodes_locked();
}

bool replica_seat::follow_log() {
  follow();
  return std::exchange(changed_, false);
}

void replica_seat::follow() {
  auto* const it = consensus();
  // A new replica may have heard of the nodes from others.
  const auto view = it != nullptr ? it->view() : replica_view{};
  if (it != nullptr) {
    others_.follow(view.members);
    if (const auto row = store::nodes_in(*own_.read())) others_.follow(*row);
  }
  const std::lock_guard one_at_a_time(declining_);
  std::optional<bool> declines;
  {
    const std::lock_guard lock(guard_);
    const auto before = leaves_;
    take_nodes_locked();
    if (leaves_ != before) declines = declines_ || leaves_;
    tell_nodes_locked();
  }
  if (it == nullptr) return;
  if (declines) (void)it->decline(*declines);
  if (view.role != raft::role::leader || view.epoch == 0) return;
  const auto met = [&](const std::string& node) { return node == options_.node ? options_.how.self : nodes_.at(node).id; };
  auto members = view.members.voters;
  members.insert(members.end(), view.members.standbys.begin(), view.members.standbys.end());
  if (const auto next = core::brought_up_to_date(others_.nodes(), met, members)) propose_nodes(*next, view);
}

/// One list at a time: the next one is made from what counts by then.
void replica_seat::propose_nodes(const v1::ShardNodes& next, const replica_view& now) {
  if (proposed_under_ == now.epoch && proposed_nodes_ >= next.version()) return;
  store::batch row;
  store::put_nodes(row, next);
  if (!consensus()->propose_rows(row)) return;
  proposed_under_ = now.epoch;
  proposed_nodes_ = next.version();
}

result<std::optional<v1::ShardNodes>> replica_seat::change_nodes(const v1::ShardNodesRequest& what) {
  follow();
  const auto& now = others_.nodes();
  const auto its = nodes_.find(what.node().name());
  auto next = core::after_request(now, what, its != nodes_.end() && its->second.present);
  const bool is_so = next.ok() && next->version() == now.version() && now.version() != 0;
  // Also where it is led no longer: a leader that is to leave hands over at once.
  if (is_so && what.verb() != v1::ShardNodesRequest::SHOW) return std::optional{now};
  auto* const it = consensus();
  const auto view = it != nullptr ? it->view() : replica_view{};
  if (view.role != raft::role::leader || view.epoch == 0)
    return error{v1::ERROR_CODE_UNAVAILABLE, "Shard " + std::to_string(options_.shard) + " is not led by node " + options_.node + ".",
                 "Try again in a moment."};
  // What the node file says comes into the log first.
  if (now.version() == 0) return std::optional<v1::ShardNodes>{};
  if (!next) return next.failure();
  if (is_so) return std::optional{now};
  if (what.verb() == v1::ShardNodesRequest::LEAVE)
    if (auto can = can_do_without(what.node().name(), view); !can.ok()) return can.failure();
  if (what.only_ask()) return std::optional{now};
  propose_nodes(*next, view);
  return std::optional<v1::ShardNodes>{};
}

/// Of the nodes that stay a majority has to follow.
status replica_seat::can_do_without(const std::string& node, const replica_view& now) const {
  const auto boot_ms = boot_ms_();
  const auto shard_ms = to_unix_ms(time_.now());
  std::size_t stay = 0, sound = 0;
  for (const auto& [name, its] : nodes_) {
    if (its.leaves || name == node) continue;
    ++stay;
    const auto follows = [&, id = its.id](const auto& one) {
      return one.id == id && keeps_up(one, boot_ms, shard_ms, options_.how.election_ms);
    };
    if (name == options_.node || std::any_of(now.others.begin(), now.others.end(), follows)) ++sound;
  }
  if (2 * sound > stay) return nothing{};
  return error{v1::ERROR_CODE_WRONG_STATE,
               "Shard " + std::to_string(options_.shard) + " cannot do without node " + node + " now: of the " + std::to_string(stay) +
                   " nodes that stay only " + std::to_string(sound) + " follow.",
               "Start the others, or let other nodes join first: fairlead cluster join."};
}

replica* replica_seat::consensus() const {
  const std::lock_guard lock(guard_);
  return replica_.get();
}

v1::ReplicationStatus replica_seat::describe() const {
  replication_facts facts{options_.node,          {}, {}, {}, options_.how.election_ms, boot_ms_(), to_unix_ms(time_.now()),
                          to_unix_ms(wall_.now())};
  {
    const std::lock_guard lock(guard_);
    for (const auto& [node, its] : nodes_) {
      facts.ids[node] = its.id;
      if (its.leaves) facts.leaving.insert(node);
    }
  }
  // What is there once stays.
  if (const auto* const it = consensus()) facts.view = it->view();
  return describe_replication(facts);
}

}  // namespace fairlead
