#include "actors/agent_host/times.hpp"

#include <algorithm>

namespace fairlead {

namespace {

// Beacon delays vary, and clocks are slewed.
constexpr duration wavers{250};

constexpr std::int64_t most_ms = std::int64_t{1} << 52;  // larger values are no moments, and sums stay far from their bounds

std::int64_t bounded(std::int64_t ms) { return std::clamp(ms, -most_ms, most_ms); }

}  // namespace

std::optional<duration> offset_of(const shard_stamp& stamp, moment steady) {
  if (stamp.anchor_ms == 0 || stamp.sent_unix_ms == 0) return std::nullopt;
  const auto left = std::min(bounded(stamp.anchor_ms), to_unix_ms(steady));
  return duration{left - bounded(stamp.sent_unix_ms)};
}

moment in_own_time(std::int64_t unix_ms, duration offset) { return from_unix_ms(bounded(unix_ms)) + offset; }

void shard_times::uses(duration offset) { greatest_ = greatest_ ? std::max(*greatest_, offset) : offset; }

std::optional<duration> shard_times::shows(duration offset) {
  if (!greatest_ || offset + wavers >= *greatest_) {
    uses(offset);
    return std::nullopt;
  }
  const auto by = *greatest_ - offset;
  greatest_ = offset;
  return by;
}

}  // namespace fairlead
