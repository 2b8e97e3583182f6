#pragma once
// A day or a time of day as people write it, by the clock of a time zone that may not be known yet.

#include <cctz/time_zone.h>

#include <cstdint>
#include <optional>
#include <string>

namespace fairlead::core {

/// Two are compared as one clock shows them.
struct local_time {
  cctz::civil_second at;
  bool whole_day = false;  // then `at` is its midnight

  /// The last second that is named: of the day, or `at` itself.
  cctz::civil_second last() const;
};

/// `2026-03-28`, `2026-03-28 23:30`, `2026-03-28T23:30:15`. nullopt: another form, or no such day or time.
std::optional<local_time> parse_local_time(const std::string& text);

/// Milliseconds since 1970 of the first and of the last moment that is named. A time in a gap of the clock is the first moment after the
/// gap; one that shows twice is the first of the two.
std::int64_t first_unix_ms(const local_time& time, const cctz::time_zone& zone);
std::int64_t last_unix_ms(const local_time& time, const cctz::time_zone& zone);

}  // namespace fairlead::core
