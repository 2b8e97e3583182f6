#pragma once
// The Retry-After header and the dates of HTTP, in all their forms. Pure: the time is an argument.

#include <cstdint>
#include <optional>
#include <string_view>

namespace fairlead::agents {

inline constexpr std::int64_t longest_retry_after_ms = 24LL * 3'600'000;

/// The pause that a service asks for: a count of seconds, or one of the three dates of HTTP (RFC 9110: `Sun, 06 Nov 1994 08:49:37 GMT`,
/// `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`) relative to `now`. 0: no pause given; also for a broken or negative value
/// and a moment in the past, because none of these may permit an immediate retry. At most a day.
std::int64_t retry_after_ms(std::string_view value, std::int64_t now_unix_ms);

/// A date in one of these three forms. `now` only decides the century of a two-digit year.
std::optional<std::int64_t> http_date_unix_ms(std::string_view value, std::int64_t now_unix_ms);

}  // namespace fairlead::agents
