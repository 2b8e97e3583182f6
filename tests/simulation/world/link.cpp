#include "tests/simulation/world/link.hpp"

#include <algorithm>

namespace fairlead::simulation {

namespace {

constexpr std::int64_t least_silence_us = 1'000 * millisecond;  // before a side gives a connection up
constexpr std::int64_t most_silence_us = 2'500 * millisecond;
constexpr std::int64_t longest_rest_us = 1'500 * millisecond;  // between two attempts to connect

}  // namespace

link::link(world& in, std::string name, bool in_one_process, end agent, end shard)
    : world_(in), name_(std::move(name)), inside_(in_one_process), ends_{std::move(agent), std::move(shard)} {}

// ---- a connection ----

void link::look(std::int64_t within_us) {
  if (stands_ || std::exchange(looking_, true)) return;
  world_.after(world_.links.between(1, std::max<std::int64_t>(within_us, 1)), [this] {
    looking_ = false;
    try_to_join();
  });
}

void link::try_to_join() {
  if (stands_) return;
  // Whoever starts looks again.
  if (!at(agent_side).alive() || !at(shard_side).alive()) return;
  if (!knows_[agent_side] || !knows_[shard_side] || blocked(agent_side) || blocked(shard_side)) return look(longest_rest_us);
  ++connection_;
  stands_ = true;
  knows_[agent_side] = knows_[shard_side] = false;
  if (!inside_) world_.tell("link", name_, connection_, [] { return std::string{"connected"}; });
  at(shard_side).joined();
  at(agent_side).joined();
}

void link::ended(side which) {
  if (std::exchange(knows_[which], true) || !stands_) return;
  // What it has said before is still on its way, and behind it the news that nothing follows.
  put(other(which), {connection_, nullptr});
}

void link::break_off(side first) {
  if (!stands_) return;
  stands_ = false;
  if (!inside_) world_.tell("link", name_, connection_, [] { return std::string{"lost"}; });
  look(longest_rest_us);
  notice(first);
  const auto second = other(first);
  if (knows_[second]) return;
  // Where it can be told it is told; else it finds out for itself.
  const auto wait_us = inside_ ? 1 : blocked(second) ? world_.links.between(1, most_silence_us - least_silence_us) : 2 * millisecond;
  world_.after(wait_us, [this, second, connection = connection_] {
    if (connection == connection_ && !stands_) notice(second);
  });
}

void link::notice(side which) {
  if (knows_[which]) return;
  knows_[which] = true;
  if (at(which).alive()) at(which).lost();
  look(longest_rest_us);
}

// ---- what goes over it ----

void link::send(side from, std::function<void()> deliver) {
  if (stands_ && !knows_[from]) put(other(from), {connection_, std::move(deliver)});
}

void link::put(side towards, message what) {
  auto& way = towards_[towards];
  way.last_us = std::max(way.last_us, world_.now_us() + (inside_ ? world_.links.between(2, 60) : world_.links.between(100, 3'000)));
  world_.after(way.last_us - world_.now_us(), [this, towards, what = std::move(what)] { arrive(towards, what); });
}

void link::arrive(side towards, message what) {
  auto& way = towards_[towards];
  if (blocked(towards) || !way.held.empty())
    way.held.push_back(std::move(what));
  else
    take(towards, what);
}

void link::take(side towards, const message& what) {
  if (!stands_ || what.connection != connection_) return;
  if (!what.deliver)
    break_off(towards);
  else if (!knows_[towards])
    what.deliver();
}

void link::flush(side towards) {
  auto& way = towards_[towards];
  while (!way.held.empty() && !blocked(towards)) {
    const auto next = std::move(way.held.front());
    way.held.pop_front();
    take(towards, next);
  }
}

// ---- faults ----

void link::hold(side towards, std::int64_t for_us, bool gives_up) {
  if (inside_) return;
  auto& way = towards_[towards];
  way.held_until = std::max(way.held_until, world_.now_us() + for_us);
  world_.after(way.held_until - world_.now_us(), [this, towards] { flush(towards); });
  if (!gives_up) return;
  const auto mine = ++way.cuts;
  const auto patience_us = world_.links.between(least_silence_us, most_silence_us);
  world_.after(patience_us, [this, towards, mine, connection = connection_] {
    if (stands_ && connection == connection_ && towards_[towards].cuts == mine && blocked(towards)) break_off(towards);
  });
}

void link::heal() {
  for (const auto side : {agent_side, shard_side}) {
    towards_[side].held_until = -1;
    flush(side);
  }
}

}  // namespace fairlead::simulation
