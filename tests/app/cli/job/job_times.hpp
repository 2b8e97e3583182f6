#pragma once
// Moments of the jobs in these tests.

#include <cstdint>

namespace fairlead::app {

inline constexpr std::int64_t nominal_ms = 1'774'746'000'000;  // 2026-03-29T01:00:00Z
inline constexpr std::int64_t minute_ms = 60'000;

}  // namespace fairlead::app
