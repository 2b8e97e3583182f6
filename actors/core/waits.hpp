#pragma once
// Waits for moments of a wall clock that may be set back meanwhile. Pure.
//
// A moment noted before the clock fell by an hour lies an hour further away than was meant. A known longest wait tells such a moment from a
// sound one. Use these for every wait whose early end does no harm; an early end of a lease does.

#include <algorithm>
#include <cstdint>

#include "messages/time.hpp"

namespace fairlead::core {

/// Adjustments that keep a clock right are smaller than this.
inline constexpr std::int64_t small_setting_ms = 1'000;

/// Whether `until` lies further ahead than the longest wait: it was noted before the clock was set back.
template <class Moment, class Span>
constexpr bool set_back_since(Moment until, Moment now, Span longest) {
  return until > now && until - now > longest;
}

/// Whether a wait until `until` has ended. A clock that was set back delays no one: a moment further away than `longest` counts as over.
template <class Moment, class Span>
constexpr bool is_over(Moment until, Moment now, Span longest) {
  return until <= now || set_back_since(until, now, longest);
}

/// Whether a wait that began at `since` and takes `length` goes on; the same rule.
constexpr bool still_waits(moment since, duration length, moment now) { return !is_over(since + length, now, length); }
constexpr bool still_waits(std::int64_t since_unix_ms, duration length, std::int64_t now_unix_ms) {
  return still_waits(moment{duration{since_unix_ms}}, length, moment{duration{now_unix_ms}});
}

/// The wait after so many failures in a row: `first` after one, doubled with each further failure up to `longest`. (retry.hpp has waits
/// with jitter, for many waiters that might come back at once.)
template <class Span>
constexpr Span backoff_after(std::uint64_t failures, Span first, Span longest) {
  auto out = first;
  for (std::uint64_t i = 1; i < failures && out < longest; ++i) out *= 2;
  return std::min(out, longest);
}

}  // namespace fairlead::core
