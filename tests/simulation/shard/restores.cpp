#include "tests/simulation/shard/restores.hpp"

#include <algorithm>

namespace fairlead::simulation {

bool draw_restores(world& in) {
  auto& settings = in.settings;
  const auto any = in.restores.chance(25) || settings.always_restores;
  if (!any || !settings.has(concern::restores)) return false;
  for (const auto off :
       {concern::jobs, concern::long_outages, concern::clock_falls, concern::far_clocks, concern::wrong_clocks, concern::archives,
        concern::targets, concern::polls, concern::bugs, concern::full_stores, concern::old_stores, concern::crowds, concern::repeats})
    settings.concerns &= ~(1ULL << static_cast<unsigned>(off));
  in.count("runs with a restore");
  return true;
}

/// Again and again, until there is a majority to be lost.
void restores::lose_majority(int tries) {
  constexpr auto again_us = 500 * millisecond;
  if (tries > 0 && world_.trouble() && !home_.lose_majority()) world_.after(again_us, [this, tries] { lose_majority(tries - 1); });
}

void restores::begin(std::int64_t until_us) {
  if (home_.replicated()) {
    constexpr int most_tries = 20;
    for (auto times = world_.restores.chance(250) ? 2 : 1; times > 0; --times)
      world_.after(world_.restores.between(until_us / 10, until_us * 9 / 10), [this] {
        if (world_.strikes(concern::restores, world_.restores, 1'000)) lose_majority(most_tries);
      });
    return;
  }
  auto& luck = world_.restores;
  const auto made_us = luck.between(until_us / 20, until_us * 6 / 10);
  // Some are lost at once, some after all leases of the backup are over.
  const auto soon = luck.chance(400);
  const auto lost_for_us = soon ? luck.between(100, 1'500) * millisecond : luck.between(1'500, 15'000) * millisecond;
  const auto again = luck.chance(250);
  const auto again_us = luck.between(500, 6'000) * millisecond;
  const auto last_us = until_us - 100 * millisecond;
  world_.after(made_us, [this] { backup_ = home_.back_up(); });
  const auto lose = [this] {
    if (backup_ && world_.strikes(concern::restores, world_.restores, 1'000)) home_.lose_store(*backup_);
  };
  const auto first_us = std::min(made_us + lost_for_us, last_us);
  world_.after(first_us, lose);
  if (again && first_us + again_us < last_us) world_.after(first_us + again_us, lose);
}

}  // namespace fairlead::simulation
