#pragma once
// What a shard knows of the monotonic clock of an agent instance: the latest beacon and when it came in, by the shard's own monotonic clock.
// Of clocks on walls it knows nothing, so those may be set as they like.

#include <cstdint>

#include "messages/time.hpp"

namespace fairlead::core {

class agent_clock {
 public:
  /// `beacon_ms`: what the agent's clock showed when it sent this; nonsense counts as a sign of life alone.
  void told(std::int64_t beacon_ms, moment steady) {
    heard_ = steady;
    constexpr std::int64_t longest_ms = 1'000'000'000'000'000;  // far from where sums would overflow
    if (beacon_ms <= 0 || beacon_ms > longest_ms) return;
    beacon_ms_ = beacon_ms;
    received_ = steady;
  }

  /// It has been heard, or nobody could have heard it.
  void heard(moment steady) { heard_ = steady; }

  /// What leaves now leaves when the agent's clock shows this, or more; 0: not known.
  std::int64_t anchor_ms(moment steady) const { return beacon_ms_ == 0 ? 0 : beacon_ms_ + (steady - received_).count(); }

  bool silent(moment steady, duration limit) const { return steady - heard_ >= limit; }

 private:
  std::int64_t beacon_ms_ = 0;  // 0: none yet
  moment received_{};
  moment heard_{};
};

}  // namespace fairlead::core
