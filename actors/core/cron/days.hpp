#pragma once
// The days, and seconds of a day, that an expression names on a clock without zones. For next.cpp.
//
// Local seconds: the clock's reading, as seconds since its own 1970-01-01T00:00:00. Local days: these divided by 86,400.

#include <cstdint>
#include <optional>

#include "actors/core/cron/expression.hpp"

namespace fairlead::core {

/// Bit n for the n-th day of a month that has `length` days and begins with `first_weekday` (Sunday is 0); 0 for a month not named.
std::uint32_t matching_days(const cron_sets& sets, unsigned month, unsigned first_weekday, unsigned length);

/// The first local second from `from` on that matches; nullopt: it lies beyond the end of the year `last_year`. The work is bounded by the
/// years; years that cannot match are searched once for each first weekday and length.
std::optional<std::int64_t> next_local(const cron_sets& sets, std::int64_t from, int last_year);

}  // namespace fairlead::core
