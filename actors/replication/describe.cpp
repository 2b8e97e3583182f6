#include "actors/replication/describe.hpp"

#include <algorithm>

#include "actors/core/cluster/state_comparison.hpp"

namespace fairlead {

namespace {

const char* word_of(raft::role role) {
  switch (role) {
    case raft::role::follower: return "follower";
    case raft::role::leader: return "leader";
    default: return "candidate";
  }
}

std::int64_t ago(std::int64_t now_ms, std::int64_t then_ms) { return then_ms == 0 ? -1 : std::max<std::int64_t>(now_ms - then_ms, 0); }

/// Why a replica is not what it should be, or does not catch up by itself; empty: it is.
std::string trouble_of(const replica_view::other& one, const std::string& no_copy, const std::optional<v1::StateComparison>& compared) {
  const auto differs = compared ? core::difference_of(*compared, one.id) : std::string{};
  if (!differs.empty()) return differs;
  if (one.went_back) return "it has lost entries that it had confirmed: an older copy of its store was put in its place";
  if (one.lacks_base && !no_copy.empty()) return "it needs a copy of the state, and none can be made: " + no_copy;
  return {};
}

}  // namespace

v1::ReplicationStatus describe_replication(const replication_facts& from) {
  v1::ReplicationStatus out;
  out.set_node(from.node);
  out.set_format(from.format);
  out.set_clock_ahead_ms(from.shard_unix_ms - from.wall_unix_ms);
  if (from.comparison) *out.mutable_comparison() = *from.comparison;
  for (const auto& [node, at_ms] : from.damaged) {
    auto* line = out.add_damages();
    line->set_node(node);
    line->set_at_unix_ms(at_ms);
  }
  for (const auto& [node, id] : from.ids)
    if (from.leaving.count(node) == 0) out.add_nodes(node);
  if (!from.view) {
    out.set_role("new");
    out.set_contact_ms_ago(-1);
    return out;
  }
  const auto& view = *from.view;
  const auto unmet = [](const auto& one) { return one.second == 0; };
  const auto count_unmet = std::count_if(from.ids.begin(), from.ids.end(), unmet);
  const auto has = [&](raft::replica_id id) {
    return std::find_if(from.ids.begin(), from.ids.end(), [&](const auto& one) { return one.second == id; });
  };
  auto all = view.members.voters;
  all.insert(all.end(), view.members.standbys.begin(), view.members.standbys.end());
  const auto count_homeless = std::count_if(all.begin(), all.end(), [&](raft::replica_id id) { return has(id) == from.ids.end(); });
  const auto node_of = [&](raft::replica_id id) {
    auto found = has(id);
    if (found == from.ids.end() && count_unmet == 1 && count_homeless == 1) found = std::find_if(from.ids.begin(), from.ids.end(), unmet);
    return found == from.ids.end() ? std::string{} : found->first;
  };
  out.set_role(word_of(view.role));
  out.set_term(view.term);
  out.set_epoch(view.epoch);
  if (view.leader != 0) out.set_leader(node_of(view.leader));
  out.set_last_index(view.last_index);
  out.set_commit_index(view.commit_index);
  out.set_shown_index(view.shown_index);
  out.set_contact_ms_ago(ago(from.boot_ms, view.contact_ms));
  out.set_trouble(view.quarantined.empty() ? from.cannot_read : view.quarantined);
  if (view.role != raft::role::leader) return out;

  const auto& voters = view.members.voters;
  const bool enough_votes = voters.size() >= raft::votes_of(static_cast<std::size_t>(out.nodes_size()));
  std::size_t sound = 1;  // voters that would elect another leader now
  for (const auto& one : view.others) {
    const auto node = node_of(one.id);
    if (node.empty() && count_unmet == 0) continue;  // its node has another store by now
    auto* line = out.add_others();
    line->set_node(node);
    line->set_votes(view.members.votes(one.id));
    line->set_leaves(from.leaving.count(node) != 0);
    // Of those that do not vote one may have to take the place of a voter whose node has another store by now.
    line->set_stands_by(!line->votes() && enough_votes && count_homeless == 0);
    line->set_trouble(trouble_of(one, view.no_copy, from.comparison));
    line->set_needs_copy(one.lacks_base);
    if (one.lacks_base && view.copy.to == one.id) {
      line->set_copied_bytes(view.copy.bytes_asked);
      line->set_copy_bytes(view.copy.of_bytes);
    }
    // A leader begins with nothing confirmed, and gives each an election timeout to answer.
    line->set_heard_ms_ago(one.match == 0 ? -1 : ago(from.boot_ms, one.last_contact_ms));
    if (one.match == 0) continue;
    line->set_behind_entries(view.last_index - std::min(one.match, view.last_index));
    line->set_behind_bytes(one.behind_bytes);
    if (one.lacks_since_ms != 0) line->set_behind_ms(std::max<std::int64_t>(from.shard_unix_ms - one.lacks_since_ms, 0));
    if (line->votes() && line->heard_ms_ago() < from.election_ms && line->trouble().empty() && !one.lacks_base) ++sound;
  }
  // It came with a new store, and is not one of them yet.
  for (const auto& [node, id] : from.ids) {
    if (id == 0 || view.members.has(id) || from.leaving.count(node) != 0) continue;
    auto* line = out.add_others();
    line->set_node(node);
    line->set_heard_ms_ago(-1);
  }
  const auto majority = voters.size() / 2 + 1;
  out.set_may_lose(static_cast<std::uint32_t>(sound - std::min(sound, majority)));
  return out;
}

}  // namespace fairlead
