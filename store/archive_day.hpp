#pragma once
// The archive of a task that has ended is that of a day and of a retention.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace fairlead::store {

/// Days are counted from 1970-01-01, which is day 0 and means none.
std::string format_day(std::int64_t day);
std::optional<std::int64_t> parse_day(const std::string& text);
std::int64_t day_of(std::int64_t unix_ms);

/// The part of an archive's path before the day: nothing for 0, or `keep-90d/`.
std::string class_name(std::uint32_t keep_days);
std::optional<std::uint32_t> parse_class(const std::string& name);

/// One archive: the tasks that were old enough on one day and have the same retention.
struct archive_day {
  std::int64_t day = 0;
  std::uint32_t keep_days = 0;  // 0: as the node file says

  /// `2024-10-04`, `keep-90d/2024-10-04`.
  std::string name() const;
  friend auto operator<=>(const archive_day&, const archive_day&) = default;  // NOLINT(modernize-use-nullptr)
};

}  // namespace fairlead::store
