#pragma once
// The clocks of one host: a wall clock that somebody sets, that drifts and that nobody has ever compared with another's, and a steady one of its
// own origin that only goes on. What really is the time only the world knows, and the checker.

#include <cstdint>
#include <limits>
#include <vector>

#include "tests/simulation/world/world.hpp"

namespace fairlead::simulation {

class host_clock final : public clock {
 public:
  /// `ahead_us` of the true time; `steady_us`: what the steady clock shows when the world begins.
  host_clock(const world& in, std::int64_t ahead_us, std::int64_t steady_us) : world_(in), steady_us_(steady_us) {
    settings_.push_back({0, ahead_us});
  }
  host_clock(const host_clock&) = delete;
  host_clock& operator=(const host_clock&) = delete;

  moment now() const override { return shows(world_.now_us(), settings_.back().ahead_us); }
  moment steady() const override { return from_unix_ms((steady_us_ + world_.now_us()) / millisecond); }
  std::int64_t now_ms() const { return to_unix_ms(now()); }

  /// Somebody sets the wall clock.
  void jump(std::int64_t by_ms) { settings_.push_back({world_.now_us(), settings_.back().ahead_us + by_ms * millisecond}); }
  /// How often that has happened.
  std::uint64_t settings() const noexcept { return settings_.size() - 1; }
  bool set_since(std::int64_t at_us) const { return settings() != 0 && settings_.back().at_us >= at_us; }
  /// When it has been last; 0: never.
  std::int64_t set_at_us() const noexcept { return settings_.back().at_us; }

  std::int64_t ahead_us() const { return settings_.back().ahead_us; }
  /// What it is ahead at most between two true moments.
  std::int64_t most_ahead_us(std::int64_t from_us, std::int64_t to_us) const {
    auto out = std::numeric_limits<std::int64_t>::min();
    for (auto at = settings_.size(); at-- > 0;) {
      if (settings_[at].at_us <= to_us) out = std::max(out, settings_[at].ahead_us);
      if (settings_[at].at_us <= from_us) break;
    }
    return out;
  }

  /// The latest that it has shown since `since_us`.
  std::int64_t latest_ms(std::int64_t since_us) const {
    auto until_us = world_.now_us();
    auto out = std::numeric_limits<std::int64_t>::min();
    for (auto at = settings_.size(); at-- > 0;) {
      out = std::max(out, to_unix_ms(shows(until_us, settings_[at].ahead_us)));
      if (settings_[at].at_us <= since_us) break;
      until_us = settings_[at].at_us;
    }
    return out;
  }
  /// The earliest.
  std::int64_t earliest_ms(std::int64_t since_us) const {
    auto out = std::numeric_limits<std::int64_t>::max();
    for (auto at = settings_.size(); at-- > 0;) {
      out = std::min(out, to_unix_ms(shows(std::max(settings_[at].at_us, since_us), settings_[at].ahead_us)));
      if (settings_[at].at_us <= since_us) break;
    }
    return out;
  }
  /// How far it is behind what it would show if it had never been set back: what was to happen at a moment of it comes so much later.
  std::int64_t fallen_us() const {
    auto out = settings_.back().ahead_us;
    for (const auto& one : settings_) out = std::max(out, one.ahead_us);
    return out - settings_.back().ahead_us;
  }

  /// Whether it showed `wall_ms` within `for_ms` after it was set back by more than that.
  bool set_back_before(std::int64_t wall_ms, std::int64_t for_ms) const {
    for (std::size_t i = 1; i < settings_.size(); ++i) {
      const auto since_ms = wall_ms - to_unix_ms(shows(settings_[i].at_us, settings_[i].ahead_us));
      const bool far_back = settings_[i - 1].ahead_us - settings_[i].ahead_us > for_ms * millisecond;
      if (far_back && since_ms >= 0 && since_ms <= for_ms) return true;
    }
    return false;
  }

  /// Whether it has shown `wall_ms` or later at any moment since `since_us`.
  bool has_shown(std::int64_t wall_ms, std::int64_t since_us) const {
    auto until_us = world_.now_us();
    for (auto at = settings_.size(); at-- > 0;) {
      if (to_unix_ms(shows(until_us, settings_[at].ahead_us)) >= wall_ms) return true;
      if (settings_[at].at_us <= since_us) return false;
      until_us = settings_[at].at_us;
    }
    return false;
  }

 private:
  struct setting {
    std::int64_t at_us;
    std::int64_t ahead_us;
  };
  moment shows(std::int64_t at_us, std::int64_t ahead_us) const {
    return from_unix_ms((world_.start_ms() * millisecond + at_us + ahead_us) / millisecond);
  }

  const world& world_;
  const std::int64_t steady_us_;
  std::vector<setting> settings_;
};

}  // namespace fairlead::simulation
