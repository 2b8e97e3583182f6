#include "actors/core/retry.hpp"

#include <algorithm>
#include <cmath>

namespace fairlead::core {

namespace {

// The finalizer of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014): every input bit reaches
// every output bit.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

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
