#include "actors/replication/lead_clock.hpp"

#include <algorithm>
#include <cstdlib>

namespace fairlead {

namespace {

// Less is how the two clocks are read one after the other, or how one is slewed; that gathers until it is as much.
constexpr std::int64_t least_setting_ms = 20;

}  // namespace

moment lead_clock::now() const {
  const std::lock_guard lock(guard_);
  const auto wall = wall_.now();
  if (at_.offset_us == 0) return wall;
  const auto boot_ms = boot_ms_();
  const auto set_by_ms = to_unix_ms(wall) - boot_ms - at_.wall_of_boot_ms;
  const auto left = left_us(boot_ms);
  if (std::abs(set_by_ms) < least_setting_ms) return wall + duration{left / 1'000};
  const auto nearer_us =
      left > 0 ? std::clamp<std::int64_t>(set_by_ms * 1'000, 0, left) : std::clamp<std::int64_t>(set_by_ms * 1'000, left, 0);
  set(left - nearer_us, to_unix_ms(wall), boot_ms);
  return wall + duration{at_.offset_us / 1'000};
}

/// A thousandth of the time that has passed is gone: as many microseconds as it was milliseconds.
std::int64_t lead_clock::left_us(std::int64_t boot_ms) const {
  const auto passed = std::max<std::int64_t>(boot_ms - at_.since_boot_ms, 0);
  const auto left = std::max<std::int64_t>(std::abs(at_.offset_us) - passed, 0);
  return at_.offset_us < 0 ? -left : left;
}

/// A wall clock that was set back meanwhile says nothing of the time that has passed.
void lead_clock::resume(std::int64_t ahead_ms, std::int64_t wall_unix_ms) {
  const std::lock_guard lock(guard_);
  const auto wall_ms = to_unix_ms(wall_.now());
  set(shrunk(ahead_ms, wall_ms - wall_unix_ms) * 1'000, wall_ms, boot_ms_());
}

std::int64_t lead_clock::shrunk(std::int64_t ahead_ms, std::int64_t passed_ms) {
  const auto left_ms = std::max<std::int64_t>(std::abs(ahead_ms) - std::max<std::int64_t>(passed_ms, 0) / 1'000, 0);
  return ahead_ms < 0 ? -left_ms : left_ms;
}

std::int64_t lead_clock::ahead_ms() const { return to_unix_ms(now()) - to_unix_ms(wall_.now()); }

void lead_clock::take(const lead_clock& other) {
  const std::scoped_lock lock(guard_, other.guard_);
  at_ = other.at_;
}

void lead_clock::reach(std::int64_t reading_unix_ms) {
  if (to_unix_ms(now()) < reading_unix_ms) follow(reading_unix_ms, boot_ms_());
}

void lead_clock::follow(std::int64_t reading_unix_ms, std::int64_t at_boot_ms) {
  const std::lock_guard lock(guard_);
  const auto boot_ms = boot_ms_();
  const auto wall_ms = to_unix_ms(wall_.now());
  set((reading_unix_ms + (boot_ms - at_boot_ms) - wall_ms) * 1'000, wall_ms, boot_ms);
}

}  // namespace fairlead
