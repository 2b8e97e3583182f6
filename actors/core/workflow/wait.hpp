#pragma once
// The text of a step that waits: a duration or a time.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "messages/error.hpp"

namespace fairlead::core {

/// No wait is longer: 3660d.
inline constexpr std::int64_t longest_wait_ms = std::int64_t{3660} * 86'400'000;

/// The moment at which a wait ends that began at `from_unix_ms`. `text`: a duration such as `10m`, or a time such as
/// `2026-12-24T18:00:00Z`, which may have passed.
result<std::int64_t> wait_end(std::string_view text, std::int64_t from_unix_ms);

/// Whether the text is a duration (and not a time).
bool is_wait_duration(std::string_view text);

/// The text as it is stored: the shortest spelling of a duration, and a time in UTC. nullopt: it is neither.
std::optional<std::string> canonical_wait(std::string_view text);

}  // namespace fairlead::core
