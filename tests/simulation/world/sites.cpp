#include "tests/simulation/world/sites.hpp"

namespace fairlead::simulation {

namespace {

v1::BreakerPolicy make_breaker(random_stream& luck) {
  v1::BreakerPolicy out;
  out.set_failure_percent(static_cast<std::uint32_t>(luck.between(30, 80)));
  if (luck.chance(500)) out.set_slow_ms(luck.between(250, 900));
  out.set_slow_percent(static_cast<std::uint32_t>(luck.between(40, 90)));
  out.set_window_ms(luck.between(1'000, 10'000));
  out.set_at_least(static_cast<std::uint32_t>(luck.between(1, 4)));
  out.set_open_ms(luck.between(200, 1'500));
  out.set_canaries(static_cast<std::uint32_t>(luck.between(1, 3)));
  return out;
}

v1::LimitPolicy make_limit(random_stream& luck) {
  v1::LimitPolicy out;
  const auto call = luck.below(3);
  if (call > 0) out.set_call(call == 1 ? "do" : "back");
  if (luck.chance(300)) out.set_key(".n");
  const auto concurrent = luck.chance(650);
  if (concurrent) out.set_concurrency(static_cast<std::uint32_t>(luck.between(1, 3)));
  if (!concurrent || luck.chance(200)) {
    out.set_rate(static_cast<std::uint32_t>(luck.between(1, 3)));
    out.set_rate_per_ms(luck.between(300, 2'000));
  }
  return out;
}

/// Everything is drawn whatever is switched on, so that what is left stays as it was.
std::shared_ptr<agent_profile> make_profile(world& in) {
  auto& luck = in.profiles;
  auto out = std::make_shared<agent_profile>();
  const auto breaker = make_breaker(luck);
  const auto breaks = luck.chance(450);
  const auto outages = luck.below(4);
  for (std::uint64_t i = 0; i < outages; ++i) {
    outage one;
    one.from_us = luck.between(0, 15 * second);
    one.to_us = one.from_us + luck.between(300, 6'000) * millisecond;
    one.slow = luck.chance(350);
    if (breaks && in.settings.has(concern::breakers)) out->outages.push_back(one);
  }
  if (breaks && in.settings.has(concern::breakers))
    out->breaker = breaker;
  else
    out->breaker.set_off(luck.chance(500));
  // However often it opens, the patience of the checker lasts longer.
  out->breaker.set_open_ms(breaker.open_ms());
  const auto limited = luck.chance(400);
  const auto limits = luck.between(1, 2);
  for (std::int64_t i = 0; i < limits; ++i) {
    auto one = make_limit(luck);
    if (limited && in.settings.has(concern::limits)) out->limits.push_back(std::move(one));
  }
  const auto repeats = luck.chance(500);
  fairlead::agents::retry_policy retry;
  retry.tries = static_cast<std::uint32_t>(luck.between(2, 5));
  retry.backoff.set_first_ms(luck.between(10, 300));
  retry.backoff.set_factor(static_cast<double>(luck.between(2, 6)) / 2);
  retry.backoff.set_max_ms(luck.between(300, 2'000));
  if (luck.chance(400)) retry.try_timeout_ms = luck.between(150, 2'000);
  if (repeats && in.settings.has(concern::tries)) out->retry = retry;
  const auto forgets = luck.chance(350);
  const auto valid_for_ms = luck.between(1'500, 12'000);
  if (forgets && in.settings.has(concern::expiring_keys)) out->key_valid_for_ms = valid_for_ms;
  const auto late = luck.chance(120);
  const auto comes_at_us = luck.between(3, 20) * second;
  if (late && in.settings.has(concern::absence)) out->comes_at_us = comes_at_us;
  return out;
}

}  // namespace

fairlead::agents::agent_settings agent_site::settings() const {
  fairlead::agents::agent_settings out;
  if (!zone.empty()) {
    auto& label = out.labels.emplace_back();
    label.set_key("zone");
    label.set_value(zone);
  }
  out.breaker = profile->breaker;
  out.limits = profile->limits;
  // A worker makes its tries itself.
  if (!is_worker) out.retry = profile->retry;
  return out;
}

std::vector<agent_site> make_sites(world& in, bool some_are_local, bool some_are_workers) {
  std::vector<agent_site> out;
  const auto has_workers = in.doors.chance(333) && some_are_workers && in.settings.has(concern::workers);
  auto& luck = in.shapes;
  const auto agents = luck.between(1, 3);
  for (std::int64_t a = 0; a < agents; ++a) {
    const auto lookups = luck.chance(500);
    const auto instances = luck.between(1, 2);
    const auto profile = make_profile(in);
    const auto beats_itself = in.profiles.chance(600);
    for (std::int64_t i = 0; i < instances; ++i) {
      agent_site site;
      site.agent = "a" + std::to_string(a);
      site.instance = site.agent + "-" + std::to_string(i);
      site.local = luck.chance(400) && some_are_local;
      site.lookups = lookups;
      site.capacity = static_cast<std::uint32_t>(luck.chance(300) ? luck.between(1, 2) : luck.between(3, 20));
      site.beats_itself = beats_itself;
      site.profile = profile;
      const auto labelled = in.profiles.chance(600);
      const auto zone = in.profiles.below(2);
      if (labelled && in.settings.has(concern::labels)) site.zone = zone == 0 ? "north" : "south";
      site.is_worker = in.doors.chance(700) && has_workers && !site.local;
      out.push_back(std::move(site));
    }
  }
  return out;
}

}  // namespace fairlead::simulation
