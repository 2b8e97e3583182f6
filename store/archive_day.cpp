#include "store/archive_day.hpp"

#include <charconv>
#include <chrono>
#include <cstdio>

namespace fairlead::store {

namespace {
constexpr char class_prefix[] = "keep-";
}  // namespace

std::string format_day(std::int64_t day) {
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day}}};
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()));
  return text;
}

std::optional<std::int64_t> parse_day(const std::string& text) {
  int year = 0;
  unsigned month = 0, day = 0;
  int length = 0;
  if (text.size() != 10 || text.find_first_not_of("0123456789-") != std::string::npos || text[0] == '-') return std::nullopt;
  if (std::sscanf(text.c_str(), "%4d-%2u-%2u%n", &year, &month, &day, &length) != 3 || length != 10) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{day}};
  if (!date.ok()) return std::nullopt;
  const std::int64_t out = std::chrono::sys_days{date}.time_since_epoch().count();
  return format_day(out) == text ? std::optional(out) : std::nullopt;
}

std::int64_t day_of(std::int64_t unix_ms) { return std::chrono::floor<std::chrono::days>(std::chrono::milliseconds{unix_ms}).count(); }

std::string class_name(std::uint32_t keep_days) { return keep_days == 0 ? "" : class_prefix + std::to_string(keep_days) + "d/"; }

std::optional<std::uint32_t> parse_class(const std::string& name) {
  constexpr auto prefix = sizeof class_prefix - 1;
  std::uint32_t out = 0;
  if (name.size() <= prefix) return std::nullopt;
  std::from_chars(name.data() + prefix, name.data() + name.size(), out);
  // Another spelling of the same number would be another directory.
  return out != 0 && class_name(out) == name + "/" ? std::optional(out) : std::nullopt;
}

std::string archive_day::name() const { return class_name(keep_days) + format_day(day); }

}  // namespace fairlead::store
