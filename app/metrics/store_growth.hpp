#pragma once
// The growth of a store, by its sizes during the last hour.

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "messages/time.hpp"

namespace fairlead::app {

class store_growth {
 public:
  /// `steady`: from a clock that nobody sets. Readings close together count as one.
  void saw(moment steady, std::uint64_t used_bytes);
  /// Time until `limit_bytes` are used at the rate of the last hour. nullopt: unknown yet (for the first ten minutes), or the store does
  /// not grow.
  std::optional<double> seconds_until(std::uint64_t limit_bytes) const;

 private:
  std::deque<std::pair<moment, std::uint64_t>> seen_;  // a minute apart, and the latest
};

}  // namespace fairlead::app
