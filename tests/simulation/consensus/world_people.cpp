// Clients that propose without waiting, readers that ask for confirmed rounds, and operators that change members.

#include <algorithm>

#include "tests/simulation/consensus/world.hpp"

namespace fairlead::simulation {

void consensus_world::keep_proposing() {
  for (auto* who : leaders()) {
    for (auto burst = chance_.chance(20) ? 20 : 1; burst > 0; --burst) {
      const auto value = next_value_++;
      // Whoever proposes may be killed or deposed: what becomes of it is then unknown, and that is no acknowledgement.
      const auto life = who->life();
      const auto at = who->replica().entries().last_index() + 1;
      proposed_[who->id()][at] = value;
      feed(*who, raft::propose{raft::entry_kind::batches, std::make_shared<const std::string>(std::to_string(value))});
      if (who->is_up() && who->life() == life && who->replica().current_role() != raft::role::leader) break;
    }
  }
  after(chance_.between(1, 2 * propose_every_ms_), [this] { keep_proposing(); });
}

void consensus_world::keep_asking() {
  for (auto* who : leaders()) {
    tickets_[next_ticket_] = {who->id(), who->life(), judge_.last_acknowledged(), now_ms_};
    feed(*who, raft::confirm{next_ticket_++});
  }
  after(chance_.between(1, 80), [this] { keep_asking(); });
}

raft::log_index consensus_world::applied_everywhere() {
  const auto members = members_now();
  auto out = members.empty() ? 0 : judge_.last_committed();
  for (const auto* host : members) out = std::min(out, host->durable_applied());
  return out;
}

// What a state writes to its disk some time after it has applied it, and entries that are then no longer kept.
void consensus_world::keep_tidying() {
  for (auto& [id, host] : hosts_)
    if (host->is_up() && chance_.chance(500)) host->sync_state();
  const auto everywhere = applied_everywhere();
  if (log_is_compacted_)
    for (auto& [id, host] : hosts_)
      if (host->is_up() && host->stopped_until_ms <= now_ms_ && chance_.chance(300))
        feed(*host, raft::compact{log_leaves_some_behind_ ? host->durable_applied() : std::min(everywhere, host->durable_applied())});
  if (log_leaves_some_behind_) bring_copies();
  after(chance_.between(20, 200), [this] { keep_tidying(); });
}

// The copy goes from the leader's disk to that of a member that needs it, unless it has that much in the meantime.
void consensus_world::bring_copies() {
  for (auto* leader : leaders()) {
    for (const auto& [id, of] : std::map{leader->replica().others()}) {
      const auto& log = leader->replica().entries();
      const auto host = hosts_.find(id);
      const auto index = leader->durable_applied();
      if (!of.lacks_base || host == hosts_.end() || !host->second->is_up() || index < log.base_index()) continue;
      auto& to = *host->second;
      if (to.stopped_until_ms > now_ms_ || cut_.count({leader->id(), id}) > 0 || to.given_out() >= index) continue;
      if (to.replica().entries().term_at(index) == log.term_at(index)) continue;
      say("copy up to " + std::to_string(index) + " from " + std::to_string(leader->id()) + " to " + std::to_string(id));
      count("copies");
      to.stop(chance_);
      to.install(log.base_at(index).value());
      start(to);
    }
  }
}

void consensus_world::keep_changing_members() {
  if (now_ms_ < faults_end_ms_)
    for (auto* who : leaders()) change_members_at(*who);
  after(chance_.between(10, change_members_within_ms_), [this] { keep_changing_members(); });
}

void consensus_world::change_members_at(consensus_host& leader) {
  auto who = leader.replica().entries().current_members();
  auto& [voters, standbys] = who;
  const auto take = [](std::vector<raft::replica_id>& from, std::size_t at) {
    const auto id = from[at];
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
    return id;
  };
  const auto put = [](std::vector<raft::replica_id>& to, raft::replica_id id) {
    to.insert(std::upper_bound(to.begin(), to.end(), id), id);
  };
  switch (chance_.below(5)) {
    case 0: {  // a new one begins with a copy of this one's state
      if (standbys.size() + voters.size() >= 6) return;
      const auto index = log_leaves_some_behind_ ? leader.durable_applied() : applied_everywhere();
      const auto begin = leader.replica().entries().base_at(index);
      if (!begin) return;
      auto& fresh = add_host(*begin);
      put(standbys, fresh.id());
      start(fresh);
      break;
    }
    case 1:
    case 2:
      if (standbys.empty()) return;
      put(voters, take(standbys, chance_.below(standbys.size())));
      break;
    case 3:
      if (voters.size() < 2) return;
      put(standbys, take(voters, chance_.below(voters.size())));
      break;
    default:
      if (chance_.chance(500)) {
        if (standbys.empty()) return;
        take(standbys, chance_.below(standbys.size()));
      } else {
        const auto other = leader.replica().entries().current_members().others(leader.id());
        if (!other.empty()) feed(leader, raft::transfer{chance_.pick(other)}), count("transfers");
        return;
      }
  }
  std::string text;
  for (const auto id : voters) text += " " + std::to_string(id);
  for (const auto id : standbys) text += " (" + std::to_string(id) + ")";
  say("members at " + std::to_string(leader.id()) + ":" + text);
  feed(leader, raft::change_members{who});
  count("changes of members");
}

}  // namespace fairlead::simulation
