#include "actors/agents/http/retry_after.hpp"

#include <locale.h>
#include <time.h>

#include <algorithm>
#include <string>

#include "actors/core/text/text.hpp"

namespace fairlead::agents {

namespace {

constexpr std::int64_t second = 1'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Names of days and months are English, whatever language this process speaks.
locale_t english() {
  static const locale_t made = newlocale(LC_ALL_MASK, "C", nullptr);
  return made;
}

/// The whole text, read by strptime(3) with `format`; nullopt also for a day that its month does not have.
std::optional<tm> read_date(const std::string& text, const char* format) {
  tm out{};
  const auto* const end = strptime_l(text.c_str(), format, &out, english());
  if (end == nullptr || end != text.c_str() + text.size()) return std::nullopt;
  auto normal = out;
  normal.tm_sec = 0;  // a leap second is spelled 60
  timegm(&normal);
  return normal.tm_mday == out.tm_mday && normal.tm_mon == out.tm_mon && out.tm_sec <= 60 ? std::optional{out} : std::nullopt;
}

}  // namespace

std::int64_t retry_after_ms(std::string_view value, std::int64_t now_unix_ms) {
  value = core::trimmed(value);
  if (value.empty()) return 0;
  if (std::all_of(value.begin(), value.end(), is_digit)) {
    std::int64_t seconds = 0;
    for (const char c : value) seconds = std::min(seconds * 10 + (c - '0'), longest_retry_after_ms / second);
    return seconds * second;
  }
  const auto at = http_date_unix_ms(value, now_unix_ms);
  return at ? std::clamp<std::int64_t>(*at - now_unix_ms, 0, longest_retry_after_ms) : 0;
}

std::optional<std::int64_t> http_date_unix_ms(std::string_view value, std::int64_t now_unix_ms) {
  const std::string text{core::trimmed(value)};
  auto date = read_date(text, "%a, %d %b %Y %H:%M:%S GMT");
  if (!date) date = read_date(text, "%a %b %e %H:%M:%S %Y");
  if (date) return std::int64_t{timegm(&*date)} * second;
  date = read_date(text, "%A, %d-%b-%y %H:%M:%S GMT");
  if (!date) return std::nullopt;
  // Two digits mean the latest such year that is at most 50 years ahead (RFC 9110, 5.6.7).
  const auto now_s = static_cast<time_t>(now_unix_ms / second);
  tm now{};
  gmtime_r(&now_s, &now);
  date->tm_year = date->tm_year % 100 + (now.tm_year + 50) / 100 * 100;
  if (date->tm_year > now.tm_year + 50) date->tm_year -= 100;
  return std::int64_t{timegm(&*date)} * second;
}

}  // namespace fairlead::agents
