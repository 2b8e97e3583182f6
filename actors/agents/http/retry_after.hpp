#pragma once
// The Retry-After header and the dates of HTTP, in all their forms. Pure: the moment comes in as a value.

#include <cstdint>
#include <optional>
#include <string_view>

namespace fairlead::agents {

inline constexpr std::int64_t longest_retry_after_ms = 24LL * 3'600'000;

/// How long a service asks to be left alone: a count of seconds, or one of the three dates of HTTP (RFC 9110: `Sun, 06 Nov 1994 08:49:37
/// GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`) seen from `now`. 0 means that it does not say: so do a broken or
/// negative value and a moment in the past, because none of them may become a licence to come back at once. At most a day.
std::int64_t retry_after_ms(std::string_view value, std::int64_t now_unix_ms);

/// A date in one of those three forms. `now` is only for the century of a year with two digits.
std::optional<std::int64_t> http_date_unix_ms(std::string_view value, std::int64_t now_unix_ms);

}  // namespace fairlead::agents
