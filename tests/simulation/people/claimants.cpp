#include "tests/simulation/people/claimants.hpp"

#include <algorithm>

namespace fairlead::simulation {

claimants::claimants(world& in, network& net, home& shard, checker& judge, std::string name)
    : world_(in), network_(net), home_(shard), checker_(judge), name_(std::move(name)) {}

void claimants::begin() {
  auto& luck = world_.polls;
  all_.resize(luck.chance(300) ? 2 : 1);
  for (std::size_t i = 0; i < all_.size(); ++i) world_.after(luck.between(0, second), [this, i] { claim(i); });
}

void claimants::claim(std::size_t which) {
  auto& luck = world_.polls;
  world_.after(luck.between(200, 1'500) * millisecond, [this, which] { claim(which); });
  auto& who = all_[which];
  v1::RepliesRequest what;
  what.set_client(name_);
  what.set_page_size(luck.chance(300) ? static_cast<std::uint32_t>(luck.between(1, 4)) : 0);
  const auto waits_ms = luck.between(50, 6'000);
  const auto long_ms = luck.between(30'000, 60'000);
  if (luck.chance(400)) what.set_wait_ms(luck.chance(30) ? long_ms : waits_ms);
  // It forgets now and then how far it had come.
  const auto forgets = luck.chance(60);
  if (forgets && world_.trouble()) who.has = 0;
  what.set_acknowledged(who.has);
  const auto wrong = luck.chance(5);
  if (wrong) what.set_acknowledged(1'000'000'000'000'000);
  const auto to = "claimant" + std::to_string(which);
  network_.send(to + ">" + home_.name(), true, [this, which, what, wrong, to] {
    home_.claim(what, [this, which, wrong, to](const v1::RepliesReply& reply) {
      if (wrong != (reply.error().code() == v1::ERROR_CODE_INVALID_ARGUMENT))
        world::broken("refused", wrong ? "a position is taken that no event has" : "a claim is refused: " + reply.error().sentence());
      network_.send(home_.name() + ">" + to, true, [this, which, reply] { came(which, reply); });
    });
  });
}

void claimants::came(std::size_t which, const v1::RepliesReply& reply) {
  auto& who = all_[which];
  std::uint64_t last = 0;
  for (const auto& one : reply.events()) {
    if (one.position() <= last) world::broken("status_order", "a claim is answered out of the order of positions");
    last = one.position();
    checker_.status_event(one.task_id(), one.sequence(), one.kind(), one.state());
  }
  world_.count("status events claimed", static_cast<std::uint64_t>(reply.events_size()));
  who.has = std::max(who.has, last);
}

}  // namespace fairlead::simulation
