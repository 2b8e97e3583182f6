// Slots: the choice of an instance, the holders, what an end says about an instance's health, and whether a queue may go on.

#include <algorithm>
#include <utility>

#include "actors/registry/registry.hpp"

namespace fairlead {

namespace {

/// A sick instance gets one attempt in this time.
constexpr duration trickle = std::chrono::seconds{1};

bool may_trickle(const registered::instance& to, moment now) {
  // No wait is longer than one trickle: if the clock went back, the instance must not wait until the clock has caught up.
  return to.next_trickle <= now || to.next_trickle > now + trickle;
}

}  // namespace

registered::instance* registry::choose(const demand& what, moment now, bool canary) {
  instance* best = nullptr;
  instance* trickled = nullptr;
  bool somebody_is_well = false;
  const auto prefer = [&best](instance* one) {
    const auto free = one->free();
    if (free == 0) return;
    if (best == nullptr || free > best->free() || (free == best->free() && one->last_given < best->last_given)) best = one;
  };
  for (auto* one : what.instances) {
    if (!one->health.sick()) {
      somebody_is_well = true;
      prefer(one);
    } else if (one->held == 0 && one->capacity > 0 && may_trickle(*one, now) &&
               (trickled == nullptr || one->next_trickle < trickled->next_trickle)) {
      trickled = one;
    }
  }
  if (!somebody_is_well) {
    for (auto* one : what.instances) prefer(one);
    return best;
  }
  // A canary tests the service, not its worst instance.
  return trickled != nullptr && !canary ? trickled : best;
}

core::slot_answer registry::claim(const core::slot_request& what) {
  const auto now = time_.now();
  auto& of = service_of(what.agent);
  auto& needs = demand_of(of, what);
  std::vector<core::limit_bucket*> keyed;
  if (needs.counted_by_input) keyed = of.limits.keyed(what.call, what.input, now);
  advance(of, now);
  unblock_due(now);
  // A newcomer must not overtake waiting steps that may go on now. Nor must a task that was named for a step of its that waits elsewhere.
  const auto served =
      serving_ && serving_->task_number == what.holder.task_number && (serving_->from == nullptr || serving_->from == &needs);
  const auto in_turn = of.queues_ready == 0 || served;
  instance* chosen = nullptr;
  if (!closed_ && !held_back_ && in_turn && (of.breaker.admits() || planted(&core::planted_faults::ignore_breaker))) {
    const auto unlimited = planted(&core::planted_faults::ignore_limit);
    const auto room = [now, unlimited](const core::limit_bucket* one) { return unlimited || core::limit_book::has_room(*one, now); };
    if (std::all_of(needs.common.begin(), needs.common.end(), room) && std::all_of(keyed.begin(), keyed.end(), room))
      chosen = choose(needs, now, of.breaker.wants_canary());
  }
  if (chosen == nullptr) return {std::nullopt, queues_.queue_for(needs, keyed, now)};
  const auto [entry, fresh] = holders_.try_emplace(what.holder);
  auto& mine = entry->second;
  if (!fresh) {
    auto left = std::exchange(mine, {});
    let_go(left, {}, now);
    // The release may have dropped a bucket that nothing else used.
    if (needs.counted_by_input) keyed = of.limits.keyed(what.call, what.input, now);
  }
  take_slot(*chosen, now);
  mine.of = &of;
  mine.at = chosen;
  mine.incarnation = chosen->incarnation;
  mine.ticket = of.breaker.admit();
  mine.since = now;
  for (const auto* buckets : {&needs.common, &keyed})
    for (auto* one : *buckets) {
      of.limits.take(*one, now);
      mine.buckets.push_back(one);
    }
  mine.counted_since = now;
  claimed_.push_back(what.holder);
  return {core::agent_instance{chosen->name, chosen->incarnation}, 0};
}

void registry::undo_claims() {
  for (const auto& holder : std::exchange(claimed_, {})) release(holder, {});
}

void registry::take_slot(instance& at, moment now) {
  ++at.held;
  ++at.handed_over;
  at.last_given = ++given_;
  if (at.health.sick()) at.next_trickle = now + trickle;
}

void registry::hold(std::string_view name, const core::slot_request& what) {
  claimed_.push_back(what.holder);
  const auto now = time_.now();
  auto& of = service_of(what.agent);
  if (const auto known = holders_.find(what.holder); known != holders_.end() && known->second.of != &of) release(what.holder, {});
  auto& needs = demand_of(of, what);
  auto buckets = needs.common;
  if (needs.counted_by_input) {
    const auto keyed = of.limits.keyed(what.call, what.input, now);
    buckets.insert(buckets.end(), keyed.begin(), keyed.end());
  }
  // Before the old buckets are given back: a held bucket is never dropped.
  for (auto* one : buckets) of.limits.adopt(*one);
  const auto [entry, fresh] = holders_.try_emplace(what.holder);
  auto& mine = entry->second;
  if (!fresh) {
    if (mine.buckets != buckets) mine.counted_since.reset();
    for (auto* one : mine.buckets) of.limits.give_back(*one, std::nullopt, now);
  } else {
    mine.of = &of;
    mine.ticket = of.breaker.adopt();
    mine.since = now;
  }
  mine.buckets = std::move(buckets);
  const auto found = instances_.find(name);
  auto* const at = found == instances_.end() ? nullptr : &found->second;
  const auto seated = mine.at != nullptr && mine.at->incarnation == mine.incarnation;
  if (seated && mine.at == at) return;
  if (seated && mine.at->held > 0) --mine.at->held;
  mine.at = at;
  if (at == nullptr) return;
  mine.incarnation = at->incarnation;
  ++at->held;
}

void registry::release(const core::slot_holder& holder, const core::slot_outcome& outcome) {
  const auto found = holders_.find(holder);
  if (found == holders_.end()) return;
  auto what = std::move(found->second);
  holders_.erase(found);
  let_go(what, outcome, time_.now());
}

void registry::let_go(holding& what, const core::slot_outcome& reported, moment now) {
  auto& of = *what.of;
  auto outcome = reported;
  // Nobody could have heard of it, so a lease that has ended says nothing of the service.
  if (outcome.how == core::slot_end::expired && (what.at == nullptr || what.at->away)) outcome.how = core::slot_end::lost;
  const auto somebody_waits = of.queues_occupied > 0;
  const auto unused_since = outcome.how == core::slot_end::unused ? what.counted_since : std::nullopt;
  for (auto* one : what.buckets) {
    const auto common = !one->rule->keyed;
    if (!of.limits.give_back(*one, unused_since, now) || !somebody_waits) continue;
    if (!common) {
      queues_.opened(*one, now);
      continue;
    }
    for (auto& [key, needs] : of.demands)
      if (needs->blocked_by == blocker::limit && needs->blocked_at == one) queues_.unblock(*needs);
  }
  if (of.breaker.ended(what.ticket, outcome, now)) {
    breaker_changed(of, now);
  } else if (what.ticket.canary && somebody_waits) {
    unblock_all(of);
  }
  // The slots of a process that is gone went with the process.
  if (what.at == nullptr || what.at->incarnation != what.incarnation) return;
  auto& at = *what.at;
  if (at.held > 0) --at.held;
  if (outcome.how == core::slot_end::succeeded || outcome.how == core::slot_end::answered || outcome.how == core::slot_end::failed)
    at.heard = now;
  at.health.note(outcome, now - what.since);
  judge(at);
  if (at.of->queues_occupied > 0)
    for (auto* needs : at.demands)
      if (needs->blocked_by == blocker::capacity) queues_.unblock(*needs);
  if (at.leaves && at.away && at.held == 0) forget(at);
}

// ---- health ----

void registry::judge(instance& which) {
  const auto peers = which.health.wants_peers() ? peers_latency(which) : std::nullopt;
  if (!which.health.judge(peers)) return;
  // An instance that has just become sick gets its first trickle later; and once all are sick, none counts as sick.
  if (which.health.sick()) which.next_trickle = time_.now() + trickle;
  for (auto* needs : which.demands) queues_.unblock(*needs);
}

std::optional<double> registry::peers_latency(const instance& of) {
  scratch_.clear();
  for (const auto* one : of.of->instances)
    if (one != &of && !one->health.sick() && one->health.has_latency()) scratch_.push_back(one->health.latency());
  if (scratch_.size() < 2) return std::nullopt;
  const auto middle = scratch_.begin() + static_cast<std::ptrdiff_t>(scratch_.size() / 2);
  std::nth_element(scratch_.begin(), middle, scratch_.end());
  return *middle;
}

// ---- waiting ----

bool registry::admits(wait_queues::queue& which, moment now) {
  auto& needs = static_cast<demand&>(which);
  auto& of = *needs.of;
  needs.blocked_at = nullptr;
  advance(of, now);
  if (!of.breaker.admits()) {
    needs.blocked_by = blocker::breaker;
    return false;
  }
  for (auto* one : needs.common) {
    if (core::limit_book::has_room(*one, now)) continue;
    needs.blocked_by = blocker::limit;
    needs.blocked_at = one;
    if (const auto at = core::limit_book::opens_at(*one)) retries_.set(&needs, *at, now);
    return false;
  }
  if (choose(needs, now, of.breaker.wants_canary()) != nullptr) {
    needs.blocked_by = blocker::none;
    return true;
  }
  needs.blocked_by = blocker::capacity;
  std::optional<moment> trickles_at;
  for (const auto* one : needs.instances) {
    if (!one->health.sick() || one->held > 0 || may_trickle(*one, now)) continue;
    trickles_at = std::min(trickles_at.value_or(one->next_trickle), one->next_trickle);
  }
  if (trickles_at) retries_.set(&needs, *trickles_at, now);
  return false;
}

/// Time may have given room since the last wake-up.
void registry::unblock_due(moment now) {
  queues_.wake(now);
  while (auto* const needs = retries_.take_due(now)) queues_.unblock(*needs);
}

void registry::unblock_all(service& of) {
  for (auto& [key, one] : of.demands) queues_.unblock(*one);
}

void registry::occupied(wait_queues::queue& which, moment now) {
  auto& needs = static_cast<demand&>(which);
  auto& of = *needs.of;
  const auto step = needs.waiting > 0 ? 1 : -1;
  of.queues_occupied += static_cast<std::uint64_t>(step);
  if (step < 0) retries_.clear(&needs);
  if (!needs.instances.empty()) return;
  of.queues_absent += static_cast<std::uint64_t>(step);
  check_absence(of, now);
}

}  // namespace fairlead
