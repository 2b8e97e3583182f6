#pragma once
// The clock by which a shard that several nodes hold is led. Leases are moments of it, so a successor must not count them by a stranger's clock:
// each replica follows what its leader's clock shows, and when it leads itself it goes on from there.
//
// It is this node's wall clock and an offset. The offset is what the leader's clock was ahead when it was last heard of, and shrinks by a
// thousandth of the time that passes. A wall clock that is set meanwhile takes this one with it, as on a shard that lives on one node, but for what
// brings it nearer to this one: who set a clock right that was a minute behind has not changed what the leader's clock showed.

#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

#include "messages/time.hpp"

namespace fairlead {

/// Thread-safe.
class lead_clock final : public clock {
 public:
  /// `boot_ms`: a clock that nobody sets. `wall` outlives this one.
  lead_clock(const clock& wall, std::function<std::int64_t()> boot_ms) : wall_(wall), boot_ms_(std::move(boot_ms)) {}

  moment now() const override;
  moment steady() const override { return wall_.steady(); }

  /// The leader's clock showed `reading_unix_ms` at this moment of the boot clock, or somewhat earlier: the message was under way.
  void follow(std::int64_t reading_unix_ms, std::int64_t at_boot_ms);
  /// An earlier process has noted how far it was ahead of this node's wall clock when that showed `wall_unix_ms`.
  void resume(std::int64_t ahead_ms, std::int64_t wall_unix_ms);
  /// This node leads from now on, and a leader before it has shown `reading_unix_ms`: less is not shown any more.
  void reach(std::int64_t reading_unix_ms);
  /// Shows from now on what `other` shows now, and goes on from there by itself. Both have the same wall and boot clock.
  void take(const lead_clock& other);
  std::int64_t ahead_ms() const;
  /// What is left after `passed_ms` of what it was ahead.
  static std::int64_t shrunk(std::int64_t ahead_ms, std::int64_t passed_ms);

 private:
  struct reading {
    std::int64_t offset_us = 0;
    std::int64_t since_boot_ms = 0;    // the offset shrinks from then on
    std::int64_t wall_of_boot_ms = 0;  // the wall clock, less the boot clock
  };
  struct both {
    moment wall;
    std::int64_t boot_ms = 0;
  };
  both read() const;
  std::int64_t left_us(std::int64_t boot_ms) const;
  std::int64_t offset_us(const both& own) const;
  void set(std::int64_t offset_us, const both& own) const { at_ = {offset_us, own.boot_ms, to_unix_ms(own.wall) - own.boot_ms}; }

  const clock& wall_;
  const std::function<std::int64_t()> boot_ms_;
  mutable std::mutex guard_;
  mutable reading at_;  // whoever reads the clock notices that the wall clock was set
};

}  // namespace fairlead
