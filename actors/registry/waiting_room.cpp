#include "actors/registry/waiting_room.hpp"

#include <algorithm>

namespace fairlead {

namespace {

/// Lanes without tasks that are kept. Whoever has just been told a lane gives it back within the same turn; and a lane that fills and empties
/// all the time is not made anew each time.
constexpr std::size_t idle_lanes = 1'024;

core::limit_bucket* saturated(const std::vector<core::limit_bucket*>& buckets, moment now) {
  for (auto* bucket : buckets)
    if (!core::limit_book::has_room(*bucket, now)) return bucket;
  return nullptr;
}

}  // namespace

waiting_room::~waiting_room() = default;

std::uint64_t waiting_room::lane_for(line& in, const std::vector<core::limit_bucket*>& keyed, moment now) {
  std::string signature;
  for (const auto* bucket : keyed) signature.append(reinterpret_cast<const char*>(&bucket->id), sizeof bucket->id);
  auto& entry = in.lanes[signature];
  if (entry != nullptr) return entry->id;
  auto made = std::make_unique<lane>();
  made->id = next_id_++;
  made->in = &in;
  made->signature = std::move(signature);
  made->buckets = keyed;
  for (auto* bucket : keyed) in.limits->keep(*bucket);
  entry = made.get();
  const auto id = made->id;
  become_idle(*made, now);
  lanes_.emplace(id, std::move(made));
  return id;
}

void waiting_room::become_idle(lane& which, moment now) {
  which.idle = idle_.insert(idle_.end(), &which);
  if (idle_.size() > idle_lanes) destroy(*idle_.front(), now);
}

void waiting_room::destroy(lane& which, moment now) {
  idle_.erase(*which.idle);
  const auto known = which.in->lanes.find(which.signature);
  if (known != which.in->lanes.end() && known->second == &which) which.in->lanes.erase(known);
  for (auto* bucket : which.buckets) which.in->limits->let_go(*bucket, now);
  lanes_.erase(which.id);
}

void waiting_room::wait(std::uint64_t id, const waiting_key& who, moment now) {
  const auto found = lanes_.find(id);
  if (found == lanes_.end()) {
    strays_.insert(who);
    return;
  }
  auto& in = *found->second;
  auto& spots = tasks_[who.task_number];
  const auto there = std::find_if(spots.begin(), spots.end(), [&](const spot& one) { return one.in == &in; });
  const auto fresh = there == spots.end();
  if (fresh) {
    spots.push_back({&in, who, now});
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
  if (!in.ready && in.parked == nullptr) {
    make_ready(in);
  } else {
    reposition(in);
  }
  if (fresh && in.in->waiting == 1) door_.occupied(*in.in, now);
  settle(*in.in, now);
}

void waiting_room::settle(line& which, moment now) {
  while (!which.blocked && !which.ready.empty()) {
    if (!door_.lets_through(which, now)) {
      which.blocked = true;
      break;
    }
    auto& top = *which.ready.begin()->second;
    auto* const full = saturated(top.buckets, now);
    if (full == nullptr) break;
    park_lane(top, *full, now);
  }
  relist(which);
}

std::optional<std::uint64_t> waiting_room::next(moment now) {
  if (!strays_.empty()) {
    const auto number = strays_.begin()->task_number;
    strays_.erase(strays_.begin());
    return number;
  }
  while (!ready_.empty()) {
    auto& first = *ready_.begin()->second;
    const auto was = *first.listed;
    settle(first, now);
    // What it has now may not be the best of all any more.
    if (!first.listed || *first.listed != was) continue;
    auto& from = *first.ready.begin()->second;
    const auto key = *from.tasks.begin();
    auto& spots = tasks_[key.task_number];
    std::erase_if(spots, [&](const spot& one) { return one.in == &from; });
    if (spots.empty()) tasks_.erase(key.task_number);
    remove_task(from, key, now);
    return key.task_number;
  }
  return std::nullopt;
}

bool waiting_room::waits(std::uint64_t task_number) const {
  return tasks_.count(task_number) != 0 ||
         std::any_of(strays_.begin(), strays_.end(), [&](const waiting_key& one) { return one.task_number == task_number; });
}

void waiting_room::forget(std::uint64_t task_number, moment now) {
  const auto found = tasks_.find(task_number);
  if (found == tasks_.end()) return;
  const auto spots = std::move(found->second);
  tasks_.erase(found);
  for (const auto& one : spots) remove_task(*one.in, one.key, now);
}

void waiting_room::remove_task(lane& from, const waiting_key& key, moment now) {
  auto& of = *from.in;
  from.tasks.erase(key);
  --of.waiting;
  auto* const was_at = from.parked;
  auto* const sent_by = take_out(from);
  if (from.tasks.empty()) {
    become_idle(from, now);
  } else if (was_at != nullptr) {
    put_at(from, *was_at);
  } else if (sent_by != nullptr) {
    put_at(from, *sent_by);
  } else {
    make_ready(from);
  }
  if (sent_by != nullptr) {
    send_scout(*sent_by);
    tidy(*sent_by);
  }
  if (was_at != nullptr) tidy(*was_at);
  // Nobody will say when what held it back is over: whoever comes next has to be looked at anew.
  if (of.waiting == 0) of.blocked = false;
  relist(of);
  if (of.waiting == 0) door_.occupied(of, now);
}

void waiting_room::relist(line& which) {
  const auto wanted = which.blocked || which.ready.empty() ? std::nullopt : std::optional{which.ready.begin()->first};
  if (wanted == which.listed) return;
  if (which.listed) {
    ready_.erase({*which.listed, &which});
    --*which.lines_ready;
  }
  if (wanted) {
    ready_.emplace(*wanted, &which);
    ++*which.lines_ready;
  }
  which.listed = wanted;
}

void waiting_room::make_ready(lane& which) {
  which.ready = true;
  which.listed = *which.tasks.begin();
  which.in->ready.emplace(which.listed, &which);
}

waiting_room::park* waiting_room::take_out(lane& which) {
  if (which.parked != nullptr) {
    which.parked->lanes.erase({which.listed, &which});
    which.parked = nullptr;
  }
  if (which.ready) which.in->ready.erase({which.listed, &which});
  which.ready = false;
  auto* const sent_by = std::exchange(which.scout_of, nullptr);
  if (sent_by != nullptr) sent_by->scout = nullptr;
  return sent_by;
}

void waiting_room::put_at(lane& which, park& where) {
  which.parked = &where;
  which.listed = *which.tasks.begin();
  where.lanes.emplace(which.listed, &which);
}

void waiting_room::park_lane(lane& which, core::limit_bucket& bucket, moment now) {
  auto* const sent_by = take_out(which);
  auto& where = parks_[&bucket][which.in];
  if (!where) {
    where = std::make_unique<park>();
    where->bucket = &bucket;
    where->of = which.in;
  }
  put_at(which, *where);
  if (const auto at = core::limit_book::opens_at(bucket)) rates_.set(&bucket, *at, now);
  if (sent_by == nullptr || sent_by == where.get()) return;
  // The bucket that let this one go has room still, or somebody else has taken it since.
  if (core::limit_book::has_room(*sent_by->bucket, now)) {
    send_scout(*sent_by);
  } else if (const auto at = core::limit_book::opens_at(*sent_by->bucket)) {
    rates_.set(sent_by->bucket, *at, now);
  }
  tidy(*sent_by);
}

void waiting_room::send_scout(park& from) {
  if (from.lanes.empty()) return;
  auto& best = *from.lanes.begin()->second;
  if (auto* const other = from.scout; other != nullptr) {
    // One that has not had its turn may have been passed by another that came before this bucket since.
    if (other->listed < best.listed) return;
    take_out(*other);
    put_at(*other, from);
  }
  from.lanes.erase({best.listed, &best});
  best.parked = nullptr;
  best.scout_of = &from;
  from.scout = &best;
  make_ready(best);
}

void waiting_room::tidy(park& which) {
  if (which.scout != nullptr || !which.lanes.empty()) return;
  auto* const bucket = which.bucket;
  const auto found = parks_.find(bucket);
  found->second.erase(which.of);
  if (!found->second.empty()) return;
  parks_.erase(found);
  rates_.clear(bucket);
}

void waiting_room::reposition(lane& which) {
  if (which.listed == *which.tasks.begin()) return;
  if (auto* const at = which.parked; at != nullptr) {
    take_out(which);
    put_at(which, *at);
    if (at->scout != nullptr) send_scout(*at);
    return;
  }
  which.in->ready.erase({which.listed, &which});
  which.listed = *which.tasks.begin();
  which.in->ready.emplace(which.listed, &which);
}

void waiting_room::unblock(line& which) {
  if (!which.blocked) return;
  which.blocked = false;
  relist(which);
}

void waiting_room::opened(core::limit_bucket& which, moment now) {
  const auto found = parks_.find(&which);
  if (found == parks_.end()) return;
  if (!core::limit_book::has_room(which, now)) {
    if (const auto at = core::limit_book::opens_at(which)) rates_.set(&which, *at, now);
    return;
  }
  for (auto& [of, where] : found->second) {
    send_scout(*where);
    relist(*of);
  }
}

void waiting_room::wake(moment now) {
  while (auto* const due = rates_.take_due(now)) opened(*due, now);
}

void waiting_room::dissolve(line& which, moment now) {
  for (auto& [signature, one] : std::exchange(which.lanes, {})) {
    auto* const was_at = one->parked;
    auto* const sent_by = take_out(*one);
    for (auto* at : {was_at, sent_by})
      if (at != nullptr) tidy(*at);
    for (auto* bucket : std::exchange(one->buckets, {})) which.limits->let_go(*bucket, now);
    if (!one->tasks.empty()) make_ready(*one);
  }
  which.blocked = false;
  relist(which);
}

std::map<const waiting_room::line*, moment> waiting_room::oldest() const {
  std::map<const line*, moment> out;
  for (const auto& [number, spots] : tasks_)
    for (const auto& one : spots) {
      auto& known = out.try_emplace(one.in->in, one.since).first->second;
      known = std::min(known, one.since);
    }
  return out;
}

}  // namespace fairlead
