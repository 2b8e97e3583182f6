#pragma once
// How many launches may start per second: a bucket of a tenth of a second's worth, so that they come evenly. One thread.

#include <algorithm>
#include <cstdint>

#include "messages/time.hpp"

namespace fairlead {

class start_rate {
 public:
  /// 0: no limit.
  explicit start_rate(std::uint32_t per_second) : per_second_(per_second), credit_(most()) {}

  /// True when one may start now. Time that goes back gives nothing.
  bool has_room(moment now) {
    if (per_second_ == 0) return true;
    if (now > seen_) {
      const auto passed_ms = std::min<std::int64_t>((now - seen_).count(), 1000);
      credit_ = std::min(most(), credit_ + passed_ms * per_second_);
    }
    seen_ = now;
    return credit_ >= 1000;
  }

  void take() {
    if (per_second_ != 0) credit_ -= 1000;
  }

 private:
  // In thousandths of a start. What is left of one start is kept besides: who looks every tenth of a second would lose it each time.
  std::int64_t most() const { return std::max<std::int64_t>(1000, std::int64_t{per_second_} * 100) + 999; }

  std::uint32_t per_second_;
  std::int64_t credit_;
  moment seen_{};
};

}  // namespace fairlead
