#pragma once
// Retention time: the clock for irreversible removals. Archiving, unlinking of archives, erasing of alerts and dropping of status events
// use it. A wall clock that is wrong for a while must not delete acknowledged data. So retention time is durable
// (ShardState.retention_unix_ms), takes its pace from the steady clock, and follows the wall clock at most 24 times as fast: a day of wrong
// time needs an hour in which nobody notices. Pure: clock readings are arguments. Milliseconds since 1970; 0: retention time has not begun,
// and nothing ages.

#include <algorithm>
#include <cstdint>

#include "messages/time.hpp"

namespace fairlead::core {

/// A clock that reads earlier than 2023-01-01T00:00Z has not been set: no release of this program is as old.
inline constexpr std::int64_t first_plausible_unix_ms = 1'672'531'200'000;

/// Retention time follows the wall clock at most so many times as fast as the steady clock.
inline constexpr std::int64_t fastest_pace = 24;

/// The first retention time of a store that has none. It is the latest moment that an earlier release has written, since the wall clock may
/// be wrong; in a new store it is the wall clock. 0: neither is plausible yet.
constexpr std::int64_t first_retention(std::int64_t latest_write_unix_ms, std::int64_t wall_unix_ms) {
  const auto begin = latest_write_unix_ms >= first_plausible_unix_ms ? latest_write_unix_ms : wall_unix_ms;
  return begin >= first_plausible_unix_ms ? begin : 0;
}

/// The next retention time, `elapsed` of the steady clock after `previous`. While the wall clock reads earlier, retention time goes on at
/// half the pace of the steady clock: it never stands still, and meets a wall clock that was set right.
constexpr std::int64_t next_retention(std::int64_t previous, std::int64_t wall_unix_ms, duration elapsed) {
  const auto passed = std::max<std::int64_t>(elapsed.count(), 0);
  return previous + std::clamp(wall_unix_ms - previous, passed / 2, passed * fastest_pace);
}

/// The moment to which ages are measured. Ends and events are stamped by the wall clock: while it reads earlier than retention time, ages
/// are measured by the wall clock. So the wall clock can make things younger, never older.
inline std::int64_t aged_until(std::int64_t retention_unix_ms, moment wall) { return std::min(retention_unix_ms, to_unix_ms(wall)); }

}  // namespace fairlead::core
