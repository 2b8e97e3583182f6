#include "tests/actors/core/cron/cron_oracle.hpp"

#include <algorithm>
#include <cctype>

namespace fairlead::core::oracle {
namespace {

using texts = std::vector<std::string>;

texts split(const std::string& text, const std::string& separators, bool keep_empty) {
  texts out{""};
  for (const char c : text) {
    if (separators.find(c) == std::string::npos) {
      out.back() += c;
    } else {
      out.emplace_back();
    }
  }
  if (!keep_empty) std::erase(out, "");
  return out;
}

std::optional<int> digits(const std::string& text) {
  if (text.empty() || text.size() > 6 || text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::stoi(text);
}

struct kind {
  int lowest, highest;
  texts names;  // of lowest, lowest + 1, ...
};

const kind sixty{0, 59, {}};
const kind hours{0, 23, {}};
const kind days{1, 31, {}};
const kind months{1, 12, {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}};
const kind weekdays{0, 7, {"sun", "mon", "tue", "wed", "thu", "fri", "sat"}};

std::optional<int> value_of(const kind& of, const std::string& word) {
  for (std::size_t i = 0; i < of.names.size(); ++i) {
    if (of.names[i] == word) return of.lowest + static_cast<int>(i);
  }
  const auto value = digits(word);
  if (!value || *value < of.lowest || *value > of.highest) return std::nullopt;
  return value;
}

// `*`, `a`, `a-b`, each with or without `/N`.
template <std::size_t size>
bool add_plain(const kind& of, const std::string& item, std::array<bool, size>& to) {
  const auto halves = split(item, "/", true);
  if (halves.size() > 2) return false;
  const bool stepped = halves.size() == 2;
  const auto step = stepped ? digits(halves[1]) : 1;
  const int values = of.highest == 7 ? 7 : of.highest - of.lowest + 1;  // Sunday is one day with two numbers
  if (!step || *step < 1 || *step > values) return false;
  std::optional<int> first, last;
  if (halves[0] == "*") {
    first = of.lowest;
    last = of.highest;
  } else {
    const auto ends = split(halves[0], "-", true);
    if (ends.size() > 2) return false;
    first = value_of(of, ends[0]);
    if (ends.size() == 2) {
      last = ends[1] == "sun" && of.highest == 7 ? 7 : value_of(of, ends[1]);
    } else {
      last = stepped ? of.highest : first;
    }
  }
  if (!first || !last || *last < *first) return false;
  for (int value = *first; value <= *last; value += *step) to[value] = true;
  return true;
}

template <std::size_t size>
bool add_plain_list(const kind& of, const std::string& field, std::array<bool, size>& to) {
  for (const auto& item : split(field, ",", true)) {
    if (!add_plain(of, item, to)) return false;
  }
  return true;
}

bool add_day(const std::string& item, expression& to) {
  if (item == "l") return to.last_day = true;
  if (item == "lw") return to.last_working_day = true;
  if (item.rfind("l-", 0) == 0) {
    const auto before = digits(item.substr(2));
    if (!before || *before < 1 || *before > 30) return false;
    to.days_before_last.push_back(*before);
    return true;
  }
  if (!item.empty() && item.back() == 'w') {
    const auto day = value_of(days, item.substr(0, item.size() - 1));
    if (day) to.nearest_working_day.push_back(*day);
    return day.has_value();
  }
  return add_plain(days, item, to.days);
}

bool add_weekday(const std::string& item, expression& to) {
  if (const auto parts = split(item, "#", true); parts.size() == 2) {
    const auto day = value_of(weekdays, parts[0]);
    const auto k = digits(parts[1]);
    if (!day || !k || *k < 1 || *k > 5) return false;
    to.nth.emplace_back(*day % 7, *k);
    return true;
  }
  if (!item.empty() && item.back() == 'l') {
    const auto day = value_of(weekdays, item.substr(0, item.size() - 1));
    if (day) to.last_weekday.push_back(*day % 7);
    return day.has_value();
  }
  return add_plain(weekdays, item, to.weekdays);
}

std::optional<expression> parse_every(const std::string& text) {
  std::int64_t total_ms = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    std::string count, unit;
    while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]))) count += text[at++];
    while (at < text.size() && std::isalpha(static_cast<unsigned char>(text[at]))) unit += text[at++];
    if (!digits(count)) return std::nullopt;
    const std::int64_t unit_ms = unit == "ms"  ? 1
                                 : unit == "s" ? 1000
                                 : unit == "m" ? 60'000
                                 : unit == "h" ? 3'600'000
                                 : unit == "d" ? 86'400'000
                                               : 0;
    if (unit_ms == 0) return std::nullopt;
    total_ms += *digits(count) * unit_ms;
  }
  if (total_ms < 1000 || total_ms % 1000 != 0 || total_ms > 3650 * std::int64_t{86'400'000}) return std::nullopt;
  expression out;
  out.every_s = total_ms / 1000;
  return out;
}

