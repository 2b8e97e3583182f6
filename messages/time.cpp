#include "messages/time.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>

namespace fairlead {

namespace {

struct unit {
  const char* name;
  std::int64_t ms;
};

// Longest first, so that formatting goes from days down; `ms` stands before `m` for the parser's sake.
constexpr std::array<unit, 5> units{{{"d", 86'400'000}, {"h", 3'600'000}, {"ms", 1}, {"m", 60'000}, {"s", 1'000}}};
constexpr double max_ms = 10.0 * 366 * 86'400'000;

/// Of any size. nullopt: the text is no duration.
std::optional<double> milliseconds_of(const std::string& text) {
  double total = 0;
  std::size_t at = 0;
  if (text.empty()) return std::nullopt;
  while (at < text.size()) {
    const auto start = at;
    bool dot = false;
    while (at < text.size() && (std::isdigit(static_cast<unsigned char>(text[at])) != 0 || (text[at] == '.' && !dot && at > start))) {
      dot = dot || text[at] == '.';
      ++at;
    }
    if (at == start || text[at - 1] == '.') return std::nullopt;
    const auto number = std::strtod(text.substr(start, at - start).c_str(), nullptr);
    const unit* found = nullptr;
    for (const auto& u : units) {
      if (text.compare(at, std::char_traits<char>::length(u.name), u.name) == 0) {
        found = &u;
        break;
      }
    }
    if (found == nullptr) return std::nullopt;
    at += std::char_traits<char>::length(found->name);
    total += number * static_cast<double>(found->ms);
  }
  return total;
}

}  // namespace

moment system_clock::steady() const {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return moment{duration{std::int64_t{now.tv_sec} * 1'000 + now.tv_nsec / 1'000'000}};
}

std::string format_utc(std::int64_t unix_ms) {
  // Not by strftime, which takes a lock of the process: an answer of the API may have a hundred moments.
  using namespace std::chrono;
  const sys_time<milliseconds> at{milliseconds{unix_ms}};
  const auto midnight = floor<days>(at);
  const year_month_day date{midnight};
  const hh_mm_ss time{at - midnight};
  std::string out;
  const auto add = [&out](std::int64_t number, std::size_t digits, char behind) {
    const auto text = std::to_string(number);
    if (text.size() < digits) out.append(digits - text.size(), '0');
    (out += text) += behind;
  };
  add(int{date.year()}, 4, '-');
  add(unsigned{date.month()}, 2, '-');
  add(unsigned{date.day()}, 2, 'T');
  add(time.hours().count(), 2, ':');
  add(time.minutes().count(), 2, ':');
  add(time.seconds().count(), 2, '.');
  add(time.subseconds().count(), 3, 'Z');
  return out;
}

namespace {

/// Takes digits off the front of the rest of the text.
class digit_reader {
 public:
  explicit digit_reader(const std::string& text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool at_end() const { return at_ == end_; }
  bool next_is_digit() const { return at_ != end_ && *at_ >= '0' && *at_ <= '9'; }
  int digit() { return *at_++ - '0'; }

  bool number(int digits, int least, int most, int& out) {
    int value = 0;
    for (int i = 0; i < digits; ++i) {
      if (!next_is_digit()) return false;
      value = value * 10 + digit();
    }
    out = value;
    return value >= least && value <= most;
  }

  /// Takes one of the characters into `taken`.
  bool one_of(const char* choices, char& taken) {
    if (at_ == end_) return false;
    for (const auto* choice = choices; *choice != 0; ++choice) {
      if (*at_ != *choice) continue;
      taken = *at_++;
      return true;
    }
    return false;
  }
  bool sign(const char* choices) {
    char taken = 0;
    return one_of(choices, taken);
  }

 private:
  const char* at_;
  const char* end_;
};

bool leap_year(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int days_in(int year, int month) {
  constexpr std::array<int, 12> days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return days[static_cast<std::size_t>(month) - 1] + (month == 2 && leap_year(year) ? 1 : 0);
}

/// Days before the first of January. Counted from 400 years (a cycle of the calendar) before the year 1: no division goes below zero.
constexpr std::int64_t days_before(int year) {
  const std::int64_t years = year + 399;
  return years * 365 + years / 4 - years / 100 + years / 400;
}

/// By the Gregorian calendar, also for times before its introduction.
std::int64_t days_since_1970(int year, int month, int day) {
  auto days = days_before(year) - days_before(1970) + day - 1;
  for (int m = 1; m < month; ++m) days += days_in(year, m);
  return days;
}

}  // namespace

bool parse_utc(const std::string& text, std::int64_t& out_ms) {
  digit_reader in{text};
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  if (!in.number(4, 0, 9999, year) || !in.sign("-") || !in.number(2, 1, 12, month) || !in.sign("-") ||
      !in.number(2, 1, days_in(year, month), day) || !in.sign("Tt ") || !in.number(2, 0, 23, hour) || !in.sign(":") ||
      !in.number(2, 0, 59, minute) || !in.sign(":") || !in.number(2, 0, 60, second))
    return false;
  int ms = 0;
  if (in.sign(".")) {
    if (!in.next_is_digit()) return false;
    for (int scale = 100; in.next_is_digit(); scale /= 10) ms += in.digit() * scale;
  }
  char zone = 0;
  int zone_hours = 0;
  int zone_minutes = 0;
  if (!in.one_of("Zz+-", zone)) return false;
  if ((zone == '+' || zone == '-') && (!in.number(2, 0, 23, zone_hours) || !in.sign(":") || !in.number(2, 0, 59, zone_minutes)))
    return false;
  if (!in.at_end()) return false;
  const auto offset_s = (zone == '-' ? -60LL : 60LL) * (zone_hours * 60 + zone_minutes);
  const auto seconds = days_since_1970(year, month, day) * 86'400 + hour * 3'600 + minute * 60 + std::min(second, 59) - offset_s;
  out_ms = seconds * 1'000 + ms;
  return true;
}

bool parse_duration(const std::string& text, std::int64_t& out_ms) {
  const auto total = milliseconds_of(text);
  if (!total || *total > max_ms) return false;
  out_ms = std::llround(*total);
  return true;
}

bool has_form_of_duration(const std::string& text) { return milliseconds_of(text).has_value(); }

std::string format_duration(std::int64_t ms) {
  if (ms <= 0) return "0s";
  constexpr std::array<unit, 5> parts{{{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
  std::string out;
  for (const auto& u : parts) {
    const auto count = ms / u.ms;
    if (count == 0) continue;
    out += std::to_string(count) + u.name;
    ms -= count * u.ms;
  }
  return out;
}

}  // namespace fairlead
