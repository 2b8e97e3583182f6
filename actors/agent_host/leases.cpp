// Looks after the attempts that a host holds: leases, heartbeats, and due tries.

#include <algorithm>
#include <utility>

#include "actors/agent_host/host.hpp"
#include "actors/agents/attempt_results.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/text.hpp"

namespace fairlead {

bool agent_host::lease_over(const held_attempt& one, moment now) const {
  return now >= one.lease_end && (planted_ == nullptr || !planted_->speak_after_lease);
}

/// The attempt's reminder has come up.
void agent_host::look_after(held_attempts::iterator which, moment now) {
  const auto key = which->first;
  auto& one = which->second;
  if (now >= one.lease_end) {
    if (!lease_over(one, now)) return;  // a planted fault: the attempt goes on unattended
    stop(which);
    return;
  }
  if (one.next_try && *one.next_try <= now && !try_again(key, one, now)) {
    drop(which);
    return;
  }
  remind(key, one, now);
}

/// False: the attempt is over.
bool agent_host::try_again(const agents::attempt_key& key, held_attempt& one, moment now) {
  one.next_try.reset();
  // The reminder may have come too late.
  if (!one.tries.fits(now)) {
    report(key, one, {"", std::move(one.last_fault)});
    return false;
  }
  auto& what = *one.kept;
  const auto budget = one.budget_ms - (now - one.received).count();
  if (one.budget_ms > 0) what.set_budget_ms(std::max<std::int64_t>(budget, 1));
  auto at_once = begin(key, one, what, now);
  return !at_once || !ended(key, one, std::move(*at_once));
}

/// Sets when the attempt must be checked next. Sends a heartbeat that is due at once.
void agent_host::remind(const agents::attempt_key& key, held_attempt& one, moment now) {
  auto next = one.lease_end;
  if (one.next_try) next = std::min(next, *one.next_try);
  if (one.pulse) {
    auto due = one.pulse->next(speaks_for(one));
    if (due && *due <= now) {
      beat(key, one, now);
      due = one.pulse->next(speaks_for(one));
    }
    if (due) next = std::min(next, *due);
  }
  // Never for a past moment: one turn would check it for ever.
  next = std::max(next, now + duration{1});
  if (one.reminder != reminders_.end()) {
    if (one.reminder->first == next) return;
    reminders_.erase(one.reminder);
  }
  one.reminder = reminders_.emplace(next, key);
}

void agent_host::stop(held_attempts::iterator which) {
  const auto key = which->first;
  const auto under_way = which->second.tries.under_way();
  const auto backend = which->second.by->backend;
  cut_.add(key);
  if (under_way) backend->stop(key);
  drop(which);
}

void agent_host::drop(held_attempts::iterator which) {
  if (which->second.reminder != reminders_.end()) reminders_.erase(which->second.reminder);
  --side_of(which->first).held;
  held_.erase(which);
  if (!former_.empty()) retire();
}

// ---- heartbeats ----

void agent_host::beat(const agents::attempt_key& key, held_attempt& one, moment now) {
  gathered_any_ = true;
  auto& out = *side_of(key).beats.add_items();
  out = one.pulse->beat(now);
  out.set_task_number(key.task_number);
  out.set_step(key.step);
  out.set_direction(key.direction);
  out.set_attempt(key.attempt);
}

void agent_host::progressed(const agents::attempt_key& key) {
  auto told = inbox_.take(key);
  const auto found = held_.find(key);
  if (!told || found == held_.end() || !found->second.tries.under_way()) return;
  auto& one = found->second;
  const auto now = time_.steady();
  if (now >= one.lease_end) return;
  if (told->percent) told->percent = std::min<std::uint32_t>(*told->percent, 100);
  // Redacted before it is cut: half a secret is a secret, too.
  told->note = core::clean_text(redacted(one, std::move(told->note)), progress_note_limit);
  told->checkpoint = redacted(one, std::move(told->checkpoint));
  // A cut or invalid checkpoint would mislead the next attempt. Backends tell their attempts so if they can.
  if (told->checkpoint.size() > checkpoint_limit || (!told->checkpoint.empty() && !core::check_json(told->checkpoint).ok())) return;
  if (!one.pulse) one.pulse = std::make_unique<attempt_pulse>(duration{0}, now, first_beat_);
  const auto at_once = told->at_once;
  one.pulse->report(std::move(*told));
  if (at_once) {
    beat(key, one, now);
    one.by->backend->beat_sent(key, one.pulse->last_sequence());
  }
  remind(key, one, now);
}

void agent_host::acknowledged(const v1::HeartbeatAckBatch& what) {
  const auto now = time_.steady();
  const auto* side = side_of_ack(what.shard(), what.lineage());
  if (side == nullptr) return;
  for (const auto& item : what.items()) {
    const auto found = held_.find({item.task_number(), item.step(), item.direction(), item.attempt(), own(what.shard()), side->lineage()});
    if (found == held_.end()) continue;
    auto& one = found->second;
    if (!item.held()) {
      stop(found);
      continue;
    }
    // A lease that is over is not revived: the Scheduler may have decided that it is over.
    if (!one.pulse || now >= one.lease_end) continue;
    auto until = one.pulse->acknowledged(item.sequence());
    if (until && planted_ != nullptr && planted_->renew_from_receipt) until = now + one.pulse->period();
    if (until && std::min(*until, one.complete_by) > one.lease_end) {
      one.lease_end = std::min(*until, one.complete_by);
      one.lease_offset = std::max(one.lease_offset, side_of(found->first).times.nearest().value_or(one.lease_offset));
    }
    remind(found->first, one, now);
    one.by->backend->renewed(found->first, item.sequence(), one.lease_end);
  }
}

}  // namespace fairlead
