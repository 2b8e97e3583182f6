#pragma once
// Translates a shard's clock into this process's own time. Knows no clock.
//
// A shard names moments by its wall clock; the host counts by its own monotonic clock. A stamp holds both readings for the moment when a
// message left: the first exactly, the second as a lower bound. The offset from the shard's moments to host time follows from one stamp
// alone and is never too large: neither the clocks' difference nor a message's delay can make a lease longer.

#include <cstdint>
#include <optional>

#include "messages/time.hpp"

namespace fairlead {

struct shard_stamp {
  std::int64_t sent_unix_ms = 0;
  std::int64_t anchor_ms = 0;  // 0: no beacon has arrived there yet
};

/// The offset to add; nullopt: the stamp has none. `steady` is now: no message has left later.
std::optional<duration> offset_of(const shard_stamp& stamp, moment steady);

/// A shard's moment with `offset` added. Senseless moments stay within bounds, too.
moment in_own_time(std::int64_t unix_ms, duration offset);

/// Notices that a shard's wall clock has been set forward: its leases end sooner than their moments said at the hand-over.
class shard_times {
 public:
  /// Attempts count with this offset from now on.
  void uses(duration offset);
  /// A stamp gives this offset. If the clock has gone forward, returns by how much: attempts with a greater offset must then count with
  /// this one.
  std::optional<duration> shows(duration offset);
  /// The greatest offset since the clock last went forward, which is the nearest to the true one; nullopt: none is known.
  std::optional<duration> nearest() const noexcept { return greatest_; }

 private:
  std::optional<duration> greatest_;
};

}  // namespace fairlead
