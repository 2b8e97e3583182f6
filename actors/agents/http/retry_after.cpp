#include "actors/agents/http/retry_after.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace fairlead::agents {

namespace {

constexpr std::int64_t second = 1'000;
constexpr std::int64_t day = 86'400;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Reads a text from its front; every function gives false, for good, when something else stands there.
class reader {
 public:
  explicit reader(std::string_view text) : rest_(text) {}

  bool literal(std::string_view text) {
    if (rest_.substr(0, text.size()) != text) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  bool number(std::size_t digits, int& out) {
    if (rest_.size() < digits || !std::all_of(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(digits), is_digit)) return false;
    out = 0;
    for (std::size_t i = 0; i < digits; ++i) out = out * 10 + (rest_[i] - '0');
    rest_.remove_prefix(digits);
    return true;
  }
  template <std::size_t N>
  bool word(const std::array<std::string_view, N>& words, int& out) {
    for (std::size_t i = 0; i < N; ++i) {
      if (!literal(words[i])) continue;
      out = static_cast<int>(i);
      return true;
    }
    return false;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> days{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
constexpr std::array<std::string_view, 7> long_days{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

struct civil {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;  // month from 0
};

bool time_of_day(reader& in, civil& out) {
  return in.number(2, out.hour) && in.literal(":") && in.number(2, out.minute) && in.literal(":") && in.number(2, out.second);
}

bool leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

std::int64_t days_before_year(std::int64_t year) {
  const auto y = year - 1;
  return y * 365 + y / 4 - y / 100 + y / 400;
}

std::optional<std::int64_t> unix_seconds(const civil& c) {
  constexpr std::array<int, 12> lengths{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const auto length = lengths[static_cast<std::size_t>(c.month)] + (c.month == 1 && leap(c.year) ? 1 : 0);
  // A leap second is spelled 60.
  if (c.year < 1 || c.day < 1 || c.day > length || c.hour > 23 || c.minute > 59 || c.second > 60) return std::nullopt;
  auto total = days_before_year(c.year) - days_before_year(1970) + c.day - 1;
  for (int m = 0; m < c.month; ++m) total += lengths[static_cast<std::size_t>(m)] + (m == 1 && leap(c.year) ? 1 : 0);
  return total * day + c.hour * 3'600 + c.minute * 60 + c.second;
}

std::optional<std::int64_t> imf_fixdate(std::string_view text) {
  reader in{text};
  civil c;
  int ignored = 0;
  if (in.word(days, ignored) && in.literal(", ") && in.number(2, c.day) && in.literal(" ") && in.word(months, c.month) && in.literal(" ") &&
      in.number(4, c.year) && in.literal(" ") && time_of_day(in, c) && in.literal(" GMT") && in.at_end())
    return unix_seconds(c);
  return std::nullopt;
}

std::optional<std::int64_t> rfc850_date(std::string_view text, std::int64_t now_unix_ms) {
  reader in{text};
  civil c;
  int ignored = 0;
  if (!in.word(long_days, ignored) || !in.literal(", ") || !in.number(2, c.day) || !in.literal("-") || !in.word(months, c.month) ||
      !in.literal("-") || !in.number(2, c.year) || !in.literal(" ") || !time_of_day(in, c) || !in.literal(" GMT") || !in.at_end())
    return std::nullopt;
  // Two digits mean the year nearest to now of which none is more than 50 years ahead (RFC 9110, 5.6.7).
  const auto this_year = static_cast<int>(1970 + now_unix_ms / second / day * 400 / 146'097);
  c.year += this_year / 100 * 100;
  if (c.year > this_year + 50) c.year -= 100;
  if (c.year <= this_year - 50) c.year += 100;
  return unix_seconds(c);
}

std::optional<std::int64_t> asctime_date(std::string_view text) {
  reader in{text};
  civil c;
  int ignored = 0;
  if (!in.word(days, ignored) || !in.literal(" ") || !in.word(months, c.month) || !in.literal(" ")) return std::nullopt;
  if (!(in.literal(" ") ? in.number(1, c.day) : in.number(2, c.day))) return std::nullopt;
  if (!in.literal(" ") || !time_of_day(in, c) || !in.literal(" ") || !in.number(4, c.year) || !in.at_end()) return std::nullopt;
  return unix_seconds(c);
}

}  // namespace

std::int64_t retry_after_ms(std::string_view value, std::int64_t now_unix_ms) {
  value = trimmed(value);
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
  value = trimmed(value);
  auto at = imf_fixdate(value);
  if (!at) at = rfc850_date(value, now_unix_ms);
  if (!at) at = asctime_date(value);
  return at ? std::optional{*at * second} : std::nullopt;
}

}  // namespace fairlead::agents
