#include "app/cli/job/moments.hpp"
#include "app/json/times.hpp"

#include <algorithm>

#include "actors/system/time_zones.hpp"
#include "app/cli/job/job.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

std::int64_t resolved(const asked_moment& what, const cctz::time_zone* zone, bool is_end) {
  if (!what.local) return what.unix_ms;
  return is_end ? core::last_unix_ms(*what.local, *zone) : core::first_unix_ms(*what.local, *zone);
}

}  // namespace

result<asked_moment> read_moment(const std::string& option, const std::string& text) {
  asked_moment out;
  if (parse_utc(text, out.unix_ms)) return out;
  if ((out.local = core::parse_local_time(text))) return out;
  return error{v1::ERROR_CODE_INVALID_ARGUMENT, "'" + text + "' is not a valid time for " + option,
               "Write it like 2026-03-28 or 2026-03-28T23:30 by the job's clock, or like 2026-03-28T22:30:00Z"};
}

void add_range_options(CLI::App& command, range_options& options, const char* ends) {
  auto* from = command
                   .add_option("--from", options.from,
                               "Begin of the time range (included), by the clock of the job's time zone, such as 2026-03-28 or "
                               "2026-03-28T23:30, or in UTC, such as 2026-03-28T22:30:00Z")
                   ->type_name("TIME");
  auto* to = command.add_option("--to", options.to, ends)->type_name("TIME");
  command.add_option("--last", options.last, "The time range that ends now and is so long, such as 3d")
      ->type_name("DURATION")
      ->excludes(from)
      ->excludes(to);
}

result<asked_range> asked_range::read(const range_options& options, std::int64_t now_unix_ms) {
  asked_range out;
  out.now_unix_ms_ = now_unix_ms;
  if (options.last) {
    const auto long_ms = read_duration("--last", *options.last, 1);
    if (!long_ms) return long_ms.failure();
    if (*long_ms > now_unix_ms) return invalid("--last begins before 1970", "Give a shorter time");
    out.from_ = asked_moment{now_unix_ms - *long_ms, {}};
    out.to_ = asked_moment{now_unix_ms, {}};
    return out;
  }
  if (options.from) {
    auto from = read_moment("--from", *options.from);
    if (!from) return from.failure();
    if (!from->local && from->unix_ms < 0) return invalid("--from is before 1970", "Give a time in 1970 or later");
    out.from_ = std::move(*from);
  }
  if (options.to) {
    auto to = read_moment("--to", *options.to);
    if (!to) return to.failure();
    out.to_ = std::move(*to);
  }
  // What can be compared already: two moments in UTC, or two by the same clock.
  const auto both = out.from_ && out.to_;
  const auto backwards = [&] {
    if (out.from_->local && out.to_->local) return out.to_->local->last() < out.from_->local->at;
    return !out.needs_zone() && out.to_->unix_ms < out.from_->unix_ms;
  };
  if (both && backwards()) return invalid("--to is before --from", "Give the earlier time as --from");
  return out;
}

result<time_range> asked_range::in(const cctz::time_zone* zone) const {
  time_range out;
  if (from_) out.from_unix_ms = resolved(*from_, zone, false);
  if (to_) out.to_unix_ms = resolved(*to_, zone, true);
  if (ends_with_day()) out.to_unix_ms = std::min(out.to_unix_ms, now_unix_ms_);
  if (from_ && out.from_unix_ms < 0) return invalid("--from is before 1970", "Give a time in 1970 or later");
  if (from_ && to_ && out.to_unix_ms < out.from_unix_ms) return invalid("--to is before --from", "Give the earlier time as --from");
  return out;
}

result<time_range> range_of(const asked_range& asked, client& to, const std::string& job) {
  if (!asked.needs_zone()) return asked.in(nullptr);
  v1::JobShowRequest request;
  request.set_name(job);
  request.set_coming(1);
  const auto shown = to.job(request);
  if (!shown) return shown.failure();
  const auto& name = shown->job().spec().zone();
  const auto* zone = time_zones::of_system().find(name);
  if (zone == nullptr) return invalid("This machine does not know the time zone '" + name + "' of job " + job, "Give the times in UTC");
  return asked.in(zone);
}

}  // namespace fairlead::app
