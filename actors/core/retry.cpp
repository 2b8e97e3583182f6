#include "actors/core/retry.hpp"

#include <algorithm>
#include <cmath>

#include "actors/core/mix.hpp"

namespace fairlead::core {

namespace {

/// Between 0 and 1.
double share_of(const jitter_seed& seed) {
  const auto bits = mix(mix(seed.task_number) ^ (static_cast<std::uint64_t>(seed.step) << 32) ^ seed.attempt);
  return static_cast<double>(bits >> 11) / static_cast<double>(1ULL << 53);
}

}  // namespace

std::int64_t backoff_ms(const v1::Backoff& policy, std::uint32_t failures, const jitter_seed& seed) {
  const auto first = static_cast<double>(std::max<std::int64_t>(policy.first_ms(), 0));
  const auto cap = static_cast<double>(std::max<std::int64_t>({policy.max_ms(), policy.first_ms(), 0}));
  const auto factor = std::max(policy.factor(), 1.0);
  const auto exponent = failures > 0 ? failures - 1 : 0;
  // pow may overflow to infinity, which the cap turns into a number again.
  const auto whole = std::min(first * std::pow(factor, static_cast<double>(exponent)), cap);
  return static_cast<std::int64_t>(std::llround(whole / 2 + whole / 2 * share_of(seed)));
}

duration backoff_after(std::uint32_t failures, duration first, duration longest, const jitter_seed& seed) {
  v1::Backoff policy;
  policy.set_first_ms(first.count());
  policy.set_factor(2);
  policy.set_max_ms(longest.count());
  return duration{backoff_ms(policy, failures, seed)};
}

std::int64_t spread_ms(std::int64_t least_ms, const jitter_seed& seed) {
  return least_ms + std::llround(static_cast<double>(least_ms) / 10 * share_of(seed));
}

}  // namespace fairlead::core
