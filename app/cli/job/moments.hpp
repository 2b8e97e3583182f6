#pragma once
// Moments and time ranges as an operator types them for a job: in UTC, with an offset, or by the clock of the job's time zone.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "actors/core/cron/local_time.hpp"
#include "app/cli/context.hpp"
#include "messages/error.hpp"

namespace fairlead::app {

/// `2026-03-28T22:30:00Z`, `2026-03-28T23:30:00+01:00`, `2026-03-28 23:30[:00]` or `2026-03-28`.
struct asked_moment {
  std::int64_t unix_ms = 0;
  std::optional<core::local_time> local;  // by the job's clock; `unix_ms` is not known then
};
result<asked_moment> read_moment(const std::string& option, const std::string& text);

/// `--from`, `--to` and `--last`, as typed.
struct range_options {
  std::optional<std::string> from;
  std::optional<std::string> to;
  std::optional<std::string> last;
};
void add_range_options(CLI::App& command, range_options& options, const char* ends);

/// Both ends included; a day as the end is included to its last millisecond, or up to now. 0: not given.
struct time_range {
  std::int64_t from_unix_ms = 0;
  std::int64_t to_unix_ms = 0;
};

class asked_range {
 public:
  /// Checks everything that needs no time zone.
  static result<asked_range> read(const range_options& options, std::int64_t now_unix_ms);

  bool empty() const { return !from_ && !to_; }
  /// The end is a whole day.
  bool ends_with_day() const { return to_ && to_->local && to_->local->whole_day; }
  /// Some moment is by the job's clock.
  bool needs_zone() const { return (from_ && from_->local) || (to_ && to_->local); }
  /// `zone`: of the job; null if `needs_zone` is false. A local time in a gap of the clock is the first moment after the gap.
  result<time_range> in(const cctz::time_zone* zone) const;

 private:
  std::int64_t now_unix_ms_ = 0;
  std::optional<asked_moment> from_;
  std::optional<asked_moment> to_;
};

/// The range in the zone of the job, which is asked for only if it is needed.
result<time_range> range_of(const asked_range& asked, client& to, const std::string& job);

}  // namespace fairlead::app
