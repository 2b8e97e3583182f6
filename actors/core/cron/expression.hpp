#pragma once
// A job's schedule as operators write it: `30 2 * * MON-FRI`. Pure; next.hpp finds the instants.
//
// Five fields, `minute hour day-of-month month day-of-week`, or six with seconds in front, between blanks or tabs. Each is a list, with
// commas, of
//
//   *  */N  a  a-b  a-b/N  a/N        a/N goes on to the field's maximum (7 for days of the week); N is at most how many values there are
//   ?  ?(a-b)  ?/N  ?(a-b)/N          a value that the job's name chooses: the same for ever, and spread evenly over all jobs
//
// JAN-DEC and SUN-SAT stand for numbers, in any case. Sunday is 0 and 7; SUN at the end of a range is 7 (`FRI-SUN`).
// Day of the month: also L (the last), L-n (n days before it), LW (the last from Monday to Friday), nW (the one from Monday to Friday
// nearest to the n-th, in the same month; none in a month without an n-th). Day of the week: also n#k (the k-th of the month), nL (the
// last of the month). `?` and `?(a-b)` may stand for the n of nW, n#k and nL.
//
// When both day fields are restricted, either of them is enough; a day field that begins with `*`, even `*/2`, is not restricted, and
// then both must match (as Vixie cron has it).
//
// Or one of @yearly @annually @monthly @weekly @daily @midnight @hourly, or `@every 90s`: at the multiples of a duration since 1970.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace fairlead::core {

inline constexpr std::size_t max_cron_bytes = 256;

/// Why an expression is refused. `sentence` says what was found and what was expected; callers print the position.
struct cron_problem {
  std::size_t position = 1;  // counts bytes from 1; one past the last when something is missing at the end
  std::string sentence;
};

/// The values of the fields, bit n for the value n.
struct cron_sets {
  std::uint64_t seconds = 1;
  std::uint64_t minutes = 0;
  std::uint32_t hours = 0;
  std::uint32_t days = 0;
  std::uint32_t months = 0;
  std::uint32_t weekdays = 0;  // 0 to 6; a 7 became a 0

  std::uint32_t days_before_last = 0;           // L-n, with L as bit 0
  std::uint32_t nearest_weekdays = 0;           // nW
  bool last_working_day = false;                // LW
  std::array<std::uint32_t, 5> nth_weekdays{};  // n#k: the sets of n by k - 1
  std::uint32_t last_weekdays = 0;              // nL

  // Whether a field begins with `*`: for the combination of the day fields, and for daylight saving (minute and hour).
  bool minute_star = false;
  bool hour_star = false;
  bool day_star = false;
  bool weekday_star = false;

  bool operator==(const cron_sets&) const = default;
};

/// A parsed expression: a plain value without heap.
class cron_expression {
 public:
  /// `job` is the name from which `?` takes its values. Accepts any bytes; the work is linear.
  static std::variant<cron_expression, cron_problem> parse(std::string_view text, std::string_view job);

  const cron_sets& sets() const { return sets_; }

  /// Seconds of `@every`; 0 for all other expressions. The sets are valid only if this is 0.
  std::int64_t every_s() const { return every_s_; }

  /// Minute or hour begin with `*`: such a job is due whenever the wall clock matches, not at a fixed time of the day.
  bool wild() const { return sets_.minute_star || sets_.hour_star; }

  bool operator==(const cron_expression&) const = default;

 private:
  cron_sets sets_;
  std::int64_t every_s_ = 0;
};

}  // namespace fairlead::core
