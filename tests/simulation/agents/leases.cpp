#include "tests/simulation/agents/leases.hpp"

namespace fairlead::simulation {

using fairlead::agents::attempt_key;

namespace {

constexpr std::int64_t unnoticed_us = 250 * millisecond;

lease_end end_of(std::int64_t wall_ms, const stamp& when) {
  return {when.left_us + (wall_ms - when.sent_unix_ms) * millisecond, when.ahead_us, when.ahead_us};
}

}  // namespace

std::int64_t lease_end::now_us() const {
  // What a clock is set forward by a little at a time need not be followed.
  return at_us - std::max<std::int64_t>(most_ahead_us - ahead_us - unnoticed_us, 0);
}

std::int64_t lease::until_us() const {
  const auto by = complete_by.now_us();
  return by_heartbeat ? std::min(by, by_heartbeat->now_us()) : by;
}

void lease::finish(std::int64_t at_us) {
  if (finished_us) return;
  finished_us = at_us;
  then_until_us = until_us();
}

lease* lease_book::find(const attempt_key& key) {
  const auto found = begun_.find(key);
  return found == begun_.end() ? nullptr : &found->second;
}

void lease_book::begin(const attempt_key& key, const v1::Perform& sent, const v1::PerformBatch& by, const stamp& when) {
  auto& one = begun_[key] = {};
  one.complete_by = end_of(sent.complete_by_unix_ms(), when);
  if (sent.heartbeat_ms() > 0) one.by_heartbeat = end_of(sent.heartbeat_by_unix_ms(), when);
  one.as_handed_over = sent;
  one.as_handed_over.set_shard(by.shard());
  one.of = by.lineage();
}

void lease_book::arrived(const attempt_key& key, const v1::Perform& sent, const v1::PerformBatch& by, const stamp& when) {
  auto* const known = find(key);
  if (known == nullptr) return begin(key, sent, by, when);
  const auto later = [&](lease_end& one, std::int64_t wall_ms) {
    const auto next = end_of(wall_ms, when);
    if (next.now_us() > one.now_us()) one = next;
  };
  later(known->complete_by, sent.complete_by_unix_ms());
  if (known->by_heartbeat) later(*known->by_heartbeat, sent.heartbeat_by_unix_ms());
}

void lease_book::heard(std::uint32_t shard, const stamp& when) {
  for (auto& [key, one] : begun_) {
    if (one.as_handed_over.shard() != shard) continue;
    one.complete_by.most_ahead_us = std::max(one.complete_by.most_ahead_us, when.ahead_us);
    if (one.by_heartbeat) one.by_heartbeat->most_ahead_us = std::max(one.by_heartbeat->most_ahead_us, when.ahead_us);
  }
}

void lease_book::renewed(const attempt_key& key, std::uint64_t sequence) {
  auto* const one = find(key);
  if (one == nullptr || !one->by_heartbeat) return;
  const auto sent = one->beats.find(sequence);
  // A lease that is over is not revived.
  if (sent == one->beats.end() || world_.now_us() > one->until_us()) return;
  const auto until_us = sent->second + one->as_handed_over.heartbeat_ms() * millisecond;
  const auto ahead_us = one->complete_by.most_ahead_us;
  if (until_us > one->by_heartbeat->now_us()) one->by_heartbeat = lease_end{until_us, ahead_us, ahead_us};
}

}  // namespace fairlead::simulation
