#include "actors/core/registry/instance_health.hpp"

#include <algorithm>
#include <cmath>

namespace fairlead::core {

namespace {

constexpr std::uint32_t enough_attempts = 10;
constexpr double sick_error = 0.5;
constexpr double well_error = 0.3;
constexpr double sick_factor = 3;
constexpr double sick_excess_ms = 50;
constexpr double well_factor = 2;
constexpr double well_excess_ms = 30;
// Weight of the newest attempt.
constexpr double weight_when_well = 1.0 / 14;
constexpr double weight_when_sick = 1.0 / 6;

/// The plain mean at first, then the smoothed one.
double weight(std::uint32_t count, bool sick) { return std::max(sick ? weight_when_sick : weight_when_well, 1.0 / count); }

}  // namespace

void instance_health::note(const slot_outcome& how, duration elapsed) {
  if (how.how == slot_end::lost || how.how == slot_end::unused) return;
  const bool bad = how.how == slot_end::failed || how.how == slot_end::expired;
  const double tries = std::max(how.tries, 1u);
  if (attempts_ < 1'000'000) ++attempts_;
  failed_in_a_row_ = bad ? failed_in_a_row_ + 1 : 0;
  last_fault_ = bad ? how.code : std::string_view{};
  error_ += ((tries - 1 + (bad ? 1 : 0)) / tries - error_) * weight(attempts_, sick_);
  // A quick failure says nothing about the duration of the work.
  if (how.how == slot_end::failed) return;
  const auto took_ms = how.how == slot_end::expired ? elapsed.count() : how.busy_ms;
  if (latencies_ < 1'000'000) ++latencies_;
  log_latency_ += (std::log1p(static_cast<double>(std::max<std::int64_t>(took_ms, 0))) - log_latency_) * weight(latencies_, sick_);
}

bool instance_health::wants_peers() const noexcept {
  // log1p(50): below that no instance can be so much slower than its peers.
  return sick_ || (latencies_ >= enough_attempts && log_latency_ > 3.93);
}

bool instance_health::judge(std::optional<double> peers_ms) {
  if (peers_ms) peers_ms_ = *peers_ms;
  const auto mine = latency();
  const auto was = sick_;
  if (!sick_) {
    const bool fails = attempts_ >= enough_attempts && error_ > sick_error;
    const bool drags = peers_ms && latencies_ >= enough_attempts && mine > *peers_ms * sick_factor && mine > *peers_ms + sick_excess_ms;
    sick_ = fails || drags;
    drags_ = drags && !fails;
  } else if (error_ < well_error && (!peers_ms || mine < *peers_ms * well_factor || mine < *peers_ms + well_excess_ms)) {
    sick_ = false;
  }
  return sick_ != was;
}

std::string instance_health::sickness() const {
  if (!sick_) return {};
  if (drags_)
    return "takes " + std::to_string(latency_ms()) + " ms, other instances take " + std::to_string(std::llround(peers_ms_)) + " ms";
  return std::to_string(error_percent()) + " % of its latest attempts failed";
}

std::uint32_t instance_health::error_percent() const { return static_cast<std::uint32_t>(std::lround(error_ * 100)); }
double instance_health::latency() const { return std::expm1(log_latency_); }
std::int64_t instance_health::latency_ms() const { return std::llround(latency()); }

}  // namespace fairlead::core
