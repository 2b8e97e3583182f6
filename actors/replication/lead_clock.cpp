#include "actors/replication/lead_clock.hpp"

#include <algorithm>
#include <cstdlib>

namespace fairlead {

moment lead_clock::now() const {
  const std::lock_guard lock(guard_);
  const auto wall = wall_.now();
  if (offset_us_ == 0) return wall;
  // A thousandth of the time that has passed: as many microseconds as it was milliseconds.
  const auto passed = std::max<std::int64_t>(boot_ms_() - since_boot_ms_, 0);
  const auto left_us = std::max<std::int64_t>(std::abs(offset_us_) - passed, 0);
  return wall + duration{(offset_us_ < 0 ? -left_us : left_us) / 1'000};
}

/// A wall clock that was set back meanwhile says nothing of the time that has passed.
void lead_clock::resume(std::int64_t ahead_ms, std::int64_t wall_unix_ms) {
  const std::lock_guard lock(guard_);
  since_boot_ms_ = boot_ms_();
  offset_us_ = shrunk(ahead_ms, to_unix_ms(wall_.now()) - wall_unix_ms) * 1'000;
}

std::int64_t lead_clock::shrunk(std::int64_t ahead_ms, std::int64_t passed_ms) {
  const auto left_ms = std::max<std::int64_t>(std::abs(ahead_ms) - std::max<std::int64_t>(passed_ms, 0) / 1'000, 0);
  return ahead_ms < 0 ? -left_ms : left_ms;
}

std::int64_t lead_clock::ahead_ms() const { return to_unix_ms(now()) - to_unix_ms(wall_.now()); }

void lead_clock::take(const lead_clock& other) {
  const std::scoped_lock lock(guard_, other.guard_);
  offset_us_ = other.offset_us_;
  since_boot_ms_ = other.since_boot_ms_;
}

void lead_clock::reach(std::int64_t reading_unix_ms) {
  if (to_unix_ms(now()) < reading_unix_ms) follow(reading_unix_ms, boot_ms_());
}

void lead_clock::follow(std::int64_t reading_unix_ms, std::int64_t at_boot_ms) {
  const std::lock_guard lock(guard_);
  since_boot_ms_ = boot_ms_();
  offset_us_ = (reading_unix_ms + (since_boot_ms_ - at_boot_ms) - to_unix_ms(wall_.now())) * 1'000;
}

}  // namespace fairlead
