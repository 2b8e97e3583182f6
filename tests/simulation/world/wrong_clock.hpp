#pragma once
// Wall clocks of shards without jobs that are behind or ahead by hours, days or years: from the start (1970 included, a board whose battery is empty), for one
// look, or for seconds; then they are put right. Shards with jobs have far_clock.hpp.

#include <cstdint>

#include "tests/simulation/shard/home.hpp"
#include "tests/simulation/world/clocks.hpp"

namespace fairlead::simulation {

class wrong_clock {
 public:
  wrong_clock(world& in, home& shard, host_clock& time) : world_(in), home_(shard), clock_(time) {}

  /// Before anything has read it.
  void begin(std::int64_t until_us);
  /// From when on it is right, in true time; 0: it never was wrong.
  std::int64_t right_from_us() const noexcept { return right_from_us_; }

 private:
  std::int64_t how_far_ms(bool from_start);
  void set(std::int64_t by_ms, const char* how);

  world& world_;
  home& home_;
  host_clock& clock_;
  std::int64_t right_from_us_ = 0;
};

}  // namespace fairlead::simulation