int weekday_of(int year, int month, int day) { return on_the_wall(local_seconds(year, month, day)).weekday; }

bool works(int year, int month, int day) {
  const int weekday = weekday_of(year, month, day);
  return weekday != 0 && weekday != 6;
}

// The working day of the month that is nearest to one of its days. No two can be equally near: a weekend has two days.
int nearest_working_day(int year, int month, int day) {
  for (int distance = 0;; ++distance) {
    for (const int candidate : {day - distance, day + distance}) {
      if (candidate >= 1 && candidate <= days_of_month(year, month) && works(year, month, candidate)) return candidate;
    }
  }
}

bool day_of_month_matches(const expression& what, int year, int month, int day) {
  const int last = days_of_month(year, month);
  if (what.days[day]) return true;
  if (what.last_day && day == last) return true;
  if (what.last_working_day && day == nearest_working_day(year, month, last)) return true;
  for (const int before : what.days_before_last) {
    if (day == last - before) return true;
  }
  for (const int wanted : what.nearest_working_day) {
    if (wanted <= last && day == nearest_working_day(year, month, wanted)) return true;
  }
  return false;
}

bool weekday_matches(const expression& what, int year, int month, int day) {
  const int weekday = weekday_of(year, month, day);
  if (what.weekdays[weekday] || (weekday == 0 && what.weekdays[7])) return true;
  for (const auto& [wanted, k] : what.nth) {
    if (weekday == wanted && (day - 1) / 7 + 1 == k) return true;
  }
  for (const int wanted : what.last_weekday) {
    if (weekday == wanted && day + 7 > days_of_month(year, month)) return true;
  }
  return false;
}

}  // namespace

