#include "app/metrics/store_growth.hpp"

namespace fairlead::app {

namespace {

constexpr duration apart = std::chrono::minutes{1};
constexpr duration window = std::chrono::hours{1};
// A shorter time tells more about the last batch of tasks than about the coming days.
constexpr duration least = std::chrono::minutes{10};

}  // namespace

void store_growth::saw(moment steady, std::uint64_t used_bytes) {
  // The newest reading is replaced until it is a minute after the one before.
  if (seen_.size() >= 2 && seen_.back().first - seen_[seen_.size() - 2].first < apart) seen_.pop_back();
  seen_.emplace_back(steady, used_bytes);
  // The oldest reading is as old as the window or a little older, so that a slow sampler, too, compares a whole hour.
  while (seen_.size() > 2 && steady - seen_[1].first >= window) seen_.pop_front();
}

std::optional<double> store_growth::seconds_until(std::uint64_t limit_bytes) const {
  if (seen_.empty()) return std::nullopt;
  const auto [since, before] = seen_.front();
  const auto [until, now] = seen_.back();
  if (now >= limit_bytes) return 0;
  if (until - since < least || now <= before) return std::nullopt;
  const auto bytes_a_ms = static_cast<double>(now - before) / static_cast<double>((until - since).count());
  return static_cast<double>(limit_bytes - now) / bytes_a_ms / 1000;
}

}  // namespace fairlead::app
