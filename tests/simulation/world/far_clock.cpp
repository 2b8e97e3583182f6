#include "tests/simulation/world/far_clock.hpp"

namespace fairlead::simulation {

/// Jobs that fire every second make too much of hours.
std::int64_t far_clock::how_far_ms() {
  auto& luck = world_.far_clocks;
  const auto share = luck.below(100);
  if (era_.slow)
    return share < 50 ? luck.between(1, 20) * minute_ms + luck.between(0, minute_ms) : luck.between(20 * minute_ms, 300 * minute_ms);
  return share < 95 ? luck.between(minute_ms, 10 * minute_ms) : luck.between(10 * minute_ms, 30 * minute_ms);
}

far_clock::spell far_clock::make_spell(std::int64_t for_us, std::uint64_t rewinds_per_mille) {
  auto& luck = world_.far_clocks;
  spell out;
  out.for_us = for_us;
  out.restarts = luck.chance(350);
  out.restart_us = luck.between(0, for_us);
  if (luck.chance(rewinds_per_mille)) out.rewinds = luck.chance(300) ? 2 : 1;
  out.first_rewind_us = luck.between(0, for_us);
  out.second_rewind_us = luck.between(0, for_us);
  return out;
}

void far_clock::begin(std::int64_t until_us) {
  if (!era_.any) return;
  auto& luck = world_.far_clocks;
  const auto wrong = luck.chance(300);
  const auto falls = luck.chance(450);
  const auto by_ms = how_far_ms();
  const auto when = luck.between(until_us / 20, until_us * 3 / 5);
  // Nobody sets a clock to the millisecond.
  const auto error_ms = luck.between(-300, 1'500);
  // While the shard is away as well as while it looks on.
  const auto away_first = luck.chance(150);
  const auto away_last = luck.chance(200);
  const auto fallen = make_spell(luck.chance(900) ? luck.between(1, 14) * second : luck.between(14, 45) * second, 350);
  const auto ahead = make_spell(luck.between(300, 6'000) * millisecond, 0);
  const auto behind = make_spell(luck.between(1, 16) * second, 550);
  const auto rest_ms = luck.between(0, 30'000);
  if (!wrong || !world_.settings.has(concern::far_clocks)) return;
  const auto right_us = when + (falls ? fallen.for_us : ahead.for_us + behind.for_us);
  world_.after(when, [=, this] {
    if (!world_.strikes(concern::far_clocks, world_.far_clocks, 1'000)) return;
    right_from_us_ = right_us;
    world_.count(falls ? "clocks fallen far" : "clocks leapt far");
    set(falls ? -by_ms : by_ms, away_first, "wrong");
    live_through(falls ? fallen : ahead);
    // What has been put wrong is put right, whether or not there is trouble still.
    if (falls) {
      world_.after(fallen.for_us, [=, this] { set(by_ms + error_ms, away_last, "right"); });
      return;
    }
    world_.after(ahead.for_us, [=, this] {
      set(-by_ms - error_ms, false, "right");
      live_through(behind);
    });
    world_.after(ahead.for_us + behind.for_us, [=, this] { set(by_ms + error_ms + rest_ms, away_last, "on"); });
  });
}

void far_clock::live_through(const spell& what) {
  if (what.restarts) world_.after(what.restart_us, [this] { restart(); });
  if (what.rewinds > 0) world_.after(what.first_rewind_us, [this] { people_.rewind(world_.far_clocks); });
  if (what.rewinds > 1) world_.after(what.second_rewind_us, [this] { people_.rewind(world_.far_clocks); });
}

void far_clock::set(std::int64_t by_ms, bool away, const char* how) {
  if (away) restart();
  world_.tell("fate", "", static_cast<std::uint64_t>(by_ms),
              [&] { return std::string{"sets the clock of a shard "} + how + " by " + std::to_string(by_ms) + " ms"; });
  clock_.jump(by_ms);
  world_.note_clock_setting();
}

void far_clock::restart() {
  if (!home_.up() || !world_.strikes(concern::node_crashes, world_.far_clocks, 1'000)) return;
  world_.count("restarts under a clock that is far wrong");
  home_.die();
}

}  // namespace fairlead::simulation
