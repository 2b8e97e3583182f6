#include "app/files/job_stretch.hpp"

#include <algorithm>
#include <variant>

#include "actors/core/cron/next.hpp"
#include "actors/core/job/job.hpp"
#include "actors/system/time_zones.hpp"

namespace fairlead::app {

namespace {

constexpr std::int64_t second_ms = 1'000;
constexpr std::int64_t most_ahead_ms = 1'000;  // of a mark: clocks of two machines differ

/// Skips that a person may want to have launched after all.
bool mendable(v1::SkipReason reason) {
  return reason != v1::SKIP_REASON_PAUSED && reason != v1::SKIP_REASON_SUPERSEDED && reason != v1::SKIP_REASON_CANCELLED &&
         reason != v1::SKIP_REASON_REPLACED && reason != v1::SKIP_REASON_UNSPECIFIED;
}

/// The times of a job as this machine's zones have them.
class schedule {
 public:
  explicit schedule(const v1::JobSpec& job)
      : parsed_{core::cron_expression::parse(job.schedule(), job.name())},
        zone_{time_zones::of_system().find(job.zone())},
        dst_{core::dst_of(job.dst())} {}

  bool known() const { return zone_ != nullptr && std::holds_alternative<core::cron_expression>(parsed_); }

  /// How many there are from the first second to the second one, counted no further than `most`.
  int count(std::int64_t from_s, std::int64_t to_s, int most) const {
    int found = 0;
    for (auto next = after(from_s - 1); next && *next <= to_s && found < most; next = after(*next)) ++found;
    return found;
  }

 private:
  std::optional<std::int64_t> after(std::int64_t unix_s) const {
    return core::next_instant(std::get<core::cron_expression>(parsed_), *zone_, dst_, unix_s);
  }

  std::variant<core::cron_expression, core::cron_problem> parsed_;
  const cctz::time_zone* zone_;
  core::dst_policy dst_;
};

/// Takes as much from the beginning as it must, so that at most `room` times are left. False: there is none in it.
bool fit(job_stretch& stretch, const schedule& times, int room) {
  const auto from_s = (stretch.from_unix_ms + second_ms - 1) / second_ms;
  const auto to_s = stretch.to_unix_ms / second_ms;
  const auto fits = [&](std::int64_t at_s) { return times.count(at_s, to_s, room + 1) <= room; };
  if (times.count(from_s, to_s, 1) == 0) return false;
  if (fits(from_s)) return true;
  // One beyond the end always fits.
  auto too_early_s = from_s;
  auto fitting_s = to_s + 1;
  while (fitting_s - too_early_s > 1) {
    const auto middle_s = too_early_s + (fitting_s - too_early_s) / 2;
    (fits(middle_s) ? fitting_s : too_early_s) = middle_s;
  }
  stretch.from_unix_ms = fitting_s * second_ms;
  stretch.whole = false;
  return fitting_s <= to_s;
}

}  // namespace

std::optional<job_stretch> stretch_to_backfill(const v1::JobShowReply& reply, std::int64_t now_unix_ms) {
  const auto& job = reply.job();
  if (job.mark_unix_ms() > now_unix_ms + most_ahead_ms) return std::nullopt;
  const auto room = core::max_open_launches - std::min(core::max_open_launches, job.open_size());
  const schedule times{job.spec()};
  job_stretch out;
  bool found = false;
  std::uint64_t held = 0;
  for (const auto& one : reply.latest()) {
    const auto nominal_ms = one.nominal_unix_ms();
    // What has a launch is passed over. What an operator asked for was no time of the schedule.
    if (one.state() != v1::LAUNCH_STATE_SKIPPED || one.trigger() == v1::LAUNCH_TRIGGER_OPERATOR || nominal_ms > now_unix_ms) continue;
    if (!mendable(one.skip())) {
      if (found) break;
      continue;
    }
    held += std::max<std::uint64_t>(1, one.count());
    // Where the times cannot be counted, whole rows are taken for as long as they fit.
    if (!times.known() && held > static_cast<std::uint64_t>(room)) {
      out.whole = false;
      break;
    }
    if (!found) out.to_unix_ms = std::min(now_unix_ms, std::max<std::int64_t>(nominal_ms, one.last_nominal_unix_ms()));
    out.from_unix_ms = nominal_ms;
    found = true;
  }
  if (!found || (times.known() && !fit(out, times, room))) return std::nullopt;
  return out;
}

}  // namespace fairlead::app
