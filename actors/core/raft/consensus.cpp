#include "actors/core/raft/consensus.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "actors/core/mix.hpp"

namespace fairlead::raft {

namespace {

constexpr std::int64_t timeouts_of_declining = 4;

}  // namespace

consensus::consensus(const settings& how, recovered from, moment now)
    : how_{how},
      now_{now},
      term_{from.hard.term},
      vote_{from.hard.vote},
      log_{std::move(from.from), std::move(from.entries)},
      durable_index_{log_.last_index()},
      commit_{from.applied},
      given_out_{commit_},
      shown_ms_{log_.last_stamp_ms()},
      random_{how.seed},
      last_tick_ms_{now.boot_ms} {
  if (from.applied < log_.base_index() || from.applied > log_.last_index())
    throw std::logic_error{"the state of a shard ends inside what its journal has"};
  // A replica that begins with a copy of another's state was in no election yet.
  if (log_.last_term() > term_) {
    term_ = log_.last_term();
    vote_ = 0;
  }
  timeout_ms_ = next_timeout();
}

output consensus::step(const input& in, moment now) {
  now_ = now;
  out_ = {};
  if (quarantined_.empty())
    std::visit([&](const auto& what) { on(what); }, in);
  else if (const auto* ask = std::get_if<confirm>(&in))
    out_.confirmed.push_back({ask->ticket, false, 0});
  if (quarantined_.empty()) release();
  out_.position = position_;
  return std::exchange(out_, {});
}

void consensus::on(const tick&) {
  // A pause of this process is no silence of the leader: what it has sent meanwhile may be on its way.
  silent_ms_ += std::min(now_.boot_ms - last_tick_ms_, how_.heartbeat_ms);
  last_tick_ms_ = now_.boot_ms;
  if (role_ == role::leader) return tick_as_leader();
  if (!may_campaign()) return;
  const bool alone = log_.current_members().voters == std::vector{how_.self};
  if (alone && role_ == role::follower && planted(&planted_faults::lead_same_term) && term_ > 0) {
    role_ = role::candidate;
    return lead();
  }
  // One that declines leaves the others the time to be elected, and leads if none is.
  const auto patience_ms = declines_ ? timeouts_of_declining * timeout_ms_ : timeout_ms_;
  if (alone ? role_ == role::follower : silent_ms_ >= patience_ms) campaign(true, false);
}

void consensus::on(const received& in) {
  const auto& what = in.what;
  if (what.to != how_.self) return;
  const auto* ask = std::get_if<vote_request>(&what.body);
  const auto* reply = std::get_if<vote_reply>(&what.body);
  if (what.term > term_) {
    // A replica that hears from its leader is not disturbed by one that does not.
    if (ask && !ask->transfer && follows_a_leader()) return;
    const bool only_asks = (ask && ask->pre) || (reply && reply->pre && reply->granted);
    if (!only_asks) {
      const bool leads = std::holds_alternative<append>(what.body) || std::holds_alternative<heartbeat>(what.body);
      become_follower(what.term, leads ? what.from : 0);
    }
  } else if (what.term < term_) {
    // Whoever leads in an earlier term, or asks whether it might, learns of this one. A vote that is refused so could be taken for one of this
    // term, so a candidate learns it otherwise.
    if (ask && ask->pre)
      send(what.from, term_, vote_reply{true, false}, hard_position_);
    else if (std::holds_alternative<append>(what.body) || std::holds_alternative<heartbeat>(what.body))
      send(what.from, term_, heartbeat_reply{}, hard_position_);
    return;
  }
  std::visit([&](const auto& body) { answer(what, body); }, what.body);
}

void consensus::on(const durable& in) {
  while (!writing_.empty() && writing_.front().position <= in.position) {
    durable_index_ = writing_.front().last_index;
    durable_position_ = writing_.front().position;
    writing_.pop_front();
  }
  if (role_ == role::candidate && durable_position_ >= hard_position_ && votes_.count(how_.self) == 0) take_vote(how_.self, true);
  if (role_ == role::leader) raise_commit();
}

void consensus::on(const compact& in) {
  if (in.up_to <= log_.base_index() || in.up_to > given_out_) return;
  log_.raise_base(in.up_to);
  write(log_.base_at(in.up_to).value());
}

void consensus::send(replica_id to, log_term term, decltype(message::body) body, std::uint64_t after) {
  message what{how_.self, to, term, std::move(body)};
  if (after > durable_position_)
    held_.emplace(after, std::move(what));
  else
    out_.messages.push_back(std::move(what));
}

void consensus::release() {
  for (; !held_.empty() && held_.begin()->first <= durable_position_; held_.erase(held_.begin()))
    out_.messages.push_back(std::move(held_.begin()->second));
  // What a leader has told counts when its term is durable: else, after a crash, a message of an earlier leader could contradict it.
  if (hard_position_ > durable_position_) return;
  for (const auto until = std::min(commit_, durable_index_); given_out_ < until;) out_.committed.push_back(log_.at(++given_out_));
}

void consensus::quarantine(std::string why) {
  quarantined_ = std::move(why);
  become_follower(term_, 0);
  held_.clear();
}

void consensus::become_follower(log_term term, replica_id leader) {
  if (term > term_) set_hard(term, 0);
  role_ = role::follower;
  leader_ = leader;
  silent_ms_ = 0;
  timeout_ms_ = next_timeout();
  votes_.clear();
  others_.clear();
  transfer_to_ = 0;
  for (auto* tickets : {&round_of_, &next_round_}) {
    for (const auto ticket : *tickets) out_.confirmed.push_back({ticket, false, 0});
    tickets->clear();
  }
}

void consensus::set_hard(log_term term, replica_id vote) {
  term_ = term;
  vote_ = vote;
  write(hard_state{term, vote});
  hard_position_ = position_;
}

void consensus::append_entry(entry what) {
  log_.append(what);
  write(std::move(what));
}

// The log is as it is with this record.
void consensus::write(record what) {
  out_.records.push_back(std::move(what));
  writing_.push_back({++position_, log_.last_index(), now_.boot_ms});
}

std::int64_t consensus::stamp_ms() const { return std::max(now_.shard_ms, log_.last_stamp_ms()); }

bool consensus::journal_stands_still() const {
  return !planted(&planted_faults::lead_without_disk) && !writing_.empty() && now_.boot_ms - writing_.front().since_ms > how_.election_ms;
}

// One to two election timeouts.
std::int64_t consensus::next_timeout() {
  const auto x = core::mix(random_);
  random_ += core::golden_gamma;
  return how_.election_ms + static_cast<std::int64_t>(x % static_cast<std::uint64_t>(how_.election_ms));
}

}  // namespace fairlead::raft
