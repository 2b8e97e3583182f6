#include "actors/agent_host/links.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/waits.hpp"

namespace fairlead {

namespace {

constexpr duration first_backoff{100};  // also between any two registrations with one shard
constexpr duration longest_backoff{2'000};
constexpr duration beacon_every{500};
constexpr duration silent_after{3'000};
// A shard that is silent for so long does not use its part either. (A shard that cannot be reached is noticed sooner.)
constexpr duration lost_after{10'000};

}  // namespace

// ---- events ----

void agent_links::routed(std::uint32_t shard, moment now) {
  auto& one = links_[shard];
  one.routed = true;
  one.stale = true;
  one.asked.reset();
  one.may_ask = now;
  one.heard = now;
  one.refusals = 0;
  shares_.join(shard);
}

void agent_links::unrouted(std::uint32_t shard) {
  links_[shard] = {};
  shares_.leave(shard, held_(shard));
}

bool agent_links::welcomed(std::uint64_t revision, const v1::AgentWelcome& what, moment now) {
  auto* one = waiting_for(what.shard(), revision);
  if (one == nullptr) return false;
  if (!one->registered) one->beacon_at = now;  // its demand is not known yet
  one->registered = true;
  one->heard = now;
  one->refusals = 0;
  // A Scheduler that has just started may not yet know all attempts that its records show here.
  shares_.acknowledged(what.shard(), what.revision(), std::max(what.held(), held_(what.shard())), now);
  await_missing(what.shard(), *one, what.held(), now);
  return true;
}

void agent_links::unanswered(std::uint32_t shard, std::uint64_t revision, moment now) {
  if (auto* one = waiting_for(shard, revision)) try_later(*one, now);
}

bool agent_links::refused(std::uint32_t shard, std::uint64_t revision, moment now) {
  auto* one = waiting_for(shard, revision);
  if (one == nullptr) return false;
  begin_anew(shard, *one);
  try_later(*one, now);
  one->heard = now;
  return true;
}

void agent_links::down(std::uint32_t shard, moment now) {
  const auto found = links_.find(shard);
  if (found == links_.end() || !found->second.routed) return;
  begin_anew(shard, found->second);
  // Requests to the ended Scheduler are not answered any more.
  found->second.asked.reset();
  found->second.heard = now;
}

void agent_links::acknowledged(const v1::BeaconAck& what, moment now) {
  const auto found = links_.find(what.shard());
  if (found == links_.end() || !found->second.registered) return;
  auto& one = found->second;
  one.heard = now;
  if (what.known())
    shares_.wants(what.shard(), what.wanted());
  else
    one.stale = true;
}

void agent_links::drain(bool on) {
  if (std::exchange(draining_, on) != on) tell_all();  // a caller that waits for a drain asks again and again
}

void agent_links::leave(bool on) {
  if (std::exchange(leaving_, on) != on) tell_all();
}

void agent_links::redefined(std::uint32_t capacity) {
  capacity_ = capacity;
  shares_.resize(capacity);
  tell_all();
}

void agent_links::keep(const agents::carried_backend::wish& what, std::uint32_t capacity) {
  if (std::exchange(silent_, what.silent) != what.silent || capacity != capacity_) redefined(capacity);
  drain(what.drains);
  if (what.leaves) leave(true);
}

void agent_links::tell_all() {
  for (auto& [shard, one] : links_) one.stale = one.stale || one.routed;
}

bool agent_links::registered(std::uint32_t shard) const {
  const auto found = links_.find(shard);
  return found != links_.end() && found->second.registered;
}

bool agent_links::waits_to_be_heard() const {
  return std::any_of(links_.begin(), links_.end(),
                     [](const auto& one) { return one.second.registered && (one.second.stale || one.second.asked); });
}

bool agent_links::awaits(std::uint32_t shard, std::uint64_t revision) const {
  const auto found = links_.find(shard);
  return found != links_.end() && found->second.asked == revision;
}

agent_links::link* agent_links::waiting_for(std::uint32_t shard, std::uint64_t revision) {
  const auto found = links_.find(shard);
  if (found == links_.end() || found->second.asked != revision) return nullptr;
  found->second.asked.reset();
  return &found->second;
}

/// Everything that the shard was told is void.
void agent_links::begin_anew(std::uint32_t shard, link& one) {
  one.registered = false;
  one.stale = true;
  shares_.leave(shard, held_(shard));
  shares_.join(shard);
}

void agent_links::try_later(link& one, moment now) {
  one.stale = true;
  one.may_ask = now + core::backoff_after(++one.refusals, first_backoff, longest_backoff);
}

/// An instance that leaves or drains waits for attempts that had been handed over before the shard knew. A registration that says nothing
/// new makes the shard hand them over again.
void agent_links::await_missing(std::uint32_t shard, link& one, std::uint32_t held_there, moment now) {
  if ((!leaving_ && !draining_) || held_there <= held_(shard)) {
    one.missing = 0;
    return;
  }
  one.stale = true;
  one.may_ask = now + core::backoff_after(++one.missing, first_backoff, longest_backoff);
}

// ---- due work ----

void agent_links::look_for_silence(std::uint32_t shard, link& one, moment now) {
  if (now - one.heard >= lost_after) {
    begin_anew(shard, one);
    one.heard = now;
  } else if (one.registered && now - one.heard >= silent_after) {
    one.stale = true;
  }
}

agent_links::work agent_links::due(moment now) {
  for (auto& [shard, one] : links_) {
    if (one.routed)
      look_for_silence(shard, one, now);
    else
      shares_.leave(shard, held_(shard));
  }
  for (const auto shard : shares_.divide(now)) links_[shard].stale = true;
  work out;
  for (auto& [shard, one] : links_) {
    if (one.routed && one.stale && !one.asked && now >= one.may_ask) {
      one.asked = ++revision_;
      one.stale = false;
      one.may_ask = now + first_backoff;
      out.registrations.push_back({shard, revision_, shares_.part(shard), draining_ || leaving_, leaving_, silent_});
      shares_.told(shard, revision_, now);
    }
    if (one.registered && now >= one.beacon_at) {
      one.beacon_at = now + beacon_every;
      out.beacons.push_back(shard);
    }
  }
  return out;
}

std::optional<moment> agent_links::next() const {
  std::optional<moment> out;
  const auto sooner = [&](moment when) { out = out ? std::min(*out, when) : when; };
  for (const auto& [shard, one] : links_) {
    if (!one.routed) continue;
    sooner(one.heard + lost_after);
    if (one.stale && !one.asked) sooner(one.may_ask);
    if (one.registered) sooner(one.beacon_at);
  }
  return out;
}

}  // namespace fairlead
