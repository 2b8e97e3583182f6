// What a follower does with what its leader sends (Ongaro 2014, 3.5).

#include <algorithm>
#include <utility>

#include "actors/core/raft/consensus.hpp"

namespace fairlead::raft {

void consensus::answer(const message& from, const append& what) {
  if (!obey(from)) return;
  heard(what.stamp_ms);
  append_reply reply;
  reply.number = what.number;
  // What is committed here is the same everywhere.
  const auto known = what.previous_index < commit_ ? std::nullopt : log_.term_at(what.previous_index);
  if (what.previous_index >= commit_ && known != what.previous_term) {
    reply.rejected = true;
    reply.previous_index = what.previous_index;
    reply.hint_index = log_.last_of_term(what.previous_index, what.previous_term);
    reply.hint_term = log_.term_at(reply.hint_index).value_or(0);
    return send(from.from, term_, reply, hard_position_);
  }
  for (const auto& each : what.entries) {
    if (each.index <= log_.base_index()) continue;
    const auto here = log_.term_at(each.index);
    if (here == each.term) continue;
    if (each.index <= commit_)
      return quarantine("the leader has another entry at index " + std::to_string(each.index) + ", which is committed here");
    if (here) {
      log_.cut_from(each.index, planted(&planted_faults::keep_cut_members));
      for (auto& one : writing_) one.last_index = std::min(one.last_index, each.index - 1);
      if (!planted(&planted_faults::forget_matched_cut)) durable_index_ = std::min(durable_index_, each.index - 1);
      write(cut{each.index, log_.last_term(), log_.current_members()});
    }
    append_entry(each);
    shown_ms_ = std::min(what.stamp_ms, each.stamp_ms);
  }
  // Only what this leader's messages have shown: there may be left-over entries of another leader behind it (B2, B3, R2, R3).
  const auto shown = what.previous_index + what.entries.size();
  reply.matched = std::max(shown, commit_);
  if (planted(&planted_faults::confirm_unchecked)) reply.matched = log_.last_index();
  commit_to(std::min(what.commit, planted(&planted_faults::commit_unchecked) ? log_.last_index() : shown));
  send(from.from, term_, reply, planted(&planted_faults::confirm_before_durable) ? hard_position_ : position_);
}

void consensus::answer(const message& from, const heartbeat& what) {
  if (!obey(from)) return;
  // The store that had it may be back.
  const auto lacked = log_.term_at(what.lacks_index);
  const bool is_there = what.lacks_index < log_.base_index() || (lacked && (what.lacks_term == 0 || *lacked == what.lacks_term));
  // A leader tells nobody of more commits than that one has confirmed to it.
  if ((what.lacks_index != 0 && !is_there) || what.commit > log_.last_index()) {
    went_back_ = true;
    return quarantine("it lacks entries that it had confirmed: its store is an older copy");
  }
  heard(what.stamp_ms);
  commit_to(what.commit);
  // Says that this term is durable here, and so that a majority of such answers leaves none for a later one; and that what it says it has is.
  send(from.from, term_, heartbeat_reply{what.round, declines_, what.lacks_index}, what.lacks_index != 0 ? position_ : hard_position_);
}

// False: it cannot be the leader of this term.
bool consensus::obey(const message& from) {
  if (role_ == role::leader) {
    quarantine("replica " + std::to_string(from.from) + " leads in term " + std::to_string(term_) + ", and so does this one");
    return false;
  }
  if (role_ != role::follower || leader_ != from.from) {
    if (leader_ != 0 && leader_ != from.from) {
      quarantine("replicas " + std::to_string(leader_) + " and " + std::to_string(from.from) + " both lead in term " +
                 std::to_string(term_));
      return false;
    }
    become_follower(term_, from.from);
  }
  silent_ms_ = 0;
  return true;
}

// One that was overtaken shows less than has been heard, and whoever goes on from it is late, never early.
void consensus::heard(std::int64_t shown_ms) { heard_ = {shown_ms, now_.boot_ms}; }

void consensus::commit_to(log_index up_to) { commit_ = std::max(commit_, up_to); }

}  // namespace fairlead::raft
