// Where a shard is led, and which replicas it has: what replica decides beside the log.

#include <algorithm>
#include <utility>

#include "actors/replication/replica.hpp"

namespace fairlead {

status replica::decline(bool on) {
  const std::lock_guard lock(guard_);
  step(raft::decline{on});
  place_.decline(on);
  look_at_place();
  return nothing{};
}

void replica::outlived(std::string why) {
  const std::lock_guard lock(guard_);
  step(raft::outlived{std::move(why)});
}

void replica::prefer(std::vector<raft::replica_id> order) {
  const std::lock_guard lock(guard_);
  place_.prefer(std::move(order));
}

/// A lead that has not begun is not handed over.
void replica::look_at_place() {
  if (epoch_ == 0 || consensus_.epoch() == 0) return place_.forget();
  if (!place_.is_due(boot_ms_())) return;
  const auto at = now();
  if (const auto to = place_.look(view_locked(), at.boot_ms, at.shard_ms)) step(raft::transfer{*to});
}

void replica::know_nodes(std::vector<raft::node_replica> all) {
  const std::lock_guard lock(guard_);
  of_nodes_ = std::move(all);
}

void replica::look_at_members() {
  if (epoch_ == 0 || consensus_.epoch() == 0 || of_nodes_.empty()) return;
  const auto& members = consensus_.entries().current_members();
  const auto stays_voter = [&](const raft::node_replica& one) { return members.votes(one.id) && !one.leaves; };
  const auto enough = raft::votes_of(of_nodes_.size());
  const bool nobody_else = members.standbys.empty() && members.voters.size() == enough && of_nodes_.size() == enough;
  if (nobody_else && std::all_of(of_nodes_.begin(), of_nodes_.end(), stays_voter)) return;
  const auto at = now();
  if (at.boot_ms < next_look_at_members_ms_) return;
  next_look_at_members_ms_ = at.boot_ms + how_.heartbeat_ms;
  std::vector<raft::known_member> others;
  for (const auto& one : view_locked().others)
    others.push_back({one.id, keeps_up(one, at.boot_ms, at.shard_ms, how_.election_ms), at.boot_ms - one.last_contact_ms, one.declines});
  if (auto next = raft::next_members(members, how_.self, place_.declines(), others, of_nodes_))
    step(raft::change_members{*std::move(next)}, at);
}

}  // namespace fairlead
