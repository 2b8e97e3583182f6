#pragma once
// The clock of a shard. Each entry of its journal carries a reading, so it is as durable as they are, and it never falls back, whatever the
// wall clock does.
//
// At an opening it begins at the later of its last stamp and the wall clock. From there it goes with the boot clock (CLOCK_BOOTTIME), and
// follows the wall clock by at most a thousandth of the time that has passed. So a lease that is counted by it is not stretched or cut by
// whoever sets the wall clock. Pure: readings of both clocks are arguments, in milliseconds.

#include <algorithm>
#include <cstdint>

namespace fairlead::store {

class shard_time {
 public:
  /// `last_stamp_ms`: the greatest reading that is known of an earlier opening; 0: none is.
  explicit shard_time(std::int64_t last_stamp_ms = 0) : now_us_(last_stamp_ms * 1'000) {}

  /// A stamp of an entry that recovery has found. Before the first reading.
  void seen(std::int64_t stamp_ms) { now_us_ = std::max(now_us_, stamp_ms * 1'000); }

  /// Milliseconds since 1970; never less than the reading before.
  std::int64_t read(std::int64_t wall_unix_ms, std::int64_t boot_ms) {
    const auto wall_us = wall_unix_ms * 1'000;
    if (!begun_) {
      now_us_ = std::max(now_us_, wall_us);
      begun_ = true;
    } else {
      const auto passed_ms = std::max<std::int64_t>(boot_ms - read_at_ms_, 0);
      const auto passed_us = passed_ms * 1'000;
      // A thousandth of the time that has passed: as many microseconds as it was milliseconds.
      now_us_ += passed_us + std::clamp(wall_us - now_us_ - passed_us, -passed_ms, passed_ms);
    }
    read_at_ms_ = std::max(read_at_ms_, boot_ms);
    return last_ms();
  }

  /// The last reading, or what is known of an earlier opening.
  std::int64_t last_ms() const noexcept { return now_us_ / 1'000; }

 private:
  std::int64_t now_us_;
  std::int64_t read_at_ms_ = 0;
  bool begun_ = false;
};

}  // namespace fairlead::store
