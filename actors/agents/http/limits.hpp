#pragma once
// The bounds of what an http agent's configuration may say.

#include <cstdint>

namespace fairlead::agents {

inline constexpr std::uint32_t max_http_concurrency = 16'384;
inline constexpr std::int64_t max_connect_timeout_ms = 600'000;
inline constexpr std::int64_t min_connection_age_ms = 1'000;
inline constexpr std::int64_t max_connection_age_ms = 86'400'000;
inline constexpr std::uint64_t max_response_limit = 64ULL * 1024 * 1024;
inline constexpr std::uint32_t max_http_redirects = 20;
inline constexpr std::int64_t max_key_valid_for_ms = 3'660LL * 86'400'000;

}  // namespace fairlead::agents
