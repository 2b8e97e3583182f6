#include "tests/simulation/shard/damages.hpp"

#include <algorithm>
#include <utility>

#include "tests/simulation/shard/home.hpp"

namespace fairlead::simulation {

namespace {

constexpr auto look_at_damage_every_us = 100 * millisecond;
constexpr auto answer_within_us = 3 * second;
constexpr auto met_again_within_us = 20 * second;

error nobody(const std::string& why) { return {v1::ERROR_CODE_UNAVAILABLE, why, "Start it."}; }

}  // namespace

damages::one& damages::of(node& which) {
  all_.resize(nodes_.size());
  auto& it = all_[which.place()];
  if (it.watch && it.life == which.life()) return it;
  it.life = which.life();
  it.declines = false;
  it.watch = std::make_unique<damage_watch>(watch_of(which, it));
  return it;
}

damage_watch::world damages::watch_of(node& which, one& it) {
  auto& place = which;
  const auto turn_ms = node_turn::election_timeouts * home_.settings_of(which.place()).election_ms;
  return {[&place] { return place.wall_ms(); },
          [this, &place, turn_ms] {
            return node_turn{place.place(), nodes_.size(), turn_ms};
          },
          [] { return true; },
          [this, &place](auto answer) { ask(place, std::move(answer)); },
          [&place, &it](bool on) {
            it.declines = on;
            place.decline(on, why_not_lead::damaged);
          },
          [this, &place](const std::string& sentence) { world_.tell("disk", place.name(), 0, [&] { return sentence; }); },
          [this, &place](const error&) {
            world_.count("nodes that end because of damage");
            home_.damage(place);
          },
          [this, &place, life = it.life] { look_soon(place, life); }};
}

/// As a thread of its own: the process that ends by what it finds may be at anything by then.
void damages::look_soon(node& which, std::uint64_t life) {
  world_.after(look_at_damage_every_us, [this, &which, life] {
    if (!which.up() || which.life() != life) return;
    look_soon(which, life);
    which.when_awake([this, &which, life] {
      if (which.up() && which.life() == life) of(which).watch->look();
    });
  });
}

/// As a client of whoever it takes for the leader. Nothing is changed.
void damages::ask(node& which, std::function<void(const status& may)> answer) {
  const auto once = std::make_shared<std::function<void(const status&)>>(std::move(answer));
  const auto say = [this, once, &which, life = which.life()](const status& may) {
    const auto to = std::exchange(*once, nullptr);
    if (!to || !which.up() || which.life() != life) return;
    world_.count(may.ok() ? "nodes with damage that may end" : "nodes with damage that have to go on");
    to(may);
  };
  auto* const leader = home_.asked();
  if (leader == nullptr) return say(nobody("No node answers."));
  world_.after(answer_within_us, [say] { say(nobody("No node answers in time.")); });
  leader->when_awake([this, say, &which, leader] {
    const auto can = leader->change_nodes(home_.request_to_rebuild(which, true));
    say(!can.ok() ? status(can.failure()) : *can ? status(nothing{}) : status(nobody("It is not known yet.")));
  });
}

void damages::meet(node& which, node* another) {
  meet(which);
  if (another != nullptr) meet(*another);
}

void damages::meet(node& which) {
  if (!which.up() || !home_.is_wanted(which) || home_.wanted_places().size() < (home_.changes_nodes() ? 3 : 2)) return;
  world_.count("damage that a reader meets");
  world_.tell("fate", which.name(), 0, [] { return std::string{"damages a value of its store"}; });
  if (world_.settings.planted.end_at_damage) return home_.damage(which);
  of(which).damaged = home_.id_of(which.place());
  tell(which);
}

void damages::tell(node& which) { of(which).watch->damaged({v1::ERROR_CODE_CORRUPT, "A value is damaged.", ""}); }

void damages::differs(node& which, const error& why) {
  if (which.up()) of(which).watch->differs(why);
}

void damages::node_started(node& which) {
  if (all_.empty() || all_[which.place()].damaged != home_.id_of(which.place())) return;
  world_.after(world_.replicas.between(0, met_again_within_us), [this, &which, life = which.life()] {
    if (which.up() && which.life() == life && of(which).damaged == home_.id_of(which.place())) tell(which);
  });
}

bool damages::has(const node& which) const {
  if (all_.empty()) return false;
  const auto& it = all_[which.place()];
  return it.damaged == home_.id_of(which.place()) || (it.declines && it.life == which.life() && which.up());
}

bool damages::settled() const {
  // The only node goes on with its damage: nobody has what it would lose.
  if (home_.wanted_places().size() < 2) return true;
  return std::all_of(nodes_.begin(), nodes_.end(), [this](const auto& which) { return !home_.is_wanted(*which) || !has(*which); });
}

}  // namespace fairlead::simulation
