#pragma once
// How many launches may start per second: a bucket of a tenth of a second's worth, so that they come evenly. One thread.

#include <algorithm>
#include <cstdint>

#include "messages/time.hpp"

namespace fairlead {

class start_rate {
 public:
  /// One of `parts` that together start `per_second`, each at its own moments: after a rest all of them may start one at once. 0: no limit.
  explicit start_rate(std::uint32_t per_second, std::uint32_t parts = 1)
      : per_second_(per_second), start_(std::int64_t{1000} * std::max(parts, 1U)), credit_(most()) {}

  /// True when one may start now. Time that goes back gives nothing.
  bool has_room(moment now) {
    if (per_second_ == 0) return true;
    if (now > seen_) {
      // No longer than it takes to fill the bucket: more would give nothing, and might be more than the number holds.
      const auto passed_ms = std::min<std::int64_t>((now - seen_).count(), most() / per_second_ + 1);
      credit_ = std::min(most(), credit_ + passed_ms * per_second_);
    }
    seen_ = now;
    return credit_ >= start_;
  }

  void take() {
    if (per_second_ != 0) credit_ -= start_;
  }

 private:
  // What is left of one start is kept besides the tenth: who looks every tenth of a second would lose it each time.
  std::int64_t most() const { return std::int64_t{per_second_} * 100 + start_ - 1; }

  std::uint32_t per_second_;
  // In units of which a millisecond brings `per_second_`, so that no part of a start is ever rounded away.
  std::int64_t start_;  // what one costs
  std::int64_t credit_;
  moment seen_{};
};

}  // namespace fairlead
