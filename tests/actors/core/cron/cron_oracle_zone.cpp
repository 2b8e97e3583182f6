#include "tests/actors/core/cron/cron_oracle_zone.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace fairlead::core::oracle {
namespace {

struct change {
  std::int64_t at = 0;
  std::int64_t offset_s = 0;
};

std::int64_t floor_of(std::int64_t value, std::int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

std::int64_t big_endian(const std::string& bytes, std::size_t at, int width) {
  std::uint64_t value = 0;
  for (int i = 0; i < width; ++i) value = value << 8 | static_cast<unsigned char>(bytes.at(at + i));
  return width == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
}

// The footer: a TZ string of POSIX, with hours from -167 to 167 as RFC 8536 allows.
class footer {
 public:
  explicit footer(std::string text) : text_{std::move(text)} {
    skip_name();
    standard_ = -time();
    if (done()) return;
    skip_name();
    summer_ = done() || text_[at_] == ',' ? standard_ + 3600 : -time();
    has_summer_ = true;
    expect(',');
    start_ = day();
    expect(',');
    end_ = day();
    if (!done()) throw std::runtime_error{"more than a rule: " + text_};
  }

  std::int64_t standard() const { return standard_; }

  /// The two changes of a year; none where the rule has no summer time.
  std::vector<change> changes(int year) const {
    if (!has_summer_) return {};
    return {{local_of(start_, year) - standard_, summer_}, {local_of(end_, year) - summer_, standard_}};
  }

 private:
  struct rule {
    char kind = 'M';  // M: month, week, weekday; J: 1-365 without 29 February; 0: 0-365
    int month = 0, week = 0, weekday = 0, day = 0;
    std::int64_t time_s = 7200;
  };

  bool done() const { return at_ == text_.size(); }

  void expect(char wanted) {
    if (done() || text_[at_] != wanted) throw std::runtime_error{"a bad rule: " + text_};
    ++at_;
  }

  void skip_name() {
    if (!done() && text_[at_] == '<') {
      at_ = text_.find('>', at_) + 1;
      return;
    }
    while (!done() && std::isalpha(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  int number() {
    if (done() || !std::isdigit(static_cast<unsigned char>(text_[at_]))) throw std::runtime_error{"a bad rule: " + text_};
    int value = 0;
    while (!done() && std::isdigit(static_cast<unsigned char>(text_[at_]))) value = value * 10 + (text_[at_++] - '0');
    return value;
  }

  std::int64_t time() {
    std::int64_t sign = 1;
    if (!done() && (text_[at_] == '-' || text_[at_] == '+')) sign = text_[at_++] == '-' ? -1 : 1;
    std::int64_t seconds = number() * std::int64_t{3600};
    for (int unit = 60; unit > 0 && !done() && text_[at_] == ':'; unit /= 60) {
      ++at_;
      seconds += std::int64_t{number()} * unit;
    }
    return sign * seconds;
  }

  rule day() {
    rule out;
    if (!done() && text_[at_] == 'M') {
      ++at_;
      out.month = number();
      expect('.');
      out.week = number();
      expect('.');
      out.weekday = number();
    } else if (!done() && text_[at_] == 'J') {
      ++at_;
      out.kind = 'J';
      out.day = number();
    } else {
      out.kind = '0';
      out.day = number();
    }
    if (!done() && text_[at_] == '/') {
      ++at_;
      out.time_s = time();
    }
    return out;
  }

  static std::int64_t local_of(const rule& by, int year) {
    const std::int64_t day_s = 86400;
    if (by.kind == '0') return local_seconds(year, 1, 1) + by.day * day_s + by.time_s;
    if (by.kind == 'J') {
      const bool behind_february = days_of_month(year, 2) == 29 && by.day >= 60;
      return local_seconds(year, 1, 1) + (by.day - 1 + (behind_february ? 1 : 0)) * day_s + by.time_s;
    }
    // The days of that weekday in the month, one after another; week 5 means the last.
    std::vector<int> days;
    for (int d = 1; d <= days_of_month(year, by.month); ++d) {
      if (on_the_wall(local_seconds(year, by.month, d)).weekday == by.weekday) days.push_back(d);
    }
    const int chosen = by.week == 5 ? days.back() : days.at(by.week - 1);
    return local_seconds(year, by.month, chosen) + by.time_s;
  }

  std::string text_;
  std::size_t at_ = 0;
  std::int64_t standard_ = 0, summer_ = 0;
  bool has_summer_ = false;
  rule start_, end_;
};

}  // namespace

std::int64_t local_seconds(int year, int month, int day, int hour, int minute, int second) {
  using namespace std::chrono;
  const sys_days date{std::chrono::year{year} / static_cast<unsigned>(month) / static_cast<unsigned>(day)};
  return date.time_since_epoch().count() * std::int64_t{86400} + hour * 3600 + minute * 60 + second;
}

int days_of_month(int year, int month) {
  using namespace std::chrono;
  return static_cast<int>(static_cast<unsigned>((std::chrono::year{year} / std::chrono::month{static_cast<unsigned>(month)} / last).day()));
}

wall_clock on_the_wall(std::int64_t local_s) {
  using namespace std::chrono;
  const auto day_number = floor_of(local_s, 86400);
  const auto rest = static_cast<int>(local_s - day_number * 86400);
  const sys_days date{std::chrono::days{day_number}};
  const year_month_day parts{date};
  wall_clock out;
  out.year = static_cast<int>(parts.year());
  out.month = static_cast<int>(static_cast<unsigned>(parts.month()));
  out.day = static_cast<int>(static_cast<unsigned>(parts.day()));
  out.weekday = static_cast<int>(weekday{date}.c_encoding());
  out.hour = rest / 3600;
  out.minute = rest / 60 % 60;
  out.second = rest % 60;
  return out;
}

zone::zone(const std::string& name, int last_year) : name_{name} {
  const char* folder = std::getenv("TZDIR");
  std::ifstream file{std::string{folder ? folder : "/usr/share/zoneinfo"} + "/" + name, std::ios::binary};
  std::ostringstream content;
  content << file.rdbuf();
  const auto bytes = content.str();

  struct header {
    std::int64_t ut_flags, standard_flags, leaps, times, types, letters;
  };
  const auto read_header = [&bytes, &name](std::size_t at) {
    if (bytes.compare(at, 4, "TZif") != 0 || bytes.at(at + 4) < '2')
      throw std::runtime_error{"no TZif file of version 2 or later: " + name};
    const auto count = [&bytes, at](int n) { return big_endian(bytes, at + 20 + 4 * n, 4); };
    return header{count(0), count(1), count(2), count(3), count(4), count(5)};
  };
  if (bytes.size() < 44) throw std::runtime_error{"no zone file: " + name};
  const auto old = read_header(0);
  const std::size_t second = 44 + old.times * 5 + old.types * 6 + old.letters + old.leaps * 8 + old.standard_flags + old.ut_flags;
  const auto head = read_header(second);
  if (head.leaps != 0) throw std::runtime_error{"a zone that counts leap seconds: " + name};

  const std::size_t times = second + 44;
  const std::size_t kinds = times + head.times * 8;
  const std::size_t types = kinds + head.times;
  const std::size_t end = types + head.types * 6 + head.letters + head.standard_flags + head.ut_flags;
  const auto offset_of = [&](int type) { return big_endian(bytes, types + type * 6, 4); };
  std::vector<change> changes;
  for (int i = 0; i < head.times; ++i) {
    changes.push_back({big_endian(bytes, times + i * 8, 8), offset_of(static_cast<unsigned char>(bytes.at(kinds + i)))});
  }

  if (bytes.at(end) != '\n' || bytes.back() != '\n') throw std::runtime_error{"no footer: " + name};
  if (const auto text = bytes.substr(end + 1, bytes.size() - end - 2); !text.empty()) {
    const footer rule{text};
    const auto known_to = changes.empty() ? beginning_of_time : changes.back().at;
    const int first_year = changes.empty() ? 1800 : on_the_wall(known_to).year - 1;
    std::vector<change> later;
    for (int year = first_year; year <= last_year; ++year) {
      for (const auto& made : rule.changes(year)) {
        if (made.at > known_to) later.push_back(made);
      }
    }
    std::sort(later.begin(), later.end(), [](const change& a, const change& b) { return a.at < b.at; });
    changes.insert(changes.end(), later.begin(), later.end());
  }

  stretch current{beginning_of_time, end_of_time, offset_of(0)};
  for (const auto& made : changes) {
    if (made.offset_s == current.offset_s) continue;  // another name or another flag only: the clocks do not move
    current.end = made.at;
    if (current.begin < current.end) stretches_.push_back(current);
    current = {made.at, end_of_time, made.offset_s};
  }
  stretches_.push_back(current);
}

const stretch& zone::at(std::int64_t utc_s) const {
  const auto behind = std::upper_bound(stretches_.begin(), stretches_.end(), utc_s,
                                       [](std::int64_t wanted, const stretch& one) { return wanted < one.begin; });
  return behind == stretches_.begin() ? stretches_.front() : *std::prev(behind);
}

bool zone::shown_before(std::int64_t local_s, std::int64_t utc_s) const {
  // No two clocks of the earth are further apart than this, so only stretches near the moment can have shown it.
  constexpr std::int64_t reach_s = 2 * 86400;
  for (auto one = &at(local_s - reach_s); one != stretches_.data() + stretches_.size() && one->begin <= local_s + reach_s; ++one) {
    const auto shown_at = local_s - one->offset_s;
    if (shown_at >= one->begin && shown_at < one->end && shown_at < utc_s) return true;
  }
  return false;
}

std::string written(const zone& in, std::int64_t utc_s) {
  const auto offset = in.at(utc_s).offset_s;
  const auto wall = on_the_wall(utc_s + offset);
  const int size = static_cast<int>(std::abs(offset));
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d%c%02d:%02d", wall.year, wall.month, wall.day, wall.hour, wall.minute,
                wall.second, offset < 0 ? '-' : '+', size / 3600, size / 60 % 60);
  std::string out = text;
  if (size % 60 != 0) {
    std::snprintf(text, sizeof text, ":%02d", size % 60);
    out += text;
  }
  return out;
}

}  // namespace fairlead::core::oracle
