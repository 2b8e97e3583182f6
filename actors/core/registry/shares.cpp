#include "actors/core/registry/shares.hpp"

#include <algorithm>

namespace fairlead::core {

namespace {

constexpr duration pause_between{1'000};
constexpr duration longest_turn{10'000};  // of a shard that does not answer, while others wait

/// A shard without demand has a quarter of an even division: new demand then has a part to begin with.
constexpr std::uint32_t standing_fraction = 4;
constexpr std::uint32_t least_change = 32;  // 1/32 of the capacity
constexpr std::size_t most_open = 16;       // statements that are kept apart

bool contains(const std::vector<std::uint32_t>& all, std::uint32_t one) { return std::find(all.begin(), all.end(), one) != all.end(); }

}  // namespace

std::uint32_t shares::member::used() const {
  auto out = std::max({part, in_force, held});
  for (const auto& one : open) out = std::max(out, one.part);
  return out;
}

void shares::join(std::uint32_t shard) {
  auto& one = members_[shard];
  if (one.here) return;
  one.here = true;
  changed_ = true;
}

void shares::leave(std::uint32_t shard, std::uint32_t held) {
  const auto found = members_.find(shard);
  if (found == members_.end()) return;
  changed_ = changed_ || found->second.here;
  // The shard has had its turn: a shard that comes and goes must not keep the turn for ever.
  turn_.erase(std::remove(turn_.begin(), turn_.end(), shard), turn_.end());
  found->second = {};
  found->second.held = held;
}

void shares::resize(std::uint32_t capacity) {
  changed_ = changed_ || capacity_ != capacity;
  capacity_ = capacity;
}

void shares::wants(std::uint32_t shard, std::uint64_t wanted) {
  const auto found = members_.find(shard);
  if (found != members_.end() && found->second.here) found->second.wanted = wanted;
}

std::uint32_t shares::part(std::uint32_t shard) const {
  const auto found = members_.find(shard);
  return found == members_.end() ? 0 : found->second.part;
}

void shares::told(std::uint32_t shard, std::uint64_t revision, moment now) {
  const auto found = members_.find(shard);
  if (found == members_.end() || !found->second.here) return;
  auto& one = found->second;
  one.open.push_back({revision, one.part});
  if (one.open.size() > most_open) {
    one.open[1].part = std::max(one.open[0].part, one.open[1].part);
    one.open.erase(one.open.begin());
  }
  if (one.part == 0)
    one.offered.reset();
  else if (!one.offered)
    one.offered = now;
  one.told_last = one.part;
  one.ever_told = true;
  one.told_at = now;
}

void shares::acknowledged(std::uint32_t shard, std::uint64_t revision, std::uint32_t held, moment now) {
  const auto found = members_.find(shard);
  if (found == members_.end() || !found->second.here) return;
  auto& one = found->second;
  const auto said = std::find_if(one.open.begin(), one.open.end(), [&](const statement& s) { return s.revision == revision; });
  if (said == one.open.end()) return;  // an answer overtaken by a later one
  one.in_force = said->part;
  one.held = held;
  one.open.erase(one.open.begin(), said + 1);
  if (one.in_force == 0)
    one.served.reset();
  else if (!one.served)
    one.served = now;
}

std::uint64_t shares::bound() const {
  std::uint64_t out = 0;
  for (const auto& [shard, one] : members_) out += one.used();
  return out;
}

std::vector<std::uint32_t> shares::divide(moment now) {
  if (changed_ || !aimed_ || now < *aimed_ || now - *aimed_ >= pause_between) {
    if (changed_ || !content()) aim(now);
    changed_ = false;
    aimed_ = now;
  }
  raise();
  const auto short_of_room = std::any_of(members_.begin(), members_.end(),
                                         [](const auto& each) { return each.second.here && each.second.part < each.second.target; });
  std::vector<std::uint32_t> out;
  for (const auto& [shard, one] : members_) {
    if (!one.here) continue;
    // Only the shard knows when it holds less than before; the others wait for that.
    const auto ask_again = short_of_room && one.ever_told && one.held > one.part && now - one.told_at >= pause_between;
    if (!one.ever_told || one.part != one.told_last || ask_again) out.push_back(shard);
  }
  return out;
}

/// No other division would give any shard more.
bool shares::content() const {
  return std::all_of(members_.begin(), members_.end(), [](const auto& each) { return each.second.wanted <= each.second.target; });
}

void shares::aim(moment now) {
  std::vector<member*> all;
  std::vector<std::uint32_t> wanting;
  for (auto& [shard, one] : members_) {
    if (!one.here) continue;
    all.push_back(&one);
    if (one.wanted > 0) wanting.push_back(shard);
  }
  if (capacity_ < wanting.size()) {
    for (auto* one : all) one->target = 0;
    aim_in_turn(wanting, now);
    return;
  }
  turn_.clear();
  std::vector<std::uint32_t> before;
  for (const auto* one : all) before.push_back(one->target);
  aim_by_demand(all);
  // Demand varies, and each change costs messages: a small change is ignored, unless a shard has nothing.
  auto worth_it = changed_;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto difference = std::max(all[i]->target, before[i]) - std::min(all[i]->target, before[i]);
    worth_it = worth_it || difference > std::max(1u, capacity_ / least_change) || (all[i]->wanted > 0 && before[i] == 0);
  }
  for (std::size_t i = 0; !worth_it && i < all.size(); ++i) all[i]->target = before[i];
}

void shares::aim_by_demand(const std::vector<member*>& all) {
  if (all.empty()) return;
  const auto count = static_cast<std::uint32_t>(all.size());
  auto rest = std::uint64_t{capacity_};
  for (auto* one : all) {
    const auto standing = std::max(1u, capacity_ / (standing_fraction * count));
    one->target = capacity_ >= count ? standing : one->wanted > 0 ? 1 : 0;
    rest -= one->target;
  }
  fill(all, rest);
}

/// The rest goes to shards that want more, the least demanding first, so that a large demand does not cost another shard its small one.
/// Capacity that nobody wants is spread evenly, for the next demand.
void shares::fill(std::vector<member*> all, std::uint64_t rest) {
  const auto unmet = [](const member* one) { return one->wanted - std::min<std::uint64_t>(one->wanted, one->target); };
  std::stable_sort(all.begin(), all.end(), [&](const member* a, const member* b) { return unmet(a) < unmet(b); });
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto given = std::min(unmet(all[i]), rest / (all.size() - i));
    all[i]->target += static_cast<std::uint32_t>(given);
    rest -= given;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto given = rest / (all.size() - i);
    all[i]->target += static_cast<std::uint32_t>(given);
    rest -= given;
  }
}

void shares::aim_in_turn(const std::vector<std::uint32_t>& wanting, moment now) {
  // A turn that has not been used is not over: otherwise the next turn could always go to the same few. But no shard waits for ever for one
  // that does not answer.
  const auto taken = std::all_of(turn_.begin(), turn_.end(), [&](std::uint32_t shard) {
    const auto& one = members_.at(shard);
    if (one.served && now - std::max(*one.served, turn_began_) >= pause_between) return true;
    return one.offered && now - std::max(*one.offered, turn_began_) >= longest_turn;
  });
  if (taken) turn_.clear();
  turn_.erase(std::remove_if(turn_.begin(), turn_.end(), [&](std::uint32_t shard) { return !contains(wanting, shard); }), turn_.end());
  if (turn_.empty()) turn_began_ = now;
  while (turn_.size() < capacity_) {
    const auto next = next_in_turn(wanting);
    turn_.push_back(*next);
    turn_last_ = next;
  }
  for (const auto shard : turn_) members_.at(shard).target = 1;
}

/// The next shard in turn. There is one: fewer than `wanting` have their turn.
std::optional<std::uint32_t> shares::next_in_turn(const std::vector<std::uint32_t>& wanting) const {
  std::optional<std::uint32_t> first;
  for (const auto shard : wanting) {
    if (contains(turn_, shard)) continue;
    if (!turn_last_ || shard > *turn_last_) return shard;
    if (!first) first = shard;
  }
  return first;
}

void shares::raise() {
  std::vector<member*> short_ones;
  for (auto& [shard, one] : members_) {
    if (!one.here) continue;
    one.part = std::min(one.part, one.target);
    if (one.part < one.target) short_ones.push_back(&one);
  }
  if (short_ones.empty()) return;
  std::stable_sort(short_ones.begin(), short_ones.end(), [](const member* a, const member* b) { return a->part < b->part; });
  const auto taken = bound();
  auto free = taken < capacity_ ? capacity_ - taken : 0;
  // One for each first: a single shard that lacks much must not take what would let another begin.
  for (const auto most : {std::uint32_t{1}, capacity_}) {
    for (auto* one : short_ones) {
      const auto used = one->used();
      const auto next = static_cast<std::uint32_t>(std::min<std::uint64_t>(std::min(one->target, std::max(most, one->part)), used + free));
      free -= next > used ? next - used : 0;
      one->part = std::max(one->part, next);
    }
  }
}

}  // namespace fairlead::core
