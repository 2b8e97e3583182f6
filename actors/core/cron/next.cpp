#include "actors/core/cron/next.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "actors/core/cron/days.hpp"

namespace fairlead::core {

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t year_1_s = -62'135'596'800;
constexpr std::int64_t year_10000_s = 253'402'300'800;
constexpr std::int64_t cycle_s = 146'097LL * 86'400;  // 400 years
// Further than any zone's clock is from UTC: the clock's reading at an instant is known to that precision without a lookup.
constexpr std::int64_t reach_s = 26LL * 3'600;

/// A time range in which the zone's clock runs evenly: its reading is the instant plus `offset_s`.
struct stretch {
  std::int64_t begin_s = 0;
  std::int64_t end_s = never;
  std::int64_t offset_s = 0;
};

cctz::time_point<cctz::seconds> as_point(std::int64_t unix_s) { return cctz::time_point<cctz::seconds>{cctz::seconds{unix_s}}; }

/// A clock's reading, as seconds since its own 1970.
std::int64_t as_local(const cctz::civil_second& shown) { return shown - cctz::civil_second{1970}; }

int year_of(std::int64_t local_s) {
  using namespace std::chrono;
  return static_cast<int>(year_month_day{floor<days>(sys_seconds{seconds{local_s}})}.year());
}

/// The instant of the first change of the clock after `unix_s`, or of a possible change.
std::int64_t next_change(const cctz::time_zone& zone, std::int64_t unix_s, std::int64_t offset_s) {
  cctz::time_zone::civil_transition change;
  if (zone.next_transition(as_point(unix_s), &change)) return as_local(change.from) - offset_s;
  // cctz lists the changes of 400 years beyond the zone's data and finds later ones by going back whole cycles; the same is done here. For
  // a zone that will not change any more this finds past changes: they separate two ranges with one offset, which is harmless.
  for (auto earlier = unix_s - cycle_s; earlier >= 0; earlier -= cycle_s) {
    if (zone.next_transition(as_point(earlier), &change)) {
      return as_local(change.from) - zone.lookup(as_point(earlier)).offset + (unix_s - earlier);
    }
  }
  return never;
}

stretch stretch_at(const cctz::time_zone& zone, std::int64_t unix_s) {
  const std::int64_t offset_s = zone.lookup(as_point(unix_s)).offset;
  return {unix_s, next_change(zone, unix_s, offset_s), offset_s};
}

/// Recent readings of the clock: enough to know whether a time shows for the second time.
class shown_times {
 public:
  void clear() { size_ = 0; }

  void add(std::int64_t from_local, std::int64_t to_local) {
    // No zone has ever changed its clock twice within a week, let alone so often that room runs out.
    if (size_ == ranges_.size()) {
      std::move(ranges_.begin() + 1, ranges_.end(), ranges_.begin());
      --size_;
    }
    ranges_[size_++] = {from_local, to_local};
  }

  /// The end of the shown range around `local`; nullopt: not shown.
  std::optional<std::int64_t> end_around(std::int64_t local) const {
    for (std::size_t i = 0; i < size_; ++i) {
      if (local >= ranges_[i].from && local < ranges_[i].to) return ranges_[i].to;
    }
    return std::nullopt;
  }

 private:
  struct range {
    std::int64_t from = 0;
    std::int64_t to = 0;
  };
  std::array<range, 6> ranges_{};
  std::size_t size_ = 0;
};

class search {
 public:
  search(const cron_expression& expression, const cctz::time_zone& zone, dst_policy policy, std::int64_t first_s)
      : sets_{expression.sets()},
        zone_{zone},
        once_{policy == dst_policy::skip_once || (policy == dst_policy::vixie && !expression.wild())},
        mends_gaps_{policy == dst_policy::vixie && !expression.wild()},
        first_s_{first_s},
        limit_s_{std::min(first_s + cycle_s, year_10000_s)},
        last_year_{year_of(limit_s_ + reach_s)} {}

