#pragma once
// Randomness that replays. Every concern of a run draws from a stream of its own, so that switching one concern off while a failing seed is
// shrunk leaves the choices of the others as they were.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::simulation {

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
class random_stream {
 public:
  random_stream(std::uint64_t seed, std::uint64_t stream) : state_(mix(seed) ^ mix(stream * 0x632be59bd9b4e019ULL + 1)) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    return mix(state_);
  }

  /// 0 … n-1; 0 when n is 0.
  std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : next() % n; }

  /// low … high.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low + 1)));
  }

  /// True in `per_mille` of a thousand cases.
  bool chance(std::uint64_t per_mille) { return below(1000) < per_mille; }

  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(from.size()))];
  }

  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }

 private:
  std::uint64_t state_;
};

inline std::string random_bytes(random_stream from, std::size_t count) {
  std::string out;
  while (out.size() < count) out += static_cast<char>(from.next() & 255);
  return out;
}

}  // namespace fairlead::simulation
