// The end of a worker, as the nodes that carry it see it: it says that it takes no more, that it leaves, and its host ends.

#include "tests/simulation/agents/worker.hpp"
#include "tests/simulation/checker/checker.hpp"

namespace fairlead::simulation {

using fairlead::agents::key_of;

/// Somebody tells its process to end, as a deployment does.
void agents::worker::make_ends() {
  if (!world_.exits.chance(500)) return;
  world_.after(world_.exits.between(500, 20'000) * millisecond, [this] {
    if (world_.strikes(concern::drains, world_.exits, 1'000)) in_hand(hands_, [](hand& here) { here.end(); });
  });
}

void agents::worker::drains(std::size_t node, std::uint64_t carrier, const std::function<void(const status&)>& done) {
  auto* const at = at_node(node, carrier);
  if (at == nullptr) return done(gone());
  in_host(nodes_[node], carrier, [&](post& host) {
    const auto answer = at->session.drain();
    at->drains = at->drains || answer.ok();
    done(answer);
    host.after_message();
  });
}

void agents::worker::leaves(std::size_t node, std::uint64_t carrier, bool abandoned, const std::function<void(const status&)>& done) {
  auto* const at = at_node(node, carrier);
  if (at == nullptr) return done(gone());
  in_host(nodes_[node], carrier, [&](post& host) {
    const auto held = at->session.held();
    const auto answer = at->session.leave(abandoned);
    world_.judges("left_holding");
    if (answer && held > 0 && !abandoned)
      world::broken("left_holding",
                    site_.instance + " leaves with " + std::to_string(held) + " attempts, and has not said that it abandons them");
    if (answer) world_.count("workers that leave");
    done(answer);
    host.after_message();
  });
}

/// What an answer has carried before may have been lost.
void agents::worker::judge_drained(const carried& at, const v1::Perform& what) const {
  world_.judges("sent_though_drained");
  if (at.sent.count(key_of(what)) != 0) return;
  world::broken("sent_though_drained", describe(what) + " is sent to " + site_.instance + ", which has said that it takes no more");
}

/// Shards that can be reached hear that its handle is down.
void agents::worker::host_ended(place& where, std::uint64_t incarnation, std::uint64_t carrier) {
  world_.count("hosts of workers that have ended");
  for (auto& way : where.links)
    way->send(link::agent_side,
              [&to = *shards_[static_cast<std::size_t>(&way - where.links.data())], instance = site_.instance, incarnation, carrier] {
                if (to.up()) to.unreachable(instance, incarnation, carrier);
              });
  world_.after(0, [&where, carrier] {
    if (where.now && where.now->carrier == carrier) where.now.reset();
  });
}

}  // namespace fairlead::simulation
