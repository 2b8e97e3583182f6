#pragma once
// Moments and durations. Everything stored is whole milliseconds since 1970-01-01T00:00Z. C++17.

#include <chrono>
#include <cstdint>
#include <string>

namespace fairlead {

using duration = std::chrono::milliseconds;
using moment = std::chrono::time_point<std::chrono::system_clock, duration>;

inline std::int64_t to_unix_ms(moment at) { return at.time_since_epoch().count(); }
inline moment from_unix_ms(std::int64_t unix_ms) { return moment{duration{unix_ms}}; }

/// The source of time. Only shells ask it; decisions get the moment as a value.
class clock {
 public:
  virtual ~clock() = default;
  virtual moment now() const = 0;
  /// A clock that nobody sets and that goes on while the machine sleeps. Its moments are comparable only within this process (or, on one
  /// machine, between two boots): they are for differences.
  virtual moment steady() const { return now(); }
};

/// The machine's clock.
class system_clock final : public clock {
 public:
  moment now() const override { return std::chrono::time_point_cast<duration>(std::chrono::system_clock::now()); }
  moment steady() const override;
};

/// The machine's time, for a program's outermost layer.
inline std::int64_t now_unix_ms() { return to_unix_ms(system_clock{}.now()); }
/// The machine's clock that nobody sets.
inline std::int64_t now_boot_ms() { return to_unix_ms(system_clock{}.steady()); }

/// `2026-03-29T01:00:00.250Z`.
std::string format_utc(std::int64_t unix_ms);

/// Reads RFC 3339: `2026-03-28T22:30:00Z`, `2026-03-29T00:30:00.25+02:00`; a blank may stand for the `T`. Fractions finer than a
/// millisecond are cut off, and a leap second is read as the second before it. False, with `out_ms` unchanged, for every other text: total
/// over all bytes.
bool parse_utc(const std::string& text, std::int64_t& out_ms);

/// Reads `250ms`, `5s`, `1m30s`, `2h`, `7d`, `1.5s`; false if the text is no duration or exceeds 10 years.
bool parse_duration(const std::string& text, std::int64_t& out_ms);

/// Whether `text` is written as a duration, also one that is too long for `parse_duration`.
bool has_form_of_duration(const std::string& text);

/// The shortest text that `parse_duration` reads back: `90000` gives `1m30s`.
std::string format_duration(std::int64_t ms);

}  // namespace fairlead
