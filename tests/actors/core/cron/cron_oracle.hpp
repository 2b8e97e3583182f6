#pragma once
// Cron by brute force, written apart from the implementation and after the same text: plain sets, every minute of a zone's clocks looked at
// one by one. Slow and obvious; it exists to be compared with.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/actors/core/cron/cron_oracle_zone.hpp"

namespace fairlead::core::oracle {

enum class policy { vixie, literal, skip_once };

/// When a job fires, by policy: each instant once, in order.
struct instants {
  std::vector<std::int64_t> vixie, literal, skip_once;

  const std::vector<std::int64_t>& of(policy by) const { return by == policy::vixie ? vixie : by == policy::literal ? literal : skip_once; }
};

struct expression {
  std::int64_t every_s = 0;  // of @every; the rest is then unused

  std::array<bool, 60> seconds{};
  std::array<bool, 60> minutes{};
  std::array<bool, 24> hours{};
  std::array<bool, 32> days{};     // from 1
  std::array<bool, 13> months{};   // from 1
  std::array<bool, 8> weekdays{};  // 7 is Sunday again

  bool last_day = false;                 // L
  bool last_working_day = false;         // LW
  std::vector<int> days_before_last;     // L-n
  std::vector<int> nearest_working_day;  // nW
  std::vector<std::pair<int, int>> nth;  // n#k: weekday, k
  std::vector<int> last_weekday;         // nL

  bool days_start_with_star = false;
  bool weekdays_start_with_star = false;
  bool wild = false;  // minute or hour starts with a star
};

/// Nothing for what is no expression. Does not know `?`: what a name's hash gives is the implementation's own affair.
std::optional<expression> parse(std::string_view text);

bool day_matches(const expression& what, int year, int month, int day);

/// Some day of the 400 years after which the calendar repeats matches.
bool some_day_matches(const expression& what);

/// What the clocks of a zone show between two instants, and what they leave out, looked at minute by minute.
class timeline {
 public:
  timeline(const zone& where, std::int64_t from_utc_s, std::int64_t to_utc_s);

  /// The instants at which `what` fires: all from `from` on and before `to`.
  instants fires(const expression& what) const;

  std::int64_t from() const { return from_; }
  std::int64_t to() const { return to_; }
  /// The instants at which the clocks move.
  const std::vector<std::int64_t>& moves() const { return moves_; }

 private:
  /// A date on the wall, or as much of it as is shown, or left out, in one go.
  struct date_part {
    wall_clock date;
    std::int64_t midnight_s, from_s, to_s;  // local seconds
    std::int64_t utc_s;                     // the instant of from_s; of a part left out: of the move that left it out
    bool old = false;                       // the clocks may have shown it before
  };

  static void add(std::vector<date_part>& to, std::int64_t from_local_s, std::int64_t to_local_s, std::int64_t utc_s, bool left_out,
                  std::int64_t latest_shown_s);
  /// Calls `see(local_s, seconds since from_s)` for each second in which hands and calendar match.
  template <class F>
  static void each_match(const expression& what, const date_part& part, F see);

  const zone& where_;
  std::int64_t from_, to_;
  std::vector<std::int64_t> moves_;
  std::vector<date_part> shown_;
  std::vector<date_part> left_out_;
};

/// The first instant after `after_utc_s`, looked for through so many years.
std::optional<std::int64_t> next_after(const expression& what, const zone& where, policy by, std::int64_t after_utc_s, int years);

}  // namespace fairlead::core::oracle
