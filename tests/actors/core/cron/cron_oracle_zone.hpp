#pragma once
// What the clocks of a zone show, read straight from the system's zone files (TZif, RFC 8536). It knows nothing of the library that the
// implementation asks, so that both cannot be wrong in the same way.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::core::oracle {

inline constexpr std::int64_t beginning_of_time = std::numeric_limits<std::int64_t>::min() / 4;
inline constexpr std::int64_t end_of_time = std::numeric_limits<std::int64_t>::max() / 4;

/// From `begin` up to, but without, `end` (seconds since 1970 in UTC) the clocks show UTC plus `offset_s`.
struct stretch {
  std::int64_t begin = beginning_of_time;
  std::int64_t end = end_of_time;
  std::int64_t offset_s = 0;
};

/// A date and a time of day as a clock on the wall shows them.
struct wall_clock {
  int year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0;
  int weekday = 4;  // Sunday is 0
};

/// `local_s` counts the seconds that a clock on the wall has shown since it showed 1970-01-01 00:00:00.
wall_clock on_the_wall(std::int64_t local_s);
std::int64_t local_seconds(int year, int month, int day, int hour = 0, int minute = 0, int second = 0);
int days_of_month(int year, int month);

class zone {
 public:
  /// Throws std::runtime_error for a name without a readable file. A rule that goes on for ever is rolled out to `last_year`.
  explicit zone(const std::string& name, int last_year = 2520);

  const std::string& name() const { return name_; }
  /// In order and without holes; the offsets of neighbours differ.
  const std::vector<stretch>& stretches() const { return stretches_; }
  const stretch& at(std::int64_t utc_s) const;
  std::int64_t local(std::int64_t utc_s) const { return utc_s + at(utc_s).offset_s; }
  /// The clocks have shown `local_s` at an instant before `utc_s`.
  bool shown_before(std::int64_t local_s, std::int64_t utc_s) const;
  bool ever_shown(std::int64_t local_s) const { return shown_before(local_s, end_of_time); }

 private:
  std::string name_;
  std::vector<stretch> stretches_;
};

/// `2026-03-29T03:00:00+02:00`, with the seconds of the offset where it has any.
std::string written(const zone& in, std::int64_t utc_s);

}  // namespace fairlead::core::oracle
