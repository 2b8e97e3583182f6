#include "tests/simulation/world/wrong_clock.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::int64_t hour_ms = 60 * minute_ms;
constexpr std::int64_t day_ms = 24 * hour_ms;

}  // namespace

std::int64_t wrong_clock::how_far_ms(bool from_start) {
  auto& luck = world_.wrong_clocks;
  const auto share = luck.below(100);
  const auto hours = luck.between(minute_ms, 30 * hour_ms);
  const auto days = luck.between(2 * day_ms, 400 * day_ms);
  const auto since_1970 = clock_.now_ms() - luck.between(10 * minute_ms, 3 * day_ms);
  if (from_start && share < 40) return -since_1970;
  const auto ahead = luck.chance(400);
  return (ahead ? 1 : -1) * (share < 70 ? hours : days);
}

void wrong_clock::begin(std::int64_t until_us) {
  auto& luck = world_.wrong_clocks;
  const auto wrong = luck.chance(120);
  const auto from_start = luck.chance(400);
  const auto by_ms = how_far_ms(from_start);
  const auto when = from_start ? 0 : luck.between(until_us / 20, until_us * 3 / 5);
  const auto one_look = luck.chance(400);
  const auto for_us = one_look ? luck.between(1, 400) * millisecond : luck.between(1, 14) * second;
  const auto error_ms = luck.between(-300, 1'500);
  const auto restarts = luck.chance(350);
  const auto restart_us = luck.between(0, for_us);
  if (!wrong || !world_.settings.has(concern::wrong_clocks)) return;
  const auto strike = [=, this] {
    if (!world_.strikes(concern::wrong_clocks, world_.wrong_clocks, 1'000)) return;
    world_.count(by_ms > 0 ? "clocks far ahead" : by_ms < -10'000 * day_ms ? "clocks that show 1970" : "clocks far behind");
    right_from_us_ = when + for_us;
    set(by_ms, "wrong");
    // Nobody sets a clock to the millisecond. What has been put wrong is put right, whether or not there is trouble still.
    world_.after(for_us, [=, this] { set(-by_ms + error_ms, "right"); });
    if (!restarts) return;
    world_.after(restart_us, [this] {
      if (home_.up() && world_.strikes(concern::node_crashes, world_.wrong_clocks, 1'000)) home_.die();
    });
  };
  if (from_start)
    strike();
  else
    world_.after(when, strike);
}

void wrong_clock::set(std::int64_t by_ms, const char* how) {
  world_.tell("fate", "", static_cast<std::uint64_t>(by_ms),
              [&] { return std::string{"sets the clock of a shard "} + how + " by " + std::to_string(by_ms) + " ms"; });
  clock_.jump(by_ms);
  world_.note_clock_setting();
}

}  // namespace fairlead::simulation
