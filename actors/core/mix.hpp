#pragma once
// The numbers that SplitMix64 makes of a counter (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).

#include <cstdint>

namespace fairlead::core {

/// What a generator adds to its counter for each number.
inline constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15ULL;

/// Every input bit reaches every output bit.
inline std::uint64_t mix(std::uint64_t x) {
  x += golden_gamma;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace fairlead::core