std::optional<expression> parse(std::string_view text) {
  if (text.size() > 256) return std::nullopt;
  std::string lower{text};
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  auto fields = split(lower, " \t", false);
  if (fields.size() == 2 && fields[0] == "@every") return parse_every(fields[1]);
  if (fields.size() == 1) {
    const std::vector<std::pair<std::string, std::string>> macros{
        {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"}, {"@weekly", "0 0 * * 0"},
        {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@hourly", "0 * * * *"}};
    for (const auto& [name, meaning] : macros) {
      if (fields[0] == name) return parse(meaning);
    }
  }
  if (fields.size() == 5) fields.insert(fields.begin(), "0");
  if (fields.size() != 6) return std::nullopt;
  expression out;
  if (!add_plain_list(sixty, fields[0], out.seconds) || !add_plain_list(sixty, fields[1], out.minutes)) return std::nullopt;
  if (!add_plain_list(hours, fields[2], out.hours) || !add_plain_list(months, fields[4], out.months)) return std::nullopt;
  for (const auto& item : split(fields[3], ",", true)) {
    if (!add_day(item, out)) return std::nullopt;
  }
  for (const auto& item : split(fields[5], ",", true)) {
    if (!add_weekday(item, out)) return std::nullopt;
  }
  out.wild = fields[1][0] == '*' || fields[2][0] == '*';
  out.days_start_with_star = fields[3][0] == '*';
  out.weekdays_start_with_star = fields[5][0] == '*';
  return out;
}

bool day_matches(const expression& what, int year, int month, int day) {
  if (!what.months[month]) return false;
  const bool by_month = day_of_month_matches(what, year, month, day);
  const bool by_week = weekday_matches(what, year, month, day);
  return what.days_start_with_star || what.weekdays_start_with_star ? by_month && by_week : by_month || by_week;
}

bool some_day_matches(const expression& what) {
  if (what.every_s > 0) return true;
  for (int year = 2000; year < 2400; ++year) {
    for (int month = 1; month <= 12; ++month) {
      for (int day = 1; day <= days_of_month(year, month); ++day) {
        if (day_matches(what, year, month, day)) return true;
      }
    }
  }
  return false;
}

timeline::timeline(const zone& where, std::int64_t from_utc_s, std::int64_t to_utc_s) : where_{where}, from_{from_utc_s}, to_{to_utc_s} {
  std::int64_t latest_shown_s = beginning_of_time;  // the end of what the clocks have shown in earlier stretches
  const stretch* before = nullptr;
  for (const auto& now : where.stretches()) {
    if (before && now.begin >= from_ && now.begin < to_) {
      moves_.push_back(now.begin);
      // What lies between the last second before the move and the first after it; nothing when the clocks go back.
      add(left_out_, now.begin + before->offset_s, now.begin + now.offset_s, now.begin, true, 0);
    }
    const auto begin = std::max(now.begin, from_);
    add(shown_, begin + now.offset_s, std::min(now.end, to_) + now.offset_s, begin, false, latest_shown_s);
    latest_shown_s = std::max(latest_shown_s, now.end + now.offset_s);
    before = &now;
  }
}

void timeline::add(std::vector<date_part>& to, std::int64_t from_local_s, std::int64_t to_local_s, std::int64_t utc_s, bool left_out,
                   std::int64_t latest_shown_s) {
  while (from_local_s < to_local_s) {
    const auto date = on_the_wall(from_local_s);
    const auto midnight = local_seconds(date.year, date.month, date.day);
    const auto end = std::min(midnight + 86400, to_local_s);
    to.push_back({date, midnight, from_local_s, end, utc_s, from_local_s < latest_shown_s});
    if (!left_out) utc_s += end - from_local_s;
    from_local_s = end;
  }
}

template <class F>
void timeline::each_match(const expression& what, const date_part& part, F see) {
  if (!day_matches(what, part.date.year, part.date.month, part.date.day)) return;
  for (auto minute = part.from_s - (part.from_s - part.midnight_s) % 60; minute < part.to_s; minute += 60) {
    const auto in_day = minute - part.midnight_s;
    if (!what.minutes[in_day / 60 % 60] || !what.hours[in_day / 3600]) continue;
    for (int second = 0; second < 60; ++second) {
      const auto local = minute + second;
      if (what.seconds[second] && local >= part.from_s && local < part.to_s) see(local, local - part.from_s);
    }
  }
}

instants timeline::fires(const expression& what) const {
  if (what.every_s > 0) {
    std::vector<std::int64_t> all;
    auto at = from_;
    while (at % what.every_s != 0) ++at;
    for (; at < to_; at += what.every_s) all.push_back(at);
    return {all, all, all};
  }
  instants out;
  for (const auto& part : shown_) {
    each_match(what, part, [&](std::int64_t local, std::int64_t after) {
      out.literal.push_back(part.utc_s + after);
      if (!part.old || !where_.shown_before(local, part.utc_s + after)) out.skip_once.push_back(part.utc_s + after);
    });
  }
  if (what.wild) {
    out.vixie = out.literal;
    return out;
  }
  out.vixie = out.skip_once;
  for (const auto& part : left_out_) {
    each_match(what, part, [&](std::int64_t local, std::int64_t) {
      // What another move brings to the wall after all is not swallowed.
      if (!where_.ever_shown(local)) out.vixie.push_back(part.utc_s);
    });
  }
  std::sort(out.vixie.begin(), out.vixie.end());
  out.vixie.erase(std::unique(out.vixie.begin(), out.vixie.end()), out.vixie.end());
  return out;
}

std::optional<std::int64_t> next_after(const expression& what, const zone& where, policy by, std::int64_t after_utc_s, int years) {
  constexpr std::int64_t year_s = 366 * 86400;
  for (int i = 0; i < years; ++i) {
    const timeline year{where, after_utc_s + 1 + i * year_s, after_utc_s + 1 + (i + 1) * year_s};
    const auto fires = year.fires(what);
    if (const auto& found = fires.of(by); !found.empty()) return found.front();
  }
  return std::nullopt;
}

}  // namespace fairlead::core::oracle
