#include "actors/core/cron/fields.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "actors/core/cron/cursor.hpp"

namespace fairlead::core {

namespace {

constexpr std::array<std::string_view, 12> month_names{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::array<std::string_view, 7> weekday_names{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

struct field_rule {
  const char* name;
  const char* takes;  // for sentences
  std::uint32_t least;
  std::uint32_t most;
  std::uint32_t values;       // a larger step is taken for a slip: `*/90` does not mean every 90 minutes
  std::uint32_t most_chosen;  // largest value for `?`: a day that is in every month; Sunday not twice
};

constexpr std::array<field_rule, 6> rules{{
    {"second", "a second from 0 to 59", 0, 59, 60, 59},
    {"minute", "a minute from 0 to 59", 0, 59, 60, 59},
    {"hour", "an hour from 0 to 23", 0, 23, 24, 23},
    {"day of the month", "a day of the month from 1 to 31", 1, 31, 31, 28},
    {"month", "a month from 1 to 12 or from JAN to DEC", 1, 12, 12, 12},
    {"day of the week", "a day of the week from 0 to 7 or from SUN to SAT", 0, 7, 7, 6},
}};

std::uint64_t bits(std::uint32_t from, std::uint32_t to, std::uint32_t step) {
  std::uint64_t out = 0;
  for (auto value = from; value <= to; value += step) out |= std::uint64_t{1} << value;
  return out;
}

std::uint32_t bits32(std::uint32_t value) { return std::uint32_t{1} << value; }

/// For days of the week: Sunday is 0 once it no longer ends a range.
std::uint32_t fold_sunday(std::uint64_t values) { return static_cast<std::uint32_t>((values | values >> 7U) & 0x7fU); }

struct value_range {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

class field_reader {
 public:
  field_reader(cron_field field, std::string_view text, std::size_t position, std::string_view job, cron_sets& out)
      : field_{field},
        rule_{rules[static_cast<std::size_t>(field)]},
        in_{rule_.name, text, position},
        star_{text.front() == '*'},
        hash_{XXH3_64bits_withSeed(job.data(), job.size(), static_cast<XXH64_hash_t>(field))},
        out_{out} {}

  std::optional<cron_problem> read() {
    do {
      if (!read_item()) return in_.problem();
    } while (in_.take(','));
    store();
    return std::nullopt;
  }

 private:
  // All readers return false if the cursor says why.

  bool read_item() {
    if (in_.take('*')) {
      std::uint32_t step = 0;
      if (!read_step(step)) return false;
      values_ |= bits(rule_.least, rule_.most, std::max(step, 1U));
      return in_.ends_item(step == 0 ? "`/`, " : "");
    }
    if (in_.take('?')) return read_chosen();
    if (field_ == cron_field::day && in_.take('L')) return read_last_day();
    if (field_ == cron_field::weekday && in_.peek() == 'L') {
      return in_.fail("`L` has no day; expected a day before it, as in `5L` or `FRIL`");
    }
    return read_plain();
  }

  bool read_plain() {
    value_range range;
    if (!read_value(range.from, field_ == cron_field::day ? ", `L`, `*` or `?`" : ", `*` or `?`")) return false;
    if (const auto sign = take_sign(); sign != 0) return read_special(sign, range.from);
    range.to = range.from;
    const bool ranged = in_.take('-');
    if (ranged && !read_range_end(range)) return false;
    std::uint32_t step = 0;
    if (!read_step(step)) return false;
    if (step != 0 && !ranged) range.to = rule_.most;
    values_ |= bits(range.from, range.to, std::max(step, 1U));
    return in_.ends_item(step != 0 ? "" : ranged ? "`/`, " : "`-`, `/`, " + signs());
  }

  /// Reads the text after a `?`.
  bool read_chosen() {
    value_range range{rule_.least, rule_.most_chosen};
    const bool ranged = in_.take('(');
    if (ranged) {
      if (!read_value(range.from, "")) return false;
      if (!in_.take('-')) return in_.refuse("`-` and the end of the range that `?` chooses from");
      if (!read_range_end(range)) return false;
      if (!in_.take(')')) return in_.refuse("`)`");
      // The whole week: Sunday not twice.
      if (field_ == cron_field::weekday && range.from == 0) range.to = std::min(range.to, rule_.most_chosen);
    }
    std::uint32_t step = 0;
    if (!read_step(step)) return false;
    if (step != 0) {
      // A start beyond the range would leave nothing of it. Without a range the steps go on to days that not every month has: only the
      // start must be in every month.
      const auto start = range.from + choose(std::min(step, range.to - range.from + 1));
      values_ |= bits(start, field_ == cron_field::day && !ranged ? rule_.most : range.to, step);
      return in_.ends_item("");
    }
    const auto value = range.from + choose(range.to - range.from + 1);
    if (const auto sign = take_sign(); sign != 0) return read_special(sign, value);
    values_ |= bits(value, value, 1);
    if (!ranged && in_.peek() == '-') {
      return in_.fail("`-` is not allowed here; expected the range that `?` chooses from in brackets, as in `?(1-5)`");
    }
    return in_.ends_item((ranged ? "`/`, " : "`(`, `/`, ") + signs());
  }

  /// Reads the text after an `L` in the day of the month.
  bool read_last_day() {
    if (in_.take('W')) {
      out_.last_working_day = true;
      return in_.ends_item("");
    }
    std::uint32_t before = 0;
    const bool counted = in_.take('-');
    if (counted && !in_.read_number(before, 1, 30, "a number of days from 1 to 30")) return false;
    out_.days_before_last |= std::uint32_t{1} << before;
    return in_.ends_item(counted ? "" : "`W`, `-`, ");
  }

  /// The sign after a day that makes it the W-th, #-th or last one; 0: no sign that the field knows.
  char take_sign() {
    if (field_ == cron_field::day && in_.take('W')) return 'W';
    if (field_ == cron_field::weekday && in_.take('#')) return '#';
    if (field_ == cron_field::weekday && in_.take('L')) return 'L';
    return 0;
  }
  std::string signs() const { return field_ == cron_field::day ? "`W`, " : field_ == cron_field::weekday ? "`#`, `L`, " : ""; }

  bool read_special(char sign, std::uint32_t value) {
    std::uint32_t week = 0;
    if (sign == 'W') out_.nearest_weekdays |= bits32(value);
    if (sign == 'L') out_.last_weekdays |= fold_sunday(bits32(value));
    if (sign == '#') {
      if (!in_.read_number(week, 1, 5, "a week of the month from 1 to 5")) return false;
      out_.nth_weekdays[week - 1] |= fold_sunday(bits32(value));
    }
    return in_.ends_item("");
  }

  bool read_range_end(value_range& range) {
    const auto at = in_.at();
    const bool named = !is_cron_digit(in_.peek());
    if (!read_value(range.to, "")) return false;
    if (field_ == cron_field::weekday && named && range.to == 0) range.to = 7;
    if (range.to >= range.from) return true;
    const auto from = std::to_string(range.from);
    in_.go_back(at);
    return in_.refuse("the end of a range that begins with " + from + ", from " + from + " to " + std::to_string(rule_.most));
  }

  bool read_value(std::uint32_t& out, const char* or_else) {
    if (is_cron_digit(in_.peek())) return in_.read_number(out, rule_.least, rule_.most, rule_.takes);
    if (field_ == cron_field::month && take_name(month_names, out)) return ++out, true;
    if (field_ == cron_field::weekday && take_name(weekday_names, out)) return true;
    return in_.refuse(std::string(rule_.takes) + or_else);
  }

  template <std::size_t N>
  bool take_name(const std::array<std::string_view, N>& names, std::uint32_t& out) {
    for (out = 0; out < N; ++out) {
      if (in_.take_name(names[out], field_ == cron_field::weekday)) return true;
    }
    return false;
  }

  /// A step, if there is one; otherwise 0.
  bool read_step(std::uint32_t& out) {
    return !in_.take('/') || in_.read_number(out, 1, rule_.values, "a step from 1 to " + std::to_string(rule_.values));
  }

  std::uint32_t choose(std::uint32_t count) const { return static_cast<std::uint32_t>(hash_ % count); }

  void store() {
    const auto small = static_cast<std::uint32_t>(values_);
    switch (field_) {
      case cron_field::second: out_.seconds = values_; break;
      case cron_field::minute: out_.minutes = values_, out_.minute_star = star_; break;
      case cron_field::hour: out_.hours = small, out_.hour_star = star_; break;
      case cron_field::day: out_.days = small, out_.day_star = star_; break;
      case cron_field::month: out_.months = small; break;
      case cron_field::weekday: out_.weekdays = fold_sunday(values_), out_.weekday_star = star_; break;
    }
  }

  cron_field field_;
  const field_rule& rule_;
  cron_cursor in_;
  bool star_;
  std::uint64_t hash_;
  cron_sets& out_;
  std::uint64_t values_ = 0;
};

}  // namespace

std::optional<cron_problem> read_cron_field(cron_field field, std::string_view text, std::size_t position, std::string_view job,
                                            cron_sets& out) {
  return field_reader{field, text, position, job, out}.read();
}

}  // namespace fairlead::core
