#include "actors/registry/wait_queues.hpp"

#include <algorithm>

namespace fairlead {

namespace {

/// Number of empty keyed queues that are kept: an id just returned is used within the same turn, and a queue that fills and empties all the
/// time is not made anew each time.
constexpr std::size_t idle_queues = 1'024;

core::limit_bucket* saturated(const std::vector<core::limit_bucket*>& buckets, moment now) {
  for (auto* bucket : buckets)
    if (!core::limit_book::has_room(*bucket, now)) return bucket;
  return nullptr;
}

}  // namespace

wait_queues::~wait_queues() = default;

std::uint64_t wait_queues::queue_for(queue& in, const std::vector<core::limit_bucket*>& keyed, moment now) {
  std::string signature;
  for (const auto* bucket : keyed) signature.append(reinterpret_cast<const char*>(&bucket->id), sizeof bucket->id);
  auto& entry = in.keyed[signature];
  if (entry != nullptr) return entry->id;
  auto made = std::make_unique<keyed_queue>();
  made->id = next_id_++;
  made->in = &in;
  made->signature = std::move(signature);
  made->buckets = keyed;
  for (auto* bucket : keyed) in.limits->keep(*bucket);
  entry = made.get();
  const auto id = made->id;
  become_idle(*made, now);
  keyed_.emplace(id, std::move(made));
  return id;
}

void wait_queues::become_idle(keyed_queue& which, moment now) {
  which.idle = idle_.insert(idle_.end(), &which);
  if (idle_.size() > idle_queues) destroy(*idle_.front(), now);
}

void wait_queues::destroy(keyed_queue& which, moment now) {
  idle_.erase(*which.idle);
  const auto known = which.in->keyed.find(which.signature);
  if (known != which.in->keyed.end() && known->second == &which) which.in->keyed.erase(known);
  for (auto* bucket : which.buckets) which.in->limits->let_go(*bucket, now);
  keyed_.erase(which.id);
}

void wait_queues::wait(std::uint64_t id, const waiting_key& who, moment now) {
  const auto found = keyed_.find(id);
  if (found == keyed_.end()) {
    unqueued_.insert(who);
    return;
  }
  auto& in = *found->second;
  auto& places = tasks_[who.task_number];
  const auto there = std::find_if(places.begin(), places.end(), [&](const place& one) { return one.in == &in; });
  const auto fresh = there == places.end();
  if (fresh) {
    places.push_back({&in, who, now});
    ++in.in->waiting;
  } else {
    if (there->key == who) return;
    in.tasks.erase(there->key);
    there->key = who;
  }
  in.tasks.insert(who);
  if (in.idle) {
    idle_.erase(*in.idle);
    in.idle.reset();
  }
  if (!in.ready && in.blocked_at == nullptr) {
    make_ready(in);
  } else {
    reposition(in);
  }
  if (fresh && in.in->waiting == 1) admission_.occupied(*in.in, now);
  block_what_cannot_go_on(*in.in, now);
}

void wait_queues::block_what_cannot_go_on(queue& which, moment now) {
  while (!which.blocked && !which.ready.empty()) {
    if (!admission_.admits(which, now)) {
      which.blocked = true;
      break;
    }
    auto& top = *which.ready.begin()->second;
    auto* const full = saturated(top.buckets, now);
    if (full == nullptr) break;
    block(top, *full, now);
  }
  relist(which);
}

std::optional<wait_queues::turn> wait_queues::next(moment now) {
  if (!unqueued_.empty()) {
    const auto number = unqueued_.begin()->task_number;
    unqueued_.erase(unqueued_.begin());
    return turn{number, nullptr};
  }
  while (!ready_.empty()) {
    auto& first = *ready_.begin()->second;
    const auto was = *first.listed;
    block_what_cannot_go_on(first, now);
    // The first task of this queue may not be the first of all any more.
    if (!first.listed || *first.listed != was) continue;
    auto& from = *first.ready.begin()->second;
    const auto key = *from.tasks.begin();
    auto& places = tasks_[key.task_number];
    std::erase_if(places, [&](const place& one) { return one.in == &from; });
    if (places.empty()) tasks_.erase(key.task_number);
    remove_task(from, key, now);
    return turn{key.task_number, &first};
  }
  return std::nullopt;
}

bool wait_queues::waits(std::uint64_t task_number) const {
  return tasks_.count(task_number) != 0 ||
         std::any_of(unqueued_.begin(), unqueued_.end(), [&](const waiting_key& one) { return one.task_number == task_number; });
}

void wait_queues::forget(std::uint64_t task_number, moment now) {
  const auto found = tasks_.find(task_number);
  if (found == tasks_.end()) return;
  const auto places = std::move(found->second);
  tasks_.erase(found);
  for (const auto& one : places) remove_task(*one.in, one.key, now);
}

void wait_queues::remove_task(keyed_queue& from, const waiting_key& key, moment now) {
  auto& of = *from.in;
  from.tasks.erase(key);
  --of.waiting;
  auto* const was_at = from.blocked_at;
  auto* const sent_by = take_out(from);
  if (from.tasks.empty()) {
    become_idle(from, now);
  } else if (was_at != nullptr) {
    block_at(from, *was_at);
  } else if (sent_by != nullptr) {
    block_at(from, *sent_by);
  } else {
    make_ready(from);
  }
  if (sent_by != nullptr) {
    send_probe(*sent_by);
    tidy(*sent_by);
  }
  if (was_at != nullptr) tidy(*was_at);
  // Nothing reports the end of a block to an empty queue: its next task must be checked anew.
  if (of.waiting == 0) of.blocked = false;
  relist(of);
  if (of.waiting == 0) admission_.occupied(of, now);
}

void wait_queues::relist(queue& which) {
  const auto wanted = which.blocked || which.ready.empty() ? std::nullopt : std::optional{which.ready.begin()->first};
  if (wanted == which.listed) return;
  if (which.listed) {
    ready_.erase({*which.listed, &which});
    --*which.queues_ready;
  }
  if (wanted) {
    ready_.emplace(*wanted, &which);
    ++*which.queues_ready;
  }
  which.listed = wanted;
}

void wait_queues::make_ready(keyed_queue& which) {
  which.ready = true;
  which.listed = *which.tasks.begin();
  which.in->ready.emplace(which.listed, &which);
}

wait_queues::full_bucket* wait_queues::take_out(keyed_queue& which) {
  if (which.blocked_at != nullptr) {
    which.blocked_at->keyed.erase({which.listed, &which});
    which.blocked_at = nullptr;
  }
  if (which.ready) which.in->ready.erase({which.listed, &which});
  which.ready = false;
  auto* const sent_by = std::exchange(which.probe_of, nullptr);
  if (sent_by != nullptr) sent_by->probe = nullptr;
  return sent_by;
}

void wait_queues::block_at(keyed_queue& which, full_bucket& where) {
  which.blocked_at = &where;
  which.listed = *which.tasks.begin();
  where.keyed.emplace(which.listed, &which);
}

void wait_queues::block(keyed_queue& which, core::limit_bucket& bucket, moment now) {
  auto* const sent_by = take_out(which);
  auto& where = full_[&bucket][which.in];
  if (!where) {
    where = std::make_unique<full_bucket>();
    where->bucket = &bucket;
    where->of = which.in;
  }
  block_at(which, *where);
  if (const auto at = core::limit_book::opens_at(bucket)) rates_.set(&bucket, *at, now);
  if (sent_by == nullptr || sent_by == where.get()) return;
  // The bucket that let this probe go still has room, or another attempt has taken the room since.
  if (core::limit_book::has_room(*sent_by->bucket, now)) {
    send_probe(*sent_by);
  } else if (const auto at = core::limit_book::opens_at(*sent_by->bucket)) {
    rates_.set(sent_by->bucket, *at, now);
  }
  tidy(*sent_by);
}

void wait_queues::send_probe(full_bucket& from) {
  if (from.keyed.empty()) return;
  auto& best = *from.keyed.begin()->second;
  if (auto* const other = from.probe; other != nullptr) {
    // The probe waits for its turn; a keyed queue that came to this bucket since may go before it.
    if (other->listed < best.listed) return;
    take_out(*other);
    block_at(*other, from);
  }
  from.keyed.erase({best.listed, &best});
  best.blocked_at = nullptr;
  best.probe_of = &from;
  from.probe = &best;
  make_ready(best);
}

void wait_queues::tidy(full_bucket& which) {
  if (which.probe != nullptr || !which.keyed.empty()) return;
  auto* const bucket = which.bucket;
  const auto found = full_.find(bucket);
  found->second.erase(which.of);
  if (!found->second.empty()) return;
  full_.erase(found);
  rates_.clear(bucket);
}

void wait_queues::reposition(keyed_queue& which) {
  if (which.listed == *which.tasks.begin()) return;
  if (auto* const at = which.blocked_at; at != nullptr) {
    take_out(which);
    block_at(which, *at);
    if (at->probe != nullptr) send_probe(*at);
    return;
  }
  which.in->ready.erase({which.listed, &which});
  which.listed = *which.tasks.begin();
  which.in->ready.emplace(which.listed, &which);
}

void wait_queues::unblock(queue& which) {
  if (!which.blocked) return;
  which.blocked = false;
  relist(which);
}

void wait_queues::opened(core::limit_bucket& which, moment now) {
  const auto found = full_.find(&which);
  if (found == full_.end()) return;
  if (!core::limit_book::has_room(which, now)) {
    if (const auto at = core::limit_book::opens_at(which)) rates_.set(&which, *at, now);
    return;
  }
  for (auto& [of, where] : found->second) {
    send_probe(*where);
    relist(*of);
  }
}

void wait_queues::wake(moment now) {
  while (auto* const due = rates_.take_due(now)) opened(*due, now);
}

void wait_queues::dissolve(queue& which, moment now) {
  for (auto& [signature, one] : std::exchange(which.keyed, {})) {
    auto* const was_at = one->blocked_at;
    auto* const sent_by = take_out(*one);
    for (auto* at : {was_at, sent_by})
      if (at != nullptr) tidy(*at);
    for (auto* bucket : std::exchange(one->buckets, {})) which.limits->let_go(*bucket, now);
    if (!one->tasks.empty()) make_ready(*one);
  }
  which.blocked = false;
  relist(which);
}

std::map<const wait_queues::queue*, moment> wait_queues::oldest() const {
  std::map<const queue*, moment> out;
  for (const auto& [number, places] : tasks_)
    for (const auto& one : places) {
      auto& known = out.try_emplace(one.in->in, one.since).first->second;
      known = std::min(known, one.since);
    }
  return out;
}

}  // namespace fairlead
