#pragma once
// What cron is compared with its oracle on: expressions, years of zones with a change of the clocks in them, and expressions at random.

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace fairlead::core::oracle {

using texts = std::vector<std::string>;

inline constexpr const char* fixed_expressions[] = {
    // At a fixed time: in and next to the gaps and overlaps of the years below.
    "30 2 * * *",
    "0 0 * * *",
    "30 0 * * *",
    "59 23 * * *",
    "0 1 * * *",
    "15 1 * * *",
    "0 3 * * *",
    "45 1 * * *",
    "0 12 * * *",
    "1 0 * * *",
    "45 23 * * *",
    "15 2,3 * * *",
    "0,30 0-3 * * *",
    "10-50/20 0-23/2 * * *",
    "0-59 2 * * *",
    "30 2 * * SUN",
    "0 0 1 * *",
    // Whenever the wall clock matches.
    "* * * * *",
    "*/15 * * * *",
    "0 * * * *",
    "*/20 2 * * *",
    "* 0 * * *",
    "17 */3 * * *",
    "30 * * * SUN",
    "*,5 1 * * *",
    "5,* 1 * * *",
    // Days.
    "30 2 L * *",
    "0 1 LW * *",
    "30 0 15W * *",
    "0 2 1W,31W * *",
    "30 2 L-2 * *",
    "30 2 * * SUN#1",
    "30 2 * 3,4,10 7L",
    "0 0 * * 5L",
    "0 1 1,15 * FRI",
    "30 1 */2 * SUN",
    "0 2 1-7 * */7",
    "15 3 */3 * 0-SUN/2",
    "0 12 30 12 *",
    "0 0,12 * OCT-DEC/2 FRI-SUN",
    "0 6 29 2 *",
    // Seconds.
    "* * * * * *",
    "*/7 59 1 * * *",
    "30 30 2 * * *",
    "0-59/20 0,30 0-3 * * *",
    "15,45 * 2 * * SUN",
    // Others.
    "@hourly",
    "@daily",
    "@weekly",
    "@monthly",
    "@every 100m",
    "@every 36h",
    "@every 7d",
};

struct year_of {
  const char* zone;
  int year, month;
};

inline constexpr year_of places[] = {
    {"UTC", 2026, 1},
    {"Europe/Berlin", 2026, 1},
    {"America/New_York", 2026, 1},
    {"Europe/London", 1941, 1},     // two hours of summer time
    {"Europe/Dublin", 2026, 1},     // summer is standard time, winter is behind it
    {"Europe/Dublin", 2050, 1},     // the same from the footer
    {"Europe/Amsterdam", 1937, 1},  // +00:19:32 and +01:19:32
    {"Europe/Moscow", 2011, 1},     // for good
    {"Europe/Lisbon", 1992, 6},     // another zone and summer time together
    {"Europe/Istanbul", 2016, 1},
    {"Antarctica/Troll", 2026, 1},  // two hours at once
    {"Antarctica/Casey", 2018, 1},  // three hours back
    {"Antarctica/Casey", 2010, 1},
    {"Antarctica/Casey", 2020, 3},  // at one minute past midnight
    {"Antarctica/Vostok", 2023, 6},
    {"Africa/Casablanca", 2026, 1},  // Ramadan
    {"Africa/Casablanca", 2030, 1},  // twice
    {"Africa/Cairo", 2026, 1},       // at midnight
    {"Africa/Cairo", 2010, 1},       // four changes
    {"Africa/Monrovia", 1971, 6},    // -00:44:30
    {"Africa/Sao_Tome", 2018, 1},
    {"Asia/Beirut", 2026, 1},  // at midnight
    {"Asia/Gaza", 2026, 1},
    {"Asia/Tehran", 2022, 1},  // half-hour zone, at midnight
    {"Asia/Kolkata", 1942, 1},
    {"Asia/Kathmandu", 1985, 6},  // a quarter of an hour, into 45 minutes
    {"Asia/Pyongyang", 2015, 1},
    {"Asia/Pyongyang", 2018, 1},
    {"Asia/Dhaka", 2009, 1},        // an hour before midnight
    {"Asia/Colombo", 1996, 1},      // half an hour back, twice
    {"Asia/Singapore", 1981, 6},    // half an hour at New Year
    {"Asia/Manila", 1844, 6},       // a day
    {"Atlantic/Azores", 2026, 1},   // the overlap reaches into the day before
    {"America/Havana", 2026, 1},    // at midnight
    {"America/Asuncion", 2023, 1},  // at midnight
    {"America/Santiago", 2026, 1},
    {"America/Sao_Paulo", 2017, 6},
    {"America/St_Johns", 2010, 1},  // half-hour zone, at one minute past midnight
    {"America/St_Johns", 1988, 1},  // two hours of summer time
    {"America/Caracas", 2016, 1},   // half an hour
    {"America/Caracas", 2007, 6},
    {"America/Nuuk", 2023, 1},
    {"America/Juneau", 1867, 6},  // a day twice
    {"America/Argentina/San_Luis", 2008, 1},
    {"Australia/Lord_Howe", 2026, 1},  // half an hour
    {"Australia/Adelaide", 2026, 1},   // half-hour zone
    {"Australia/Eucla", 2008, 1},      // 45-minute zone
    {"Pacific/Chatham", 2026, 1},      // 45-minute zone
    {"America/New_York", 6400, 1},     // far beyond all tables: from the rule that goes on for ever
    {"Australia/Lord_Howe", 9990, 1},
    {"Pacific/Apia", 2011, 3},        // without 2011-12-30
    {"Pacific/Kwajalein", 1993, 1},   // without 1993-08-21
    {"Pacific/Kwajalein", 1969, 6},   // 23 hours twice
    {"Pacific/Kiritimati", 1994, 6},  // without New Year's Eve
};

// Expressions of every form the grammar has, more of them near the hours at which clocks move than elsewhere.
class cron_writer {
 public:
  explicit cron_writer(std::uint64_t seed) : random_{seed} {}

  std::uint64_t below(std::uint64_t n) { return std::uniform_int_distribution<std::uint64_t>{0, n - 1}(random_); }

  std::string expression() {
    std::string out;
    if (below(5) == 0) out = field(0, 59, 30) + blank();
    out += field(0, 59, 25) + blank() + (below(2) ? field(0, 3, 5) : field(0, 23, 25)) + blank();
    out += days() + blank() + field(1, 12, 60, months_) + blank() + weekdays();
    return below(20) == 0 ? blank() + out + blank() : out;
  }

 private:
  std::string blank() { return below(20) == 0 ? " \t " : " "; }
  int between(int low, int high) { return low + static_cast<int>(below(high - low + 1)); }

  std::string value(int v, int low, const texts& names) {
    if (names.empty() || below(2)) return below(30) == 0 && v < 10 ? "0" + std::to_string(v) : std::to_string(v);
    auto name = names.at((v - low) % names.size());
    for (char& c : name) c = static_cast<char>(below(2) ? std::toupper(c) : c);
    return name;
  }

  // `*`, `a`, `a-b`, each in steps or not.
  std::string plain(int low, int high, unsigned star_percent, const texts& names) {
    const auto step = [&] { return "/" + std::to_string(between(1, std::max(2, (high - low) / static_cast<int>(1 + below(5))))); };
    if (below(100) < star_percent) return below(3) ? "*" : "*" + step();
    const int a = between(low, high);
    switch (below(6)) {
      case 0: return value(a, low, names) + step();
      case 1:
      case 2: {
        const int b = between(a, high);
        // A Sunday by name is 0 where it begins a range.
        const auto first = a == 7 ? "7" : value(a, low, names);
        return first + "-" + (b == 0 ? "0" : value(b, low, names)) + (below(2) ? step() : "");
      }
      default: return value(a, low, names);
    }
  }

  std::string field(int low, int high, unsigned star_percent, const texts& names = {}) {
    auto out = plain(low, high, star_percent, names);
    while (below(4) == 0) out += "," + plain(low, high, 5, names);
    return out;
  }

  std::string days() {
    std::string out;
    do {
      if (!out.empty()) out += ",";
      switch (below(12)) {
        case 0: out += below(2) ? "L" : "l"; break;
        case 1: out += "LW"; break;
        case 2: out += "L-" + std::to_string(between(1, 30)); break;
        case 3:
        case 4: out += std::to_string(between(1, 31)) + "W"; break;
        default: out += plain(1, 31, out.empty() ? 60 : 5, {});
      }
    } while (below(4) == 0);
    return out;
  }

  std::string weekdays() {
    std::string out;
    do {
      if (!out.empty()) out += ",";
      switch (below(10)) {
        case 0: out += value(between(0, 7), 0, weekdays_) + "#" + std::to_string(between(1, 5)); break;
        case 1: out += value(between(0, 7), 0, weekdays_) + "L"; break;
        default: out += plain(0, 7, out.empty() ? 60 : 5, weekdays_);
      }
    } while (below(4) == 0);
    return out;
  }

  std::mt19937_64 random_;
  const texts months_{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"};
  const texts weekdays_{"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
};

}  // namespace fairlead::core::oracle
