#include "messages/time.hpp"

#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace fairlead {

namespace {

struct unit {
  const char* name;
  std::int64_t ms;
};

// Longest first, so that formatting goes from days down; `ms` stands before `m` for the parser's sake.
constexpr std::array<unit, 5> units{{{"d", 86'400'000}, {"h", 3'600'000}, {"ms", 1}, {"m", 60'000}, {"s", 1'000}}};
constexpr double max_ms = 10.0 * 366 * 86'400'000;

}  // namespace

moment system_clock::steady() const {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return moment{duration{std::int64_t{now.tv_sec} * 1'000 + now.tv_nsec / 1'000'000}};
}

std::string format_utc(std::int64_t unix_ms) {
  std::int64_t seconds = unix_ms / 1000;
  std::int64_t rest = unix_ms % 1000;
  if (rest < 0) {
    rest += 1000;
    --seconds;
  }
  const auto as_time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&as_time, &parts);
  std::array<char, 64> text{};
  const auto size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text.data() + size, text.size() - size, ".%03dZ", static_cast<int>(rest));
  return text.data();
}

bool parse_duration(const std::string& text, std::int64_t& out_ms) {
  double total = 0;
  std::size_t at = 0;
  if (text.empty()) return false;
  while (at < text.size()) {
    const auto start = at;
    bool dot = false;
    while (at < text.size() && (std::isdigit(static_cast<unsigned char>(text[at])) != 0 || (text[at] == '.' && !dot && at > start))) {
      dot = dot || text[at] == '.';
      ++at;
    }
    if (at == start || text[at - 1] == '.') return false;
    const auto number = std::strtod(text.substr(start, at - start).c_str(), nullptr);
    const unit* found = nullptr;
    for (const auto& u : units) {
      if (text.compare(at, std::char_traits<char>::length(u.name), u.name) == 0) {
        found = &u;
        break;
      }
    }
    if (found == nullptr) return false;
    at += std::char_traits<char>::length(found->name);
    total += number * static_cast<double>(found->ms);
    if (total > max_ms) return false;
  }
  out_ms = std::llround(total);
  return true;
}

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
