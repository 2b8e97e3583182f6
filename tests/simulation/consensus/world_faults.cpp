// Faults of replicas, disks and the network, until none happen any more.

#include "tests/simulation/consensus/world.hpp"

namespace fairlead::simulation {

void consensus_world::keep_failing() {
  if (now_ms_ >= faults_end_ms_) return mend();
  fail_once();
  after(chance_.between(5, chance_.chance(300) ? 100 : longest_calm_ms_), [this] { keep_failing(); });
}

void consensus_world::fail_once() {
  std::vector<consensus_host*> all;
  for (auto& [id, host] : hosts_) all.push_back(host.get());
  auto* one = chance_.pick(all);
  const auto leading = leaders();
  switch (chance_.below(9)) {
    case 0: return kill(*one);
    case 1:
      if (!leading.empty()) kill(*chance_.pick(leading));
      return;
    case 2:  // power loss
      if (chance_.chance(300))
        for (auto* each : all) kill(*each);
      return;
    case 3: {
      auto* other = chance_.pick(all);
      cut_.insert({one->id(), other->id()});
      if (chance_.chance(500)) cut_.insert({other->id(), one->id()});
      count("cuts");
      return;
    }
    case 4:  // a leader that hears others and is not heard, or the other way round, or neither
      if (leading.empty()) return;
      one = chance_.pick(leading);
      for (auto* other : all) {
        if (chance_.chance(700)) cut_.insert({one->id(), other->id()});
        if (chance_.chance(500)) cut_.insert({other->id(), one->id()});
      }
      count("cuts");
      return;
    case 5:
    case 6: cut_.clear(); return;
    case 7:
      if (chance_.chance(300)) one = leading.empty() ? one : chance_.pick(leading);
      slow_disk_[one->id()] =
          chance_.chance(300) ? std::pair<std::int64_t, std::int64_t>{500, 3'000} : std::pair<std::int64_t, std::int64_t>{5, 100};
      if (chance_.chance(500)) slow_disk_.clear();
      count("slow disks");
      return;
    default:
      if (chance_.chance(500)) one = leading.empty() ? one : chance_.pick(leading);
      one->stopped_until_ms = now_ms_ + chance_.between(10, 3'000);
      count("pauses");
      return;
  }
}

// Leaders that fall when they have told few or none of their first entries: what is left over of several terms meets (Ongaro 2014, figure 3.7).
void consensus_world::strike_new_leader(consensus_host& who) {
  if (now_ms_ >= faults_end_ms_ || !chance_.chance(new_leaders_fall_per_mille_)) return;
  switch (chance_.below(3)) {
    case 0: {
      const auto life = who.life();
      return after(chance_.between(0, 40), [this, &who, life] {
        if (who.life() == life) kill(who);
      });
    }
    case 1: falls_at_first_commit_.insert(who.id()); return;
    default: silence(who, 700);
  }
}

void consensus_world::strike_first_commit(consensus_host& who) {
  if (falls_at_first_commit_.erase(who.id()) == 0) return;
  silence(who, 1'000);
  kill(who);
}

// It has voted, and its disk does not know it yet.
void consensus_world::strike_voter(consensus_host& who) {
  if (now_ms_ < faults_end_ms_ && chance_.chance(new_leaders_fall_per_mille_ / 4)) kill(who);
}

// What it sends is lost from now on, for some time.
void consensus_world::silence(consensus_host& who, std::uint64_t per_mille) {
  for (auto& [id, host] : hosts_)
    if (chance_.chance(per_mille)) cut_.insert({who.id(), id});
  count("cuts");
  after(chance_.between(100, 1'000), [this] { cut_.clear(); });
}

void consensus_world::mend() {
  say("no more faults");
  cut_.clear();
  slow_disk_.clear();
  loss_per_mille_ = 0;
  for (auto& [id, host] : hosts_) host->stopped_until_ms = 0;
}

}  // namespace fairlead::simulation
