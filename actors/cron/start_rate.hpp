#pragma once
// Limits the launches per second: a bucket of a tenth of a second's worth, so that they come evenly. One thread.

#include <algorithm>
#include <cstdint>

#include "messages/time.hpp"

namespace fairlead {

class start_rate {
 public:
  /// One of `parts` that together start `per_second`, each at its own moments: after a pause all parts may start one launch at once. 0: no
  /// limit.
  explicit start_rate(std::uint32_t per_second, std::uint32_t parts = 1)
      : per_second_(per_second), start_(std::int64_t{1000} * std::max(parts, 1U)), credit_(most()) {}

  /// Whether a launch may start now. A clock that goes back gives no credit.
  bool has_room(moment now) {
    if (per_second_ == 0) return true;
    if (now > seen_) {
      // Bounded by the time that fills the bucket: more would give nothing, and might overflow.
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
  // The bucket keeps the rest of one start besides the tenth: a caller that looks every tenth of a second would lose it each time.
  std::int64_t most() const { return std::int64_t{per_second_} * 100 + start_ - 1; }

  std::uint32_t per_second_;
  // The unit: a millisecond brings `per_second_`, so that no part of a start is rounded away.
  std::int64_t start_;  // cost of a start
  std::int64_t credit_;
  moment seen_{};
};

}  // namespace fairlead
