// Speaks with the shards that the host serves: orders and epochs, time, gathered messages, acknowledgements.

#include <algorithm>
#include <utility>

#include "actors/agent_host/host.hpp"
#include "actors/core/cluster/routing.hpp"

namespace fairlead {

/// The shard number in attempt keys.
std::uint32_t agent_host::own(std::uint32_t shard) const { return planted_ != nullptr && planted_->mix_shards ? 0 : shard; }

std::uint32_t agent_host::held(std::uint32_t shard) const {
  const auto found = shards_.find(shard);
  return found == shards_.end() ? 0 : found->second.held;
}

// ---- from the shards ----

void agent_host::perform(v1::PerformBatch what) {
  if (what.shard() >= core::max_shards) return;
  auto& side = shards_[what.shard()];
  if (!obeys(what.shard(), side, what.lineage(), what.epoch())) return refuse(what, side);
  const auto stamped = take_stamp(what.shard(), side, {what.sent_unix_ms(), what.anchor_ms()});
  const auto offset = stamped ? *stamped : time_.steady() - time_.now();
  side.times.uses(offset);
  for (auto& item : *what.mutable_items()) {
    item.set_shard(own(what.shard()));
    item.set_lineage(side.lineage());
    start(item, offset);
  }
}

bool agent_host::welcomed(const v1::AgentWelcome& what) {
  if (what.shard() >= core::max_shards) return false;
  auto& side = shards_[what.shard()];
  if (!obeys(what.shard(), side, what.lineage(), what.epoch())) return false;
  take_stamp(what.shard(), side, {what.sent_unix_ms(), what.anchor_ms()});
  side.welcome = true;
  side.tell_left_over = !side.left_over.empty();
  gathered_any_ = gathered_any_ || side.tell_left_over;
  const auto now = time_.steady();
  for (auto& [key, kept] : outcomes_) {
    if (key.shard != what.shard()) continue;
    kept.sent = now;
    gather(key, kept.outcome);
  }
  // Heartbeats sent meanwhile may be lost, and the leases that depend on them run on.
  for (auto& [key, one] : held_)
    if (key.shard == what.shard() && one.pulse && one.pulse->keeps_lease() && speaks_for(one) && now < one.lease_end) {
      beat(key, one, now);
      remind(key, one, now);
    }
  now_by_->backend->welcomed(what.shard(), what.held());
  return true;
}

void agent_host::acknowledged(const v1::BeaconAck& what) {
  const auto found = shards_.find(what.shard());
  if (found != shards_.end()) take_stamp(what.shard(), found->second, {what.sent_unix_ms(), what.anchor_ms()});
}

void agent_host::acknowledged(const v1::OutcomeAckBatch& what) {
  const auto* side = side_of_ack(what.shard(), what.lineage());
  if (side == nullptr) return acknowledged_late(what);
  for (const auto& item : what.items()) {
    const auto found =
        outcomes_.find({item.task_number(), item.step(), item.direction(), item.attempt(), own(what.shard()), side->lineage()});
    if (found == outcomes_.end()) continue;
    if (planted_ != nullptr && planted_->report_for_ever) continue;
    const auto key = found->first;
    told_.add(key);
    outcomes_.erase(found);
    now_by_->backend->recorded(key, item.accepted());
  }
  if (outcomes_.empty()) resend_at_.reset();
}

// ---- time ----

std::optional<duration> agent_host::take_stamp(std::uint32_t shard, shard_side& side, const shard_stamp& stamp) {
  const auto now = time_.steady();
  if (planted_ != nullptr && planted_->ignore_anchor) {
    if (stamp.sent_unix_ms == 0) return std::nullopt;
    return now - from_unix_ms(stamp.sent_unix_ms);
  }
  const auto offset = offset_of(stamp, now);
  if (!offset) return std::nullopt;
  if (const auto by = side.times.shows(*offset)) shorten(shard, *offset, *by);
  return offset;
}

/// The shard's clock went forward: its Scheduler takes leases for over sooner than they said. A clock that was set back gives no more time.
/// Each moment loses by its own offset: the offset of a hand-over may be too small by a beacon's delay, while the offset of a renewal,
/// which counts from the sending of its heartbeat, is not.
void agent_host::shorten(std::uint32_t shard, duration offset, duration by) {
  const auto now = time_.steady();
  for (auto& [key, one] : held_) {
    if (key.shard != shard) continue;
    const auto complete_by_less = std::max(one.offset - offset, duration{0});
    const auto lease_less = std::max(one.lease_offset - offset, duration{0});
    one.offset -= complete_by_less;
    one.complete_by -= complete_by_less;
    one.tries.shorten(complete_by_less);
    one.lease_offset -= lease_less;
    one.lease_end = std::min(one.lease_end - lease_less, one.complete_by);
    if (one.pulse) one.pulse->shorten(by);
    one.by->backend->renewed(key, 0, one.lease_end);
    remind(key, one, now);
  }
}

std::int64_t agent_host::to_wall_ms(moment at, moment now) const { return to_unix_ms(time_.now() + (at - now)); }

// ---- to the shards ----

void agent_host::gather(const agents::attempt_key& key, const v1::Outcome& what) {
  gathered_any_ = true;
  *side_of(key).gathered.add_items() = what;
}

/// The process may have been suspended since: an attempt whose lease has ended sends no heartbeat. (An attempt that is not held has
/// reported.)
void agent_host::forget_late(std::uint32_t shard, v1::HeartbeatBatch& what) const {
  const auto now = time_.steady();
  auto& items = *what.mutable_items();
  const auto late = [&](const v1::Heartbeat& beat) {
    const auto found = held_.find({beat.task_number(), beat.step(), beat.direction(), beat.attempt(), shard, shards_.at(shard).lineage()});
    return found != held_.end() && lease_over(found->second, now);
  };
  items.erase(std::remove_if(items.begin(), items.end(), late), items.end());
}

void agent_host::flush() {
  gathered_any_ = false;
  for (auto& [shard, side] : shards_) {
    if (side.welcome && std::exchange(side.tell_left_over, false))
      for (const auto& batch : side.left_over) out_.outcomes(batch);
    if (!side.beats.items().empty()) forget_late(shard, side.beats);
    // Heartbeats first: an outcome ends the attempt that they are about.
    if (!side.beats.items().empty()) {
      side.beats.set_shard(shard);
      side.beats.set_instance(instance_);
      side.beats.set_incarnation(incarnation_);
      if (!side.met.empty()) *side.beats.mutable_lineage() = side.met.back();
      out_.heartbeats(std::exchange(side.beats, {}));
    }
    if (side.gathered.items().empty()) continue;
    side.gathered.set_shard(shard);
    side.gathered.set_instance(instance_);
    side.gathered.set_incarnation(incarnation_);
    if (!side.met.empty()) *side.gathered.mutable_lineage() = side.met.back();
    out_.outcomes(std::exchange(side.gathered, {}));
  }
}

}  // namespace fairlead
