#include "actors/agent_host/heartbeats.hpp"

#include <algorithm>
#include <utility>

namespace fairlead {

namespace {

constexpr duration least_rest{1'000};     // between two progress messages if there is no heartbeat to keep
constexpr std::size_t most_awaited = 64;  // beyond this the oldest are dropped: the lease that they could give ended long ago

}  // namespace

void merge_progress(agents::attempt_progress& into, agents::attempt_progress&& later) {
  if (later.percent) into.percent = later.percent;
  if (!later.note.empty()) into.note = std::move(later.note);
  if (!later.checkpoint.empty()) into.checkpoint = std::move(later.checkpoint);
  into.at_once = into.at_once || later.at_once;
}

void attempt_pulse::report(agents::attempt_progress what) {
  reported_ = true;
  if (!what.percent && what.note.empty() && what.checkpoint.empty()) return;
  merge_progress(progress_, std::move(what));
  news_ = true;
}

duration attempt_pulse::rest() const { return period_.count() > 0 ? std::max(period_ / 3, duration{1}) : least_rest; }

std::optional<moment> attempt_pulse::next(bool by_itself) const {
  // First progress is sent at once: watchers wait for it.
  if (news_ && told_in_ == 0) return last_sent_;
  if (news_ || (period_.count() > 0 && (by_itself || reported_))) return last_sent_ + rest();
  return std::nullopt;
}

v1::Heartbeat attempt_pulse::beat(moment now) {
  v1::Heartbeat out;
  out.set_sequence(++sequence_);
  // A heartbeat may be lost: its progress is sent again with the next one until it is known to be durable.
  if (news_ || told_in_ > acknowledged_) {
    out.set_has_progress(true);
    if (progress_.percent) out.set_percent(*progress_.percent);
    out.set_note(progress_.note);
    out.set_checkpoint(progress_.checkpoint);
    told_in_ = sequence_;
  }
  news_ = false;
  reported_ = false;
  last_sent_ = now;
  if (period_.count() > 0) awaited_.push_back({sequence_, now});
  if (awaited_.size() > most_awaited) awaited_.pop_front();
  return out;
}

std::optional<moment> attempt_pulse::acknowledged(std::uint64_t sequence) {
  // A heartbeat that was never sent says nothing, and must not silence later ones.
  if (sequence > sequence_) return std::nullopt;
  acknowledged_ = std::max(acknowledged_, sequence);
  std::optional<moment> until;
  while (!awaited_.empty() && awaited_.front().sequence <= sequence) {
    if (awaited_.front().sequence == sequence) until = awaited_.front().at + period_;
    awaited_.pop_front();
  }
  return until;
}

void attempt_pulse::shorten(duration by) {
  for (auto& one : awaited_) one.at -= by;
}

bool progress_inbox::put(const agents::attempt_key& key, agents::attempt_progress what) {
  const std::lock_guard lock{guard_};
  const auto [found, fresh] = waiting_.try_emplace(key);
  merge_progress(found->second, std::move(what));
  return fresh;
}

std::optional<agents::attempt_progress> progress_inbox::take(const agents::attempt_key& key) {
  const std::lock_guard lock{guard_};
  const auto found = waiting_.find(key);
  if (found == waiting_.end()) return std::nullopt;
  auto out = std::move(found->second);
  waiting_.erase(found);
  return out;
}

}  // namespace fairlead
