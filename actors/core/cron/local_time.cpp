#include "actors/core/cron/local_time.hpp"

#include <cstdio>

namespace fairlead::core {

namespace {

std::int64_t resolved_ms(const cctz::civil_second& at, const cctz::time_zone& zone) {
  const auto found = zone.lookup(at);
  return (found.kind == cctz::time_zone::civil_lookup::SKIPPED ? found.trans : found.pre).time_since_epoch().count() * 1'000;
}

}  // namespace

cctz::civil_second local_time::last() const { return whole_day ? cctz::civil_second(cctz::civil_day(at) + 1) - 1 : at; }

std::optional<local_time> parse_local_time(const std::string& text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, end = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2d%n", &year, &month, &day, &end) != 3 || end != 10) return std::nullopt;
  const auto rest = text.substr(10);
  if (!rest.empty()) {
    int used = 0;
    const auto fields = std::sscanf(rest.c_str() + 1, "%2d:%2d%n:%2d%n", &hour, &minute, &used, &second, &used);
    if ((rest[0] != ' ' && rest[0] != 'T') || fields < 2 || static_cast<std::size_t>(used) + 1 != rest.size()) return std::nullopt;
  }
  const cctz::civil_second at(year, month, day, hour, minute, second);
  // civil_second takes 2026-02-30 for the second of March.
  if (at.month() != month || at.day() != day || at.hour() != hour || at.minute() != minute || at.second() != second) return std::nullopt;
  return local_time{at, rest.empty()};
}

std::int64_t first_unix_ms(const local_time& time, const cctz::time_zone& zone) { return resolved_ms(time.at, zone); }

std::int64_t last_unix_ms(const local_time& time, const cctz::time_zone& zone) {
  return time.whole_day ? resolved_ms(time.last() + 1, zone) - 1 : resolved_ms(time.at, zone);
}

}  // namespace fairlead::core
