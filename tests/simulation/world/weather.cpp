#include "tests/simulation/world/weather.hpp"

namespace fairlead::simulation {

void weather::begin(std::int64_t until_us) {
  disturb_links(until_us);
  set_clocks(until_us);
  world_.after(until_us, [this] { agents_.heal(); });
}

// ---- links ----

void weather::disturb_links(std::int64_t until_us) {
  auto& luck = world_.links;
  const auto outbreaks = luck.chance(600) ? 1 + luck.below(6) : 0;
  for (std::uint64_t i = 0; i < outbreaks; ++i) {
    outbreak one;
    one.cuts = luck.chance(550);
    one.whole_node = luck.chance(350);
    const auto ways = luck.below(4);
    one.to_agent = ways != 0;
    one.to_shard = ways != 1;
    // A short cut is over before anybody gives up.
    one.for_us = luck.chance(250) ? luck.between(1, 900) * millisecond : luck.between(1, one.cuts ? 14 : 8) * second;
    one.place = luck.below(agents_.places());
    one.shard = static_cast<std::uint32_t>(luck.below(of_shards_.size()));
    world_.after(luck.between(0, until_us), [this, one] { strike(one); });
  }
}

void weather::strike(const outbreak& what) {
  if (!world_.strikes(what.cuts ? concern::cut_links : concern::frozen_links, world_.links, 1'000)) return;
  world_.count(what.cuts ? "links cut" : "links frozen");
  world_.tell("fate", "", static_cast<std::uint64_t>(what.for_us), [&] {
    return std::string{what.cuts ? "cuts " : "freezes "} +
           (what.whole_node ? "all links" : "the link of " + agents_.sites()[what.place].instance) + " of shard " +
           std::to_string(what.shard) +
           (what.to_agent && what.to_shard ? " both ways"
            : what.to_agent                ? " towards agents"
                                           : " towards it") +
           " for " + std::to_string(what.for_us / millisecond) + " ms";
  });
  for (std::size_t i = 0; i < agents_.places(); ++i) {
    if (!what.whole_node && i != what.place) continue;
    auto& way = agents_.link_of(i, what.shard);
    for (const auto side : {link::agent_side, link::shard_side}) {
      if (!(side == link::agent_side ? what.to_agent : what.to_shard)) continue;
      if (what.cuts)
        way.cut(side, what.for_us);
      else
        way.freeze(side, what.for_us);
    }
  }
}

// ---- clocks ----

void weather::jump(host_clock& which, bool of_shard, concern why, std::int64_t by_ms) {
  if (!world_.strikes(why, world_.clocks, 1'000)) return;
  world_.tell("fate", "", static_cast<std::uint64_t>(by_ms), [&] {
    return std::string{of_shard ? "sets the clock of a shard by " : "sets the clock of an agent by "} + std::to_string(by_ms) + " ms";
  });
  which.jump(by_ms);
  if (of_shard) world_.note_clock_setting();
}

void weather::drift(host_clock& which, bool of_shard, std::int64_t rest_us, std::int64_t until_us) {
  if (world_.now_us() + rest_us > until_us) return;
  const auto by_ms = world_.clocks.between(-20, 30);
  world_.after(rest_us, [this, &which, of_shard, rest_us, until_us, by_ms] {
    if (world_.troubled(concern::skewed_clocks) && by_ms != 0) {
      which.jump(by_ms);
      if (of_shard) world_.note_clock_setting();
    }
    drift(which, of_shard, rest_us, until_us);
  });
}

void weather::set_clocks(std::int64_t until_us) {
  auto& luck = world_.clocks;
  const auto jumps_of = [&](host_clock& which, bool of_shard) {
    const auto jumps = 1 + luck.below(3);
    for (std::uint64_t i = 0; i < jumps; ++i) {
      const auto forward = luck.chance(600);
      const auto by_ms = forward ? luck.between(1, 40'000) : -luck.between(1, of_shard ? 2'000 : 40'000);
      world_.after(luck.between(0, until_us), [this, &which, of_shard, by_ms] { jump(which, of_shard, concern::clock_jumps, by_ms); });
    }
  };
  for (auto* one : of_shards_)
    if (luck.chance(300)) jumps_of(*one, true);
  for (std::size_t i = 0; i < agents_.places(); ++i) {
    auto* own = agents_.clock_of(i);
    const auto jumps = luck.chance(400);
    const auto drifts = luck.chance(300);
    const auto rest_us = luck.between(200, 2'000) * millisecond;
    if (own != nullptr && jumps) jumps_of(*own, false);
    if (own != nullptr && drifts) drift(*own, false, rest_us, until_us);
  }
  if (luck.chance(120)) drift(*of_shards_.front(), true, luck.between(200, 2'000) * millisecond, until_us);
}

}  // namespace fairlead::simulation