  std::optional<std::int64_t> run() {
    // Readings from first_s_ on may have shown before, at most twice the reach earlier.
    auto now = stretch_at(zone_, first_s_ - 2 * reach_s);
    for (;;) {
      if (const auto found = in_stretch(now)) return within_limit(*found);
      if (now.end_s >= limit_s_) return std::nullopt;
      // After this range the clock shows no less than this.
      const auto next = next_local(sets_, now.end_s - reach_s, last_year_);
      if (!next) return std::nullopt;
      if (*next - reach_s > now.end_s) {
        // Nothing matches until then, so changes in between and earlier readings do not matter.
        shown_.clear();
        now = stretch_at(zone_, *next - reach_s);
        continue;
      }
      shown_.add(now.begin_s + now.offset_s, now.end_s + now.offset_s);
      const auto after = stretch_at(zone_, now.end_s);
      if (mends_gaps_ && now.end_s >= first_s_ && first_unshown(now.end_s + now.offset_s, now.end_s + after.offset_s)) {
        return within_limit(now.end_s);
      }
      now = after;
    }
  }

 private:
  /// The first instant of the range at which the job is due.
  std::optional<std::int64_t> in_stretch(const stretch& now) const {
    if (now.end_s <= first_s_) return std::nullopt;
    const auto from = std::max(now.begin_s, first_s_) + now.offset_s;
    const auto local = first_unshown(from, now.end_s == never ? never : now.end_s + now.offset_s);
    if (!local) return std::nullopt;
    return *local - now.offset_s;
  }

  /// The first matching local second of a range that, where this counts, has not been shown before.
  std::optional<std::int64_t> first_unshown(std::int64_t from, std::int64_t to) const {
    while (from < to) {
      const auto match = next_local(sets_, from, last_year_);
      if (!match || *match >= to) return std::nullopt;
      const auto shown_to = once_ ? shown_.end_around(*match) : std::nullopt;
      if (!shown_to) return match;
      from = *shown_to;
    }
    return std::nullopt;
  }

  std::optional<std::int64_t> within_limit(std::int64_t unix_s) const {
    if (unix_s >= limit_s_) return std::nullopt;
    return unix_s;
  }

  const cron_sets& sets_;
  const cctz::time_zone& zone_;
  const bool once_;
  const bool mends_gaps_;
  const std::int64_t first_s_;
  const std::int64_t limit_s_;
  const int last_year_;
  shown_times shown_;
};

}  // namespace

std::optional<std::int64_t> next_instant(const cron_expression& expression, const cctz::time_zone& zone, dst_policy policy,
                                         std::int64_t after_unix_s) {
  if (after_unix_s >= year_10000_s) return std::nullopt;
  const auto first_s = std::max(after_unix_s, year_1_s - 1) + 1;
  if (const auto every_s = expression.every_s(); every_s > 0) {
    const auto beyond = first_s % every_s;
    const auto due = beyond == 0 ? first_s : first_s - beyond + (beyond > 0 ? every_s : 0);
    if (due >= year_10000_s) return std::nullopt;
    return due;
  }
  return search{expression, zone, policy, first_s}.run();
}

bool ever_matches(const cron_expression& expression) {
  return expression.every_s() > 0 || next_local(expression.sets(), 0, 1970 + 400).has_value();
}

std::string format_local(std::int64_t unix_s, const cctz::time_zone& zone) {
  const auto shown = zone.lookup(as_point(unix_s));
  const auto& at = shown.cs;
  const auto offset = std::abs(shown.offset);
  std::array<char, 96> text{};
  const auto size =
      std::snprintf(text.data(), text.size(), "%04lld-%02d-%02dT%02d:%02d:%02d%c%02d:%02d", static_cast<long long>(at.year()), at.month(),
                    at.day(), at.hour(), at.minute(), at.second(), shown.offset < 0 ? '-' : '+', offset / 3'600, offset / 60 % 60);
  std::string out(text.data(), static_cast<std::size_t>(size));
  if (offset % 60 != 0) {
    std::snprintf(text.data(), text.size(), ":%02d", offset % 60);
    out += text.data();
  }
  return out;
}

}  // namespace fairlead::core
