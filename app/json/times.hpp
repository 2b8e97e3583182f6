#pragma once
// Moments and durations as operators type them.

#include <cstdint>
#include <optional>
#include <string>

#include "messages/error.hpp"

namespace fairlead::app {

/// Reads a time given with an option (or in a field): in UTC or with an offset. Errors: invalid_argument.
result<std::int64_t> read_utc(const std::string& option, const std::string& text);
/// The same, for a moment after 1970-01-01T00:00:00Z, so that 0 can stand for none.
result<std::int64_t> read_start(const std::string& option, const std::string& text);
/// A time in the past: `3d` ago, or in UTC `2026-11-19`, `2026-11-19T08:00`, or in full with an offset. In unix ms.
result<std::int64_t> read_since(const std::string& option, const std::string& text, std::int64_t now_unix_ms);
/// The same of an option that need not be given. `unix_ms` stays as it is without it.
status read_since(const std::string& option, const std::optional<std::string>& text, std::int64_t now_unix_ms, std::int64_t& unix_ms);
/// Reads a duration of at least `least_ms` given with an option (or in a field). Errors: invalid_argument.
result<std::int64_t> read_duration(const std::string& option, const std::string& text, std::int64_t least_ms);

}  // namespace fairlead::app
