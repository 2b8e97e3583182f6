#include "app/simulate/callbacks.hpp"

#include <algorithm>

#include "app/simulate/services.hpp"

namespace fairlead::app::simulate {

namespace {

// How often in 10,000 acceptances of a run of middling weather.
constexpr unsigned failed_work = 400, bare_callbacks = 200;
constexpr unsigned early_callbacks = 400, late_callbacks = 500, silent_services = 400, lost_work = 300, doubled_callbacks = 500;

}  // namespace

void decide_work(accepted_work& out, weather& in, const v1::Perform& what, std::int64_t now_ms) {
  const auto site = mixed(4, what.idempotency_key());
  const auto strikes = [&](const char* kind, unsigned how_often, const char* words) {
    return in.strikes(mixed(site, kind), how_often, now_ms, [&] { return step_of(what) + ": " + words; });
  };
  auto roll = in.at(site);
  if (strikes("failed work", failed_work, "the service accepts the work, and fails at it")) {
    const auto for_now = roll.chance(50);
    out.fails = fault_of(for_now ? v1::FAULT_KIND_TRANSIENT : v1::FAULT_KIND_PERMANENT, "job_failed", "the service could not do it");
    // A service need not say why.
    if (roll.chance(30)) out.fails->clear_code(), out.fails->clear_message();
  }
  out.bare = strikes("bare callback", bare_callbacks, "its callback has no body, so its output is null");
}

course_of_work course_of(weather& in, const v1::Perform& what, std::int64_t within_ms, std::int64_t now_ms) {
  const auto site = mixed(mixed(4, what.idempotency_key()), std::to_string(what.attempt()));
  const auto strikes = [&](const char* kind, unsigned how_often, const char* words) {
    return in.strikes(mixed(site, kind), how_often, now_ms, [&] { return step_of(what) + ": " + words; });
  };
  auto roll = in.at(site);
  course_of_work out;
  out.in_ms = roll.spread(10, std::max<std::int64_t>(within_ms / 2, 11));
  if (strikes("early callback", early_callbacks, "its callback comes before the answer of its agent")) out.in_ms = 1;
  if (strikes("late callback", late_callbacks, "its callback comes too late")) out.in_ms = within_ms + within_ms / 4 + 1;
  out.loses_work = strikes("lost work", lost_work, "the service accepts the work, and forgets it");
  out.silent = strikes("silent", silent_services, "its service does the work, and never calls back");
  if (!strikes("doubled", doubled_callbacks, "its service calls back twice")) return out;
  out.again_in_ms = roll.spread(1, 60'000);
  out.differs = roll.chance(50);
  return out;
}

}  // namespace fairlead::app::simulate
