#pragma once
// How fast a store fills up, from what was seen of it during the last hour.

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "messages/time.hpp"

namespace fairlead::app {

class store_growth {
 public:
  /// `steady`: of a clock that nobody sets. Moments that are close together count as one.
  void saw(moment steady, std::uint64_t used_bytes);
  /// How long until `limit_bytes` are used, if it goes on as in the last hour. Nothing: not known yet (that takes ten minutes), or the
  /// store does not grow.
  std::optional<double> seconds_until(std::uint64_t limit_bytes) const;

 private:
  std::deque<std::pair<moment, std::uint64_t>> seen_;  // a minute apart, and the latest
};

}  // namespace fairlead::app
