// Who leads: pre-votes, votes, and what is done with them (Ongaro 2014, 3.4, 3.6, 9.6).

#include <algorithm>
#include <utility>

#include "actors/core/raft/consensus.hpp"

namespace fairlead::raft {

// A pre-vote asks whether an election would be won, so that a replica that was cut off raises no term when it comes back.
void consensus::campaign(bool pre, bool transfer) {
  // Nothing that a candidate says leaves before its vote for itself is durable.
  if (journal_stands_still()) return;
  become_follower(term_, 0);
  role_ = pre ? role::pre_candidate : role::candidate;
  if (!pre) set_hard(term_ + 1, how_.self);
  for (const auto other : electors()) {
    if (other == how_.self) continue;
    send(other, pre ? term_ + 1 : term_, vote_request{pre, transfer, log_.last_index(), log_.last_term()}, hard_position_);
  }
  // Its own vote counts as those of others do: when it is durable. So a sole voter leads no term that its disk does not know (B7, R8).
  if (pre) take_vote(how_.self, true);
}

/// Whose votes count.
std::vector<replica_id> consensus::electors() const {
  auto out = log_.current_members().voters;
  const auto& standbys = log_.current_members().standbys;
  if (planted(&planted_faults::elect_with_standbys)) out.insert(out.end(), standbys.begin(), standbys.end());
  if (planted(&planted_faults::elect_with_removed))
    for (const auto one : log_.members_at(log_.base_index()).voters)
      if (std::find(out.begin(), out.end(), one) == out.end()) out.push_back(one);
  return out;
}

void consensus::take_vote(replica_id from, bool granted) {
  votes_.emplace(from, granted);
  std::size_t yes = 0;
  std::size_t no = 0;
  for (const auto each : electors()) {
    const auto vote = votes_.find(each);
    if (vote == votes_.end()) continue;
    ++(vote->second ? yes : no);
  }
  const auto majority = log_.current_members().voters.size() / 2 + 1;
  if (yes >= majority) {
    if (role_ == role::pre_candidate)
      campaign(false, false);
    else
      lead();
  } else if (no >= majority) {
    become_follower(term_, 0);
  }
}

// Every replica answers, whatever it takes itself for: one that was just made a voter may not know it yet (B14).
void consensus::answer(const message& from, const vote_request& ask) {
  const bool covers = log_.is_covered_by(ask.last_index, ask.last_term) || planted(&planted_faults::vote_for_any_log);
  if (ask.pre) {
    const bool yes = from.term > term_ && covers && !follows_a_leader();
    return send(from.from, yes ? from.term : term_, vote_reply{true, yes}, hard_position_);
  }
  const bool may = vote_ == from.from || (vote_ == 0 && leader_ == 0) || planted(&planted_faults::vote_twice);
  const bool yes = may && covers;
  if (yes && vote_ != from.from) set_hard(term_, from.from);
  if (yes) silent_ms_ = 0;
  send(from.from, term_, vote_reply{false, yes}, planted(&planted_faults::vote_before_durable) ? 0 : hard_position_);
}

void consensus::answer(const message& from, const vote_reply& said) {
  if (role_ != (said.pre ? role::pre_candidate : role::candidate)) return;
  if (said.pre && said.granted && from.term != term_ + 1) return;
  take_vote(from.from, said.granted);
}

void consensus::answer(const message&, const timeout_now&) {
  if (role_ != role::leader && may_campaign() && !declines_) campaign(false, true);
}

// Until the change that takes its vote is known to be committed the others may need it: they may lack the change, and it may have the
// longest log (Ongaro 2014, 4.2.2). A start forgets what is committed, so a vote by any members since the applied position counts.
bool consensus::may_campaign() const { return log_.votes_since(commit_, how_.self); }

bool consensus::follows_a_leader() const {
  if (role_ == role::leader) return now_.boot_ms - majority_contact_ms() < how_.election_ms;
  return leader_ != 0 && silent_ms_ < how_.election_ms;
}

}  // namespace fairlead::raft
