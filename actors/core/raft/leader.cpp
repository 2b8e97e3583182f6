// What a leader does: its log to the others, commits, confirmed rounds, members, transfer (Ongaro 2014, 3.5, 4, 6.4).

#include <algorithm>
#include <functional>
#include <utility>

#include "actors/core/raft/consensus.hpp"

namespace fairlead::raft {

// The entry of its own term comes first: only entries of this term are committed by being counted (B1, R1).
void consensus::lead() {
  role_ = role::leader;
  leader_ = how_.self;
  votes_.clear();
  round_ = sent_ = 0;
  follow_members(log_.last_index() + 1);
  propose_entry(entry_kind::epoch, nullptr);
  epoch_ = log_.last_index();
  last_beat_ms_ = now_.boot_ms;
}

// A replica that is new here is as one that was heard of now: it has an election timeout to answer.
void consensus::follow_members(log_index next) {
  const auto ids = log_.current_members().others(how_.self);
  for (auto each = others_.begin(); each != others_.end();)
    each = std::find(ids.begin(), ids.end(), each->first) == ids.end() ? others_.erase(each) : std::next(each);
  for (const auto id : ids) {
    if (others_.count(id) > 0) continue;
    auto& one = others_[id];
    one.next = next;
    one.sent_when_followed = sent_;
    one.last_contact_ms = one.looked_at_ms = now_.boot_ms;
  }
}

void consensus::tick_as_leader() {
  // Others may have elected another one long ago (check-quorum; Ongaro 2014, 6.2).
  if (now_.boot_ms - majority_contact_ms() > how_.election_ms) return become_follower(term_, 0);
  if (transfer_to_ != 0 && now_.boot_ms - transfer_since_ms_ > how_.election_ms) transfer_to_ = 0;
  end_round();
  begin_round();  // one that has waited for the journal
  if (now_.boot_ms - last_beat_ms_ < how_.heartbeat_ms) return;
  // A leader that cannot write is of no use: others are to elect another one (D16).
  if (journal_stands_still()) return;
  send_heartbeats();
}

// One whose journal stands still takes nothing and sends nothing, so that the others elect another one, whatever clients want (D16).
bool consensus::takes_proposals() const { return role_ == role::leader && transfer_to_ == 0 && !journal_stands_still(); }

void consensus::on(const propose& in) {
  // Changes of members have rules of their own. Another epoch is that of a Scheduler that begins anew under the same leader.
  if (!takes_proposals() || in.kind == entry_kind::members) return;
  propose_entry(in.kind, in.payload);
  out_.accepted = log_.last_index();
}

void consensus::on(const change_members& in) {
  if (!takes_proposals()) return;
  // One change at a time, and none before an entry of this term is committed (Ongaro, raft-dev, 2015: bug in single-server changes).
  const bool settled = log_.members_index() <= commit_ && epoch_ <= commit_;
  if ((!settled || !one_voter_apart(log_.current_members(), in.to)) && !planted(&planted_faults::change_two_voters)) return;
  auto payload = encode(in.to);
  if (!decode_members(*payload)) return;
  propose_entry(entry_kind::members, std::move(payload));
  out_.accepted = log_.last_index();
}

void consensus::propose_entry(entry_kind kind, std::shared_ptr<const std::string> payload) {
  append_entry({log_.last_index() + 1, term_, stamp_ms(), kind, std::move(payload)});
  // By its first entry it has shown nothing yet.
  if (kind != entry_kind::epoch) shown_ms_ = now_.shard_ms;
  if (kind == entry_kind::members) {
    follow_members(log_.last_index());
    end_round();  // fewer may be asked now
  }
  send_entries_to_all();
}

void consensus::on(const transfer& in) {
  const auto to = others_.find(in.to);
  if (role_ != role::leader || transfer_to_ != 0 || to == others_.end() || !log_.current_members().votes(in.to)) return;
  transfer_to_ = in.to;
  transfer_since_ms_ = now_.boot_ms;
  if (to->second.match == log_.last_index())
    send(in.to, term_, timeout_now{}, hard_position_);
  else
    send_entries(in.to, to->second);
}

void consensus::on(const unreachable& in) {
  const auto who = others_.find(in.who);
  if (who != others_.end() && who->second.how == progress::way::replicate) who->second.probe_from(who->second.match + 1, sent_);
}

void consensus::send_entries_to_all() {
  for (auto& [id, of] : others_) send_entries(id, of);
}

void consensus::send_entries(replica_id to, progress& of) {
  for (bool probes = false; !probes;) {
    probes = of.how == progress::way::probe;
    if (of.went_back() || of.lacks_base || journal_stands_still() || (probes ? of.asked : of.flying_bytes >= how_.max_flying_bytes)) return;
    // What is no longer kept it may have all the same, so it is asked about the base.
    of.next = std::max(of.next, log_.base_index() + 1);
    auto entries = log_.slice(of.next, how_.max_message_bytes);
    if (entries.empty()) return;
    const auto last = entries.back().index;
    std::size_t bytes = 0;
    for (const auto& each : entries) bytes += each.bytes().size() + 1;
    if (probes && (planted(&planted_faults::confirm_unchecked) || planted(&planted_faults::commit_unchecked))) entries.clear();
    send_append(to, of, std::move(entries));
    if (probes) {
      of.asked = true;
    } else {
      of.next = last + 1;
      of.flew(last, bytes);
    }
  }
}

/// Entries from `next` on. None: only asks whether the logs agree before it.
void consensus::send_append(replica_id to, progress& of, std::vector<entry> entries) {
  of.next = std::max(of.next, log_.base_index() + 1);
  const auto previous = of.next - 1;
  send(to, term_, append{++sent_, previous, log_.term_at(previous).value(), commit_, now_.shard_ms, std::move(entries)}, hard_position_);
}

void consensus::answer(const message& from, const append_reply& said) {
  const auto found = others_.find(from.from);
  if (role_ != role::leader || found == others_.end()) return;
  auto& of = found->second;
  // It has left since, and is a member again. What it confirmed then may have gone with its store: nobody took it to be needed any more.
  if (said.number <= of.sent_when_followed) return;
  of.last_contact_ms = now_.boot_ms;
  if (said.rejected) {
    // It was sent when the replica had already confirmed that index, and it lacks it now: a lost disk, or a copy of an older one (R14).
    if (said.number > of.sent_when_known && said.previous_index <= of.match) of.go_back();
    if (of.went_back()) return;
    // One gap has the messages behind it rejected one by one. Only the first of these rejections says something new.
    const bool late = said.number <= of.sent_when_probed ||
                      (of.how == progress::way::probe ? said.previous_index != of.next - 1 : said.previous_index <= of.match);
    if (late) return;
    const auto base = log_.base_index();
    of.lacks_base = of.match < base && (said.previous_index <= base || said.hint_index < base);
    of.probe_from(log_.last_of_term(std::min(said.hint_index, log_.last_index()), said.hint_term) + 1, sent_);
    return send_entries(from.from, of);
  }
  if (said.matched > log_.last_index() || of.went_back()) return;
  of.matched(said.matched, sent_);
  of.lacks_base = false;
  if (of.how == progress::way::probe) {
    of.probe_from(of.match + 1, of.sent_when_probed);
    of.how = progress::way::replicate;
  }
  raise_commit();
  if (role_ != role::leader) return;
  send_entries(from.from, of);
  if (transfer_to_ == from.from && of.match == log_.last_index()) send(from.from, term_, timeout_now{}, hard_position_);
}

void consensus::answer(const message& from, const heartbeat_reply& said) {
  const auto found = others_.find(from.from);
  if (role_ != role::leader || found == others_.end()) return;
  auto& of = found->second;
  if (of.went_back() && said.has_index == of.lost) of.come_back(sent_);
  if (of.went_back() || said.round > round_) return;
  of.last_contact_ms = now_.boot_ms;
  of.confirmed_round = std::max(of.confirmed_round, said.round);
  of.declines = said.declines;
  end_round();
  send_entries(from.from, of);
  // If nothing has come for a heartbeat's time, something was lost, or its disk is slow. It is asked, and sent nothing twice before it has
  // answered.
  if (now_.boot_ms - of.looked_at_ms < how_.heartbeat_ms) return;
  if (of.match < log_.last_index() && of.match == of.match_then && !journal_stands_still()) send_append(from.from, of, {});
  of.match_then = of.match;
  of.looked_at_ms = now_.boot_ms;
}

// The greatest value that a majority of the voters has reached: this one `own`, and others what is known of them.
template <class T>
T consensus::reached_by_majority(T own, T progress::*of_other) const {
  std::vector<T> values;
  for (const auto id : log_.current_members().voters) {
    const auto other = others_.find(id);
    values.push_back(other == others_.end() ? own : other->second.*of_other);
  }
  const auto enough = values.size() / 2;
  if (planted(&planted_faults::count_standbys))
    for (const auto id : log_.current_members().standbys)
      if (const auto other = others_.find(id); other != others_.end()) values.push_back(other->second.*of_other);
  std::sort(values.begin(), values.end(), std::greater<>{});
  return values[enough];
}

std::int64_t consensus::majority_contact_ms() const { return reached_by_majority(now_.boot_ms, &progress::last_contact_ms); }

void consensus::raise_commit() {
  const auto own = planted(&planted_faults::count_undurable) ? log_.last_index() : durable_index_;
  const auto reached = reached_by_majority(own, &progress::match);
  if (reached <= commit_) return;
  if (log_.term_at(reached) != term_ && !planted(&planted_faults::commit_former_term)) return;
  if (reached < log_.last_index() && planted(&planted_faults::commit_newest_only)) return;
  commit_ = reached;
  begin_round();
  // Whoever has removed itself leads until that is committed.
  const auto removed = !log_.current_members().votes(how_.self) && log_.members_index() <= commit_;
  if (!removed) return;
  send_heartbeats();  // what is committed
  become_follower(term_, 0);
}

// Confirmed rounds (Ongaro 2014, 6.4): one in progress, the next one gathers. Replicas answer for the term that they are in, so no clock counts.
void consensus::on(const confirm& in) {
  if (role_ != role::leader) {
    out_.confirmed.push_back({in.ticket, false, 0});
    return;
  }
  if (planted(&planted_faults::confirm_unasked)) {
    out_.confirmed.push_back({in.ticket, true, commit_});
    return;
  }
  next_round_.push_back(in.ticket);
  begin_round();
}

void consensus::begin_round() {
  // Before the first entry of this term is committed nobody knows what the former leaders have committed.
  // One that cannot write keeps nobody from being elected.
  if (!round_of_.empty() || next_round_.empty() || commit_ < epoch_ || journal_stands_still()) return;
  round_of_ = std::exchange(next_round_, {});
  ++round_;
  round_index_ = commit_;
  send_heartbeats();
  end_round();
}

void consensus::end_round() {
  if (round_of_.empty()) return;
  if (reached_by_majority(round_, &progress::confirmed_round) < round_) return;
  for (const auto ticket : round_of_) out_.confirmed.push_back({ticket, true, round_index_});
  round_of_.clear();
  begin_round();
}

void consensus::send_heartbeats() {
  last_beat_ms_ = now_.boot_ms;
  for (auto& [id, of] : others_) {
    heartbeat what{std::min(of.match, commit_), round_, now_.shard_ms};
    if (of.went_back()) what = {0, round_, now_.shard_ms, of.lost, log_.term_at(of.lost).value_or(0)};
    send(id, term_, what, hard_position_);
  }
}

}  // namespace fairlead::raft
