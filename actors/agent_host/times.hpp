#pragma once
// What a shard's clock shows, in this process's own time. Knows no clock.
//
// A shard names moments by its wall clock; the host counts by a monotonic clock of its own. A stamp says what both showed when a message
// left: the first exactly, the second at least. What has to be added to a moment of the shard to have it in the host's time follows
// from one stamp alone, and is never too much: neither the clocks' difference nor the way of a message can make a lease longer.

#include <cstdint>
#include <optional>

#include "messages/time.hpp"

namespace fairlead {

struct shard_stamp {
  std::int64_t sent_unix_ms = 0;
  std::int64_t anchor_ms = 0;  // 0: no beacon has come there yet
};

/// What to add; nullopt: the stamp does not say. `steady` is now: nothing has left later than that.
std::optional<duration> offset_of(const shard_stamp& stamp, moment steady);

/// A shard's moment with `offset` added. Also what makes no sense stays within bounds.
moment in_own_time(std::int64_t unix_ms, duration offset);

/// Notices that a shard's wall clock has been set forward: its leases are over sooner than their moments said when they were handed over.
class shard_times {
 public:
  /// Attempts count with this offset from now on.
  void uses(duration offset);
  /// A stamp gives this one. By how much the clock has gone forward, where it has: attempts that count with a greater offset are to count with
  /// this one.
  std::optional<duration> shows(duration offset);
  /// The greatest offset since the clock went forward last, which is the nearest to the true one; nullopt: none is known.
  std::optional<duration> nearest() const noexcept { return greatest_; }

 private:
  std::optional<duration> greatest_;
};

}  // namespace fairlead
