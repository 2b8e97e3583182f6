#pragma once
// The instants at which an expression is due in a time zone. Pure: cctz reads the system's zone data when a zone is loaded, not here.
//
// A time of the zone's clock can be skipped (a gap: the clock jumps forward), or show twice (an overlap: it jumps back). Changes of any
// size and cause count: half an hour on Lord Howe, all of 2011-12-30 in Samoa, the end of local mean time. The job's policy decides what
// happens then; `@every` knows neither zones nor policies.

#include <cctz/time_zone.h>

#include <cstdint>
#include <optional>
#include <string>

#include "actors/core/cron/expression.hpp"

namespace fairlead::core {

enum class dst_policy {
  vixie,      // wild expressions as `literal`; others once in an overlap, and right after a gap that skips them
  literal,    // exactly when the clock matches: never in a gap, twice in an overlap
  skip_once,  // never in a gap, and in an overlap the first time only
};

/// Seconds since 1970 of the first instant after `after_unix_s` at which the job is due. nullopt: never again, neither within 400 years
/// (then weekdays and leap years repeat) nor before the year 10000. Instants before the year 1 count as its beginning.
std::optional<std::int64_t> next_instant(const cron_expression& expression, const cctz::time_zone& zone, dst_policy policy,
                                         std::int64_t after_unix_s);

/// False when no day of any year matches (`0 0 30 2 *`).
bool ever_matches(const cron_expression& expression);

/// The zone's clock at an instant, with its offset: `2026-03-29T03:00:00+02:00`. Offsets of local mean time have seconds: `+00:53:28`.
std::string format_local(std::int64_t unix_s, const cctz::time_zone& zone);

}  // namespace fairlead::core
