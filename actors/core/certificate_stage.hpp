#pragma once
// How near the end of a certificate is.

#include <array>
#include <cstdint>

namespace fairlead::core {

/// Days before its end at which a certificate is warned of; 0: it has ended.
inline constexpr std::array<std::int64_t, 4> certificate_warn_days{21, 7, 1, 0};

/// How many of these moments are over for a certificate that ends in so many milliseconds; 0: it lasts long enough.
constexpr int certificate_stage(std::int64_t left_ms) {
  int out = 0;
  for (const auto days : certificate_warn_days)
    if (left_ms <= days * 86'400'000) ++out;
  return out;
}

}  // namespace fairlead::core
