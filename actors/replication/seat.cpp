#include "actors/replication/seat.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/cluster/shard_nodes.hpp"
#include "actors/replication/describe.hpp"
#include "messages/lineage.hpp"
#include "store/rows/node_rows.hpp"

namespace fairlead {

namespace {

v1::ReplicaHello hello_of(fairlead::store::journaled_store& own, const replica_seat::options& how) {
  v1::ReplicaHello out;
  out.set_shard(how.shard);
  out.set_node(how.node);
  out.set_replica(own.replica()->id);
  out.set_release(how.release);
  out.set_reads(how.reads);
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
  format_ = core::format_of(others_.nodes());
  damaged_.clear();
  std::map<std::string, raft::node_replica> next;
  for (const auto& one : others_.nodes().nodes()) {
    if (one.damaged_at_unix_ms() != 0) damaged_[one.name()] = one.damaged_at_unix_ms();
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
  if (declines_locked()) (void)replica_->decline(true);
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

status replica_seat::decline(bool on, why_not_lead why) {
  const std::lock_guard one_at_a_time(declining_);
  {
    const std::lock_guard lock(guard_);
    (why == why_not_lead::drained ? drained_ : damaged_here_) = on;
    on = declines_locked();
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
    if (leaves_ != before) declines = declines_locked();
    tell_nodes_locked();
  }
  if (it == nullptr) return;
  if (declines) (void)it->decline(*declines);
  if (view.role != raft::role::leader || view.epoch == 0) return all_know_since_ms_.reset();
  const auto met = [&](const std::string& node) { return node == options_.node ? options_.how.self : nodes_.at(node).id; };
  auto members = view.members.voters;
  members.insert(members.end(), view.members.standbys.begin(), view.members.standbys.end());
  if (const auto next = core::brought_up_to_date(others_.nodes(), met, members)) return propose_nodes(*next, view);
  upgrade_in_time(view);
}

status replica_seat::check_format() const {
  const auto format = core::format_of(others_.nodes());
  if (format <= options_.reads) return nothing{};
  return error{v1::ERROR_CODE_STORE_NEWER,
               "Shard " + std::to_string(options_.shard) + " is written in format " + std::to_string(format) +
                   " by now, and this release knows " + std::to_string(options_.reads) + ".",
               "Run the release of the other nodes that hold the shard, or a later one."};
}

/// In the latest format that a node knows: as long as this one does not know it, that is the reason.
result<v1::ShardNodes> replica_seat::upgraded() const {
  const auto hello = [this](const std::string& node) -> const v1::ReplicaHello* {
    if (node == options_.node) return &others_.me();
    const auto its = nodes_.find(node);
    return its != nodes_.end() && its->second.present ? others_.known(node) : nullptr;
  };
  auto latest = options_.reads;
  for (const auto& one : others_.nodes().nodes())
    if (const auto* const said = hello(one.name())) latest = std::max(latest, core::reads(*said));
  return core::with_format(others_.nodes(), latest, hello);
}

/// A node that goes back to its former release can do so for a day, if no operator ends the upgrade before.
void replica_seat::upgrade_in_time(const replica_view& now) {
  const bool may_rise = core::format_of(others_.nodes()) < options_.reads;
  const auto next = may_rise ? std::optional{upgraded()} : std::nullopt;
  if (!next || !next->ok()) return all_know_since_ms_.reset();
  if (!all_know_since_ms_) all_know_since_ms_ = boot_ms_();
  if (boot_ms_() - *all_know_since_ms_ >= options_.upgrade_after_ms) propose_nodes(**next, now);
}

void replica_seat::cannot_read(std::string why) {
  const auto* const it = consensus();
  if (it == nullptr) return;
  const auto next = it->view().last_index + 1;
  const std::lock_guard lock(guard_);
  unreadable_ = {std::move(why), next};
}

status replica_seat::meet(const v1::ReplicaHello& you) {
  if (!outlived_) return others_.meet(you);
  return error{v1::ERROR_CODE_UNAVAILABLE,
               "Shard " + std::to_string(options_.shard) + " goes on elsewhere in a later lineage than that of node " + options_.node + ".",
               "Give node " + options_.node + " an empty store, and let it join again."};
}

bool replica_seat::heard_of(const v1::Lineage& latest) {
  auto* const it = consensus();
  auto own = others_.me().lineage();
  own.set_several(true);  // which it is not stored with
  if (it == nullptr || compare(latest, own) != lineage_order::later || !it->view().quarantined.empty()) return false;
  it->outlived("the shard goes on elsewhere in a later lineage (" + to_text(latest) + ")");
  outlived_ = true;
  return true;
}

bool replica_seat::is_proposed(const v1::ShardNodes& next, const replica_view& now) const {
  return proposed_under_ == now.epoch && proposed_nodes_ >= next.version();
}

/// One list at a time: the next one is made from what counts by then.
void replica_seat::propose_nodes(const v1::ShardNodes& next, const replica_view& now) {
  if (is_proposed(next, now)) return;
  store::batch row;
  store::put_nodes(row, next);
  if (!consensus()->propose_rows(row)) return;
  proposed_under_ = now.epoch;
  proposed_nodes_ = next.version();
}

result<std::optional<v1::ShardNodes>> replica_seat::change_nodes(const v1::ShardNodesRequest& asked) {
  follow();
  auto what = asked;
  if (what.instead_of_damaged()) {
    what.mutable_node()->set_damaged_at_unix_ms(std::max(to_unix_ms(wall_.now()), others_.nodes().damaged_at_unix_ms() + 1));
  }
  const auto& now = others_.nodes();
  const auto its = nodes_.find(what.node().name());
  // A node that asks whether it may begin anew runs still.
  const bool asks_first = what.instead_of_damaged() && what.only_ask();
  const bool is_linked = its != nodes_.end() && its->second.present && !asks_first;
  const bool compares = what.verb() == v1::ShardNodesRequest::COMPARE;
  auto next = what.verb() == v1::ShardNodesRequest::UPGRADE ? upgraded()
              : compares                                    ? result<v1::ShardNodes>(now)
                                                            : core::after_request(now, what, is_linked);
  const bool is_so = next.ok() && next->version() == now.version() && now.version() != 0;
  // Also where it is led no longer: a leader that is to leave hands over at once.
  if (is_so && !compares && what.verb() != v1::ShardNodesRequest::SHOW) return std::optional{now};
  auto* const it = consensus();
  const auto view = it != nullptr ? it->view() : replica_view{};
  if (view.role != raft::role::leader || view.epoch == 0)
    return error{v1::ERROR_CODE_UNAVAILABLE, "Shard " + std::to_string(options_.shard) + " is not led by node " + options_.node + ".",
                 "Try again in a moment."};
  // What the node file says comes into the log first.
  if (now.version() == 0) return std::optional<v1::ShardNodes>{};
  if (!next) return next.failure();
  if (compares) {
    const auto has_begun = compare_states(what.above(), view);
    if (!has_begun) return has_begun.failure();
    if (!*has_begun) return std::optional<v1::ShardNodes>{};
  }
  if (is_so) return std::optional{now};
  // It may come to count from here on, whatever becomes of the others.
  if (is_proposed(*next, view)) return std::optional<v1::ShardNodes>{};
  if (what.verb() == v1::ShardNodesRequest::LEAVE)
    if (auto can = raft::can_leave(known_nodes(view), what.node().name()); !can.ok()) return can.failure();
  if (what.instead_of_damaged())
    if (auto can = can_rebuild(what, view); !can.ok()) return can.failure();
  if (what.only_ask()) return std::optional{what.verb() == v1::ShardNodesRequest::UPGRADE ? *next : now};
  propose_nodes(*next, view);
  return std::optional<v1::ShardNodes>{};
}

/// Whether a comparison above that number has begun; else one is to begin.
result<bool> replica_seat::compare_states(std::uint64_t above, const replica_view& now) {
  if (now.others.empty())
    return error{v1::ERROR_CODE_WRONG_STATE, "Shard " + std::to_string(options_.shard) + " is held by node " + options_.node + " alone.",
                 "There is nothing to compare."};
  const auto last = store::comparison_in(*own_.read());
  const bool has_begun = last && last->number() > above;
  if (!has_begun) wanted_comparison_ = above + 1;
  return has_begun;
}

raft::known_nodes replica_seat::known_nodes(const replica_view& now) const {
  raft::known_nodes out{options_.shard, nodes_, {options_.how.self}, now.members};
  const auto shard_ms = to_unix_ms(time_.now());
  for (const auto& one : now.others)
    if (keeps_up(one, boot_ms_(), shard_ms, options_.how.election_ms)) out.follow.insert(one.id);
  return out;
}

status replica_seat::can_rebuild(const v1::ShardNodesRequest& what, const replica_view& now) const {
  const auto& node = what.node().name();
  // From then on no vote is taken away for which its own is needed (raft/member_plan.hpp).
  const auto asks = std::find_if(now.others.begin(), now.others.end(), [&](const auto& one) { return others_.node_of(one.id) == node; });
  if (what.only_ask() && asks != now.others.end() && !asks->declines)
    return error{v1::ERROR_CODE_UNAVAILABLE,
                 "It is not known yet that node " + node + " does not want to lead shard " + std::to_string(options_.shard) + ".",
                 "Try again in a moment."};
  const auto& own = others_.me().lineage();
  if (compare(what.lineage(), own) != lineage_order::same)
    return error{v1::ERROR_CODE_CONFLICT,
                 "The damaged store of node " + node + " is of the lineage " + to_text(what.lineage()) + ", and shard " +
                     std::to_string(options_.shard) + " goes on as the lineage " + to_text(own) + ".",
                 "Look at what the damaged store has, then give the node an empty one."};
  const auto* const listed = core::find_node(others_.nodes(), node);
  if (listed == nullptr || listed->leaves())
    return error{v1::ERROR_CODE_NOT_FOUND, "Shard " + std::to_string(options_.shard) + " was taken away from node " + node + ".",
                 "Remove its store of that shard, and run `fairlead cluster join` if it is to hold the shard again."};
  return raft::can_rebuild(known_nodes(now), node, listed->replica());
}

replica* replica_seat::consensus() const {
  const std::lock_guard lock(guard_);
  return replica_.get();
}

std::string replica_seat::name_of(raft::replica_id id) const {
  const std::lock_guard lock(guard_);
  for (const auto& [node, its] : nodes_)
    if (its.id == id) return node;
  // It has joined, and has not introduced itself yet.
  for (const auto& [node, listed] : listed_)
    if (listed == id) return node;
  return "of replica " + std::to_string(id);
}

v1::ReplicationStatus replica_seat::describe() const {
  replication_facts facts{options_.node,          {}, {}, {}, options_.how.election_ms, boot_ms_(), to_unix_ms(time_.now()),
                          to_unix_ms(wall_.now())};
  std::pair<std::string, raft::log_index> unreadable;
  {
    const std::lock_guard lock(guard_);
    for (const auto& [node, its] : nodes_) {
      facts.ids[node] = its.id;
      if (its.leaves) facts.leaving.insert(node);
    }
    facts.damaged = damaged_;
    facts.format = format_;
    unreadable = unreadable_;
  }
  // What is there once stays.
  if (const auto* const it = consensus()) facts.view = it->view();
  facts.comparison = store::comparison_in(*own_.read());
  if (facts.view && facts.view->last_index < unreadable.second) facts.cannot_read = std::move(unreadable.first);
  return describe_replication(facts);
}

}  // namespace fairlead
