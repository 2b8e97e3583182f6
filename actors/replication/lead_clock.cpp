#include "actors/replication/lead_clock.hpp"

#include <algorithm>
#include <cstdlib>

namespace fairlead {

namespace {

// Less is how the two clocks are read one after the other, or how one is slewed; that gathers until it is as much.
constexpr std::int64_t least_setting_ms = 20;
// Both clocks are read within so many milliseconds.
constexpr std::int64_t longest_reading_ms = 5;

}  // namespace

/// A thread that is held up between the two would take that for a wall clock that was set.
lead_clock::both lead_clock::read() const {
  auto before_ms = boot_ms_();
  while (true) {
    const auto wall = wall_.now();
    const auto after_ms = boot_ms_();
    if (after_ms - before_ms <= longest_reading_ms) return {wall, after_ms};
    before_ms = after_ms;
  }
}

moment lead_clock::now() const {
  const std::lock_guard lock(guard_);
  if (at_.offset_us == 0) return wall_.now();
  const auto own = read();
  return own.wall + duration{offset_us(own) / 1'000};
}

std::int64_t lead_clock::ahead_ms() const {
  const std::lock_guard lock(guard_);
  return at_.offset_us == 0 ? 0 : offset_us(read()) / 1'000;
}

std::int64_t lead_clock::offset_us(const both& own) const {
  const auto left = left_us(own.boot_ms);
  const auto set_by_us = (to_unix_ms(own.wall) - own.boot_ms - at_.wall_of_boot_ms) * 1'000;
  if (std::abs(set_by_us) < least_setting_ms * 1'000) return left;
  set(left - std::clamp(set_by_us, std::min<std::int64_t>(left, 0), std::max<std::int64_t>(left, 0)), own);
  return at_.offset_us;
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
  const auto own = read();
  set(shrunk(ahead_ms, to_unix_ms(own.wall) - wall_unix_ms) * 1'000, own);
}

std::int64_t lead_clock::shrunk(std::int64_t ahead_ms, std::int64_t passed_ms) {
  const auto left_ms = std::max<std::int64_t>(std::abs(ahead_ms) - std::max<std::int64_t>(passed_ms, 0) / 1'000, 0);
  return ahead_ms < 0 ? -left_ms : left_ms;
}

void lead_clock::take(const lead_clock& other) {
  const std::scoped_lock lock(guard_, other.guard_);
  at_ = other.at_;
}

void lead_clock::reach(std::int64_t reading_unix_ms) {
  if (to_unix_ms(now()) < reading_unix_ms) follow(reading_unix_ms, boot_ms_());
}

void lead_clock::follow(std::int64_t reading_unix_ms, std::int64_t at_boot_ms) {
  const std::lock_guard lock(guard_);
  const auto own = read();
  set((reading_unix_ms + (own.boot_ms - at_boot_ms) - to_unix_ms(own.wall)) * 1'000, own);
}

}  // namespace fairlead
