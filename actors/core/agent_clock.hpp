#pragma once
// The monotonic clock of an agent instance, as a shard knows it: the latest beacon, and its arrival by the shard's own monotonic clock.
// Wall clocks play no part and may be set at will.

#include <cstdint>

#include "messages/time.hpp"

namespace fairlead::core {

class agent_clock {
 public:
  /// `beacon_ms`: the agent's clock at the sending of a beacon; nonsense counts only as a sign of life.
  void told(std::int64_t beacon_ms, moment steady) {
    heard_ = steady;
    constexpr std::int64_t longest_ms = 1'000'000'000'000'000;  // far from where sums would overflow
    if (beacon_ms <= 0 || beacon_ms > longest_ms) return;
    beacon_ms_ = beacon_ms;
    received_ = steady;
  }

  /// The agent has been heard, or could not have been heard.
  void heard(moment steady) { heard_ = steady; }

  /// Lower bound of the agent's clock for a message that leaves now; 0: unknown.
  std::int64_t anchor_ms(moment steady) const { return beacon_ms_ == 0 ? 0 : beacon_ms_ + (steady - received_).count(); }

  bool silent(moment steady, duration limit) const { return steady - heard_ >= limit; }

 private:
  std::int64_t beacon_ms_ = 0;  // 0: no beacon yet
  moment received_{};
  moment heard_{};
};

}  // namespace fairlead::core
