#include "actors/core/cron/days.hpp"

#include <bit>
#include <chrono>

namespace fairlead::core {

namespace {

constexpr std::int64_t day_s = 86'400;

/// The bits from `first` on.
std::uint64_t from_bit(std::uint64_t set, unsigned first) { return first < 64 ? set & (~std::uint64_t{0} << first) : 0; }
unsigned lowest(std::uint64_t set) { return static_cast<unsigned>(std::countr_zero(set)); }
std::uint32_t day_bit(unsigned day) { return std::uint32_t{1} << day; }

/// 0 for Saturday and Sunday, whose weekdays are 6 and 0.
bool is_working_day(unsigned weekday) { return weekday % 6 != 0; }

/// The day from Monday to Friday nearest to `day`, in the same month.
unsigned nearest_working_day(unsigned day, unsigned weekday, unsigned length) {
  if (weekday == 6) return day > 1 ? day - 1 : day + 2;
  if (weekday == 0) return day < length ? day + 1 : day - 2;
  return day;
}

/// The first second of a day from `from` on that matches.
std::optional<unsigned> next_time(const cron_sets& sets, unsigned from) {
  const auto hour = from / 3'600;
  const auto minute = from / 60 % 60;
  const auto at = [](unsigned h, std::uint64_t minutes, std::uint64_t seconds) {
    return h * 3'600 + lowest(minutes) * 60 + lowest(seconds);
  };
  if ((sets.hours >> hour & 1U) != 0) {
    const auto seconds = from_bit(sets.seconds, from % 60);
    if ((sets.minutes >> minute & 1U) != 0 && seconds != 0) return at(hour, std::uint64_t{1} << minute, seconds);
    if (const auto minutes = from_bit(sets.minutes, minute + 1); minutes != 0) return at(hour, minutes, sets.seconds);
  }
  if (const auto hours = from_bit(sets.hours, hour + 1); hours != 0) return at(lowest(hours), sets.minutes, sets.seconds);
  return std::nullopt;
}

/// The first matching local day from `from` on.
std::optional<std::int64_t> next_day(const cron_sets& sets, std::int64_t from, int last_year) {
  using namespace std::chrono;
  const year_month_day start{sys_days{days{from}}};
  auto first_month = static_cast<unsigned>(start.month());
  auto days_left = ~std::uint32_t{0} << static_cast<unsigned>(start.day());
  std::uint32_t barren = 0;  // kinds of years without any match; there are 14 kinds
  for (auto year = start.year(); static_cast<int>(year) <= last_year; ++year) {
    const sys_days new_year{year / January / 1};
    const auto kind = weekday{new_year}.c_encoding() * 2 + (year.is_leap() ? 1U : 0U);
    if ((barren >> kind & 1U) != 0) continue;
    for (auto months = from_bit(sets.months, first_month); months != 0; months &= months - 1) {
      const auto month_number = lowest(months);
      const sys_days first{year / month{month_number} / 1};
      const auto length = static_cast<unsigned>(year_month_day_last{year, month_day_last{month{month_number}}}.day());
      auto found = matching_days(sets, month_number, weekday{first}.c_encoding(), length);
      if (month_number == first_month) found &= days_left;
      if (found != 0) return first.time_since_epoch().count() + lowest(found) - 1;
    }
    // Only the rest of the first year has been searched.
    if (year != start.year()) barren |= std::uint32_t{1} << kind;
    first_month = 1;
    days_left = ~std::uint32_t{0};
  }
  return std::nullopt;
}

}  // namespace

std::uint32_t matching_days(const cron_sets& sets, unsigned month, unsigned first_weekday, unsigned length) {
  if ((sets.months >> month & 1U) == 0) return 0;
  const auto weekday_of = [&](unsigned day) { return (first_weekday + day - 1) % 7; };
  const auto whole_month = ((day_bit(length) << 1U) - 1U) & ~1U;

  auto by_day = sets.days;
  for (auto befores = sets.days_before_last; befores != 0; befores &= befores - 1) {
    if (const auto before = lowest(befores); before < length) by_day |= day_bit(length - before);
  }
  for (auto wanted = sets.nearest_weekdays & whole_month; wanted != 0; wanted &= wanted - 1) {
    const auto day = lowest(wanted);
    by_day |= day_bit(nearest_working_day(day, weekday_of(day), length));
  }
  if (sets.last_working_day) {
    auto day = length;
    while (!is_working_day(weekday_of(day))) --day;
    by_day |= day_bit(day);
  }

  std::uint32_t by_weekday = 0;
  for (unsigned weekday = 0; weekday < 7; ++weekday) {
    const auto first = (weekday + 7 - first_weekday) % 7 + 1;
    const auto weekday_bit = std::uint32_t{1} << weekday;
    for (unsigned week = 0; first + week * 7 <= length; ++week) {
      const bool last = first + week * 7 + 7 > length;
      const auto named = sets.weekdays | sets.nth_weekdays[week] | (last ? sets.last_weekdays : 0U);
      if ((named & weekday_bit) != 0) by_weekday |= day_bit(first + week * 7);
    }
  }
  return (sets.day_star || sets.weekday_star ? by_day & by_weekday : by_day | by_weekday) & whole_month;
}

std::optional<std::int64_t> next_local(const cron_sets& sets, std::int64_t from, int last_year) {
  auto day = from >= 0 ? from / day_s : -((-from + day_s - 1) / day_s);
  auto time = static_cast<unsigned>(from - day * day_s);
  const auto found = next_day(sets, day, last_year);
  if (!found) return std::nullopt;
  if (*found != day) time = 0;
  if (const auto second = next_time(sets, time)) return *found * day_s + *second;
  const auto later = next_day(sets, day + 1, last_year);
  if (!later) return std::nullopt;
  return *later * day_s + next_time(sets, 0).value();
}

}  // namespace fairlead::core
