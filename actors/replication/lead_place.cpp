#include "actors/replication/lead_place.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "actors/replication/replica.hpp"

namespace fairlead {

namespace {

// In election timeouts, of 1 s by default.
constexpr std::int64_t quiet_at_start = 60;  // a node that starts and ends again and again draws no leaders to itself
constexpr std::int64_t between_looks = 10;
constexpr std::int64_t fit_for = 30;
constexpr std::int64_t after_a_change = 60;  // whether it has worked or not

}  // namespace

std::vector<std::string> order_of_leaders(std::uint32_t shard, std::vector<std::string> nodes) {
  std::sort(nodes.begin(), nodes.end());
  std::vector<std::string> out;
  for (std::size_t digits = shard; !nodes.empty();) {
    const auto next = nodes.begin() + static_cast<std::ptrdiff_t>(digits % nodes.size());
    digits /= nodes.size();
    out.push_back(std::move(*next));
    nodes.erase(next);
  }
  return out;
}

lead_place::lead_place(raft::replica_id self, std::int64_t election_ms, std::int64_t boot_ms)
    : self_(self), election_ms_(election_ms), next_look_ms_(boot_ms + quiet_at_start * election_ms) {}

void lead_place::decline(bool on) {
  declines_ = on;
  next_flight_ms_ = 0;
}

std::size_t lead_place::rank_of(raft::replica_id id) const {
  return static_cast<std::size_t>(std::distance(order_.begin(), std::find(order_.begin(), order_.end(), id)));
}

std::optional<raft::replica_id> lead_place::look(const replica_view& view, std::int64_t boot_ms, std::int64_t shard_ms) {
  note_who_is_fit(view, boot_ms, shard_ms);
  std::optional<raft::replica_id> best;
  std::size_t fit_for_long = 0;
  for (const auto& [id, since] : fit_since_) {
    if (!best || rank_of(id) < rank_of(*best)) best = id;
    fit_for_long += boot_ms - since >= fit_for * election_ms_ ? 1 : 0;
  }
  if (declines_) {
    next_flight_ms_ = boot_ms + election_ms_;
    return best;
  }
  next_look_ms_ = boot_ms + between_looks * election_ms_;
  // While one is away, or catches up, nothing else is to be disturbed.
  const bool all_are_fit = fit_for_long + 1 == view.members.voters.size();
  if (!all_are_fit || !best || rank_of(*best) >= rank_of(self_)) return std::nullopt;
  next_look_ms_ = boot_ms + after_a_change * election_ms_;
  return best;
}

/// Who could lead at once.
void lead_place::note_who_is_fit(const replica_view& view, std::int64_t boot_ms, std::int64_t shard_ms) {
  std::map<raft::replica_id, std::int64_t> fit;
  for (const auto& one : view.others) {
    if (!keeps_up(one, boot_ms, shard_ms, election_ms_) || one.declines || !view.members.votes(one.id)) continue;
    const auto before = fit_since_.find(one.id);
    fit.emplace(one.id, before == fit_since_.end() ? boot_ms : before->second);
  }
  fit_since_ = std::move(fit);
}

}  // namespace fairlead
