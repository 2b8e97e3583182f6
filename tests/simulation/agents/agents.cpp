#include "tests/simulation/agents/agents.hpp"

#include <algorithm>

#include "actors/agents/attempt_results.hpp"
#include "tests/simulation/agents/agent_process.hpp"
#include "tests/simulation/agents/worker.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::int64_t day_us = 86'400 * second;

}  // namespace

agents::place::place() = default;
agents::place::~place() = default;

agents::agents(world& in, services& behind, std::vector<agent_site> sites, const core::planted_faults& planted)
    : world_(in), services_(behind), sites_(std::move(sites)), planted_(planted) {
  for (const auto& site : sites_) {
    places_.push_back(std::make_unique<place>());
    auto& made = *places_.back();
    made.site = site;
    // Drawn whatever is switched on, so that what is left stays as it was.
    const auto ahead_us = world_.hosts.chance(500) ? world_.hosts.between(-3 * second, 3 * second) : world_.hosts.between(-day_us, day_us);
    const auto steady_us = world_.hosts.between(1, 1'000'000) * second + world_.hosts.between(0, 999);
    if (!site.local)
      made.own_clock = std::make_unique<host_clock>(world_, world_.settings.has(concern::skewed_clocks) ? ahead_us : 0, steady_us);
  }
}

agents::~agents() = default;

void agents::connect(std::vector<shard*> to, std::vector<checker*> judges, host_clock& of_first) {
  shards_ = std::move(to);
  judges_ = std::move(judges);
  first_clock_ = &of_first;
  for (auto& one : places_) {
    auto& where = *one;
    if (where.site.is_worker) {
      where.carried = std::make_unique<worker>(world_, services_, where.site, planted_, *where.own_clock, shards_, judges_);
      continue;
    }
    for (auto* target : shards_) {
      const auto shard = target->number();
      link::end agent;
      agent.alive = [&where] { return where.alive != nullptr; };
      agent.joined = [this, &where, shard] { in_process(where, where.incarnation, [shard](process& self) { self.host().routed(shard); }); };
      agent.lost = [this, &where, shard] { in_process(where, where.incarnation, [shard](process& self) { self.host().unrouted(shard); }); };
      link::end node;
      node.alive = [target] { return target->up(); };
      node.joined = [] {};
      node.lost = [target, &where] { target->unreachable(where.site.instance, 0, 0); };
      where.links.push_back(std::make_unique<link>(world_, where.site.instance + "-" + std::to_string(shard),
                                                   local(where.site.instance, shard), std::move(agent), std::move(node)));
    }
  }
}

agents::place* agents::at(const std::string& instance) {
  for (auto& one : places_)
    if (one->site.instance == instance) return one.get();
  return nullptr;
}

const agent_site* agents::site_of(const std::string& instance) const {
  for (const auto& one : sites_)
    if (one.instance == instance) return &one;
  return nullptr;
}

bool agents::local(const std::string& instance, std::uint32_t shard) const {
  const auto* site = site_of(instance);
  return shard == 0 && site != nullptr && site->local;
}

bool agents::dead(const std::string& instance, std::uint64_t incarnation) const {
  for (const auto& one : places_)
    if (one->site.instance == instance && one->carried)
      return one->carried->dead(incarnation);
    else if (one->site.instance == instance)
      return one->incarnation > incarnation || (one->incarnation == incarnation && !one->alive);
  return true;
}

bool agents::all_told() const {
  return std::all_of(places_.begin(), places_.end(), [](const auto& one) {
    return one->carried ? one->carried->all_told() : !one->alive || one->alive->host().all_told();
  });
}

// ---- life and death ----

void agents::start_remote() {
  for (auto& one : places_)
    if (!one->site.local) start_when_it_comes(*one);
}

void agents::node_started(std::uint32_t shard) {
  for (auto& one : places_) {
    if (one->carried)
      one->carried->node_started(shard);
    else if (one->site.local && shard == 0)
      start_when_it_comes(*one);
    else
      one->links[shard]->look(30 * millisecond);
  }
}

void agents::node_died(std::uint32_t shard) {
  for (auto& one : places_) {
    if (one->site.local && shard == 0) {
      one->alive.reset();
      ++one->homeless;
      for (auto& way : one->links) way->ended(link::agent_side);
    }
    one->carried ? one->carried->node_died(shard) : one->links[shard]->ended(link::shard_side);
  }
}

/// Its handle is down; the connections between the processes stand.
void agents::core_died(std::uint32_t shard, std::uint64_t core) {
  for (auto& one : places_) {
    if (one->carried) one->carried->core_died(shard, core);
    if (!one->alive) continue;
    one->links[shard]->send(link::shard_side, [this, &where = *one, incarnation = one->incarnation, shard, core] {
      in_process(where, incarnation, [&](process& self) { self.host().scheduler_down(shard, core); });
    });
  }
}

void agents::start_when_it_comes(place& where) {
  const auto late_us = where.site.profile->comes_at_us - world_.now_us();
  if (late_us <= 0 || !world_.troubled(concern::absence)) return start(where);
  world_.count("agents that come late");
  const auto homeless = where.homeless;
  world_.after(late_us, [this, &where, homeless] {
    if (homeless == where.homeless && !where.alive) start(where);
  });
}

void agents::start(place& where) {
  if (where.carried) return where.carried->start();
  const auto incarnation = ++where.incarnation;
  post::surroundings around;
  around.time = &clock_at(where);
  around.self = [this, &where, incarnation](const std::function<void(post&)>& what) {
    in_process(where, incarnation, [&](process& self) { what(self.host()); });
  };
  around.to_gateway = [this, &where, incarnation](v1::RegisterAgent what) {
    const auto number = what.shard();
    auto& way = *where.links[number];
    way.send(link::agent_side, [this, &where, &way, &to = *shards_[number], incarnation, what = std::move(what)] {
      if (!to.up()) return;
      to.registers(what, 0, [this, &where, &way, incarnation, revision = what.revision()](const welcome& answer) {
        way.send(link::shard_side, [this, &where, incarnation, revision, answer] {
          in_process(where, incarnation, [&](process& self) { self.host().welcomed(revision, answer); });
        });
      });
    });
  };
  around.to_scheduler = [this, &where](std::uint32_t number, std::uint64_t core, std::function<void(shard&)> what) {
    where.links[number]->send(link::agent_side, [&to = *shards_[number], core, what = std::move(what)] {
      if (auto* const there = to.with(core)) to.to(*there, what);
    });
  };
  around.planted = &planted_;
  around.judges = judges_;
  labour::surroundings work;
  work.time = around.time;
  work.judges = judges_;
  work.self = [this, &where, incarnation](const std::function<void(labour&)>& what) {
    in_process(where, incarnation, [&](process& self) { what(self.work()); });
  };
  where.draining = false;
  where.alive =
      std::make_unique<process>(world_, services_, where.site, incarnation, process::surroundings{std::move(work), std::move(around)});
  world_.tell(where.site.instance, "", incarnation, [&] { return "starts as incarnation " + std::to_string(incarnation); });
  for (auto& way : where.links) {
    // Where an actor alone has started again the connection stands.
    if (way->stands() && where.alive)
      in_process(where, incarnation, [&](process& self) { self.host().routed(static_cast<std::uint32_t>(&way - where.links.data())); });
    else
      way->look(way->in_one_process() ? 5 : 30 * millisecond);
  }
  if (!where.site.local && world_.profiles.chance(150)) {
    world_.after(world_.profiles.between(500, 12'000) * millisecond, [this, &where, incarnation] { may_drain(where, incarnation); });
  }
}

// As a process does that is told to end: it says so, finishes what it holds, and another one comes in its place.
void agents::may_drain(place& where, std::uint64_t incarnation) {
  in_process(where, incarnation, [&](process& self) {
    if (!world_.strikes(concern::drains, world_.profiles, 1'000)) return;
    where.draining = true;
    world_.count("processes that drain");
    world_.tell(where.site.instance, "", incarnation, [] { return std::string{"drains"}; });
    self.host().drain();
    world_.after(world_.profiles.between(1'000, 6'000) * millisecond,
                 [this, &where, incarnation] { in_process(where, incarnation, [](process&) { throw process_killed{}; }); });
  });
}

void agents::die(place& where) {
  // An actor that crashes is started again by its guardian, as another incarnation: what it held is lost.
  const auto alone = world_.hosts.chance(400) && world_.settings.has(concern::lone_crashes);
  if (where.site.local && !alone) {
    shards_.front()->die();
    return;
  }
  world_.tell(where.site.instance, "", 0, [&] { return std::string{alone ? "crashes" : "dies"}; });
  world_.count(alone ? "crashes of an agent alone" : "agent deaths");
  where.alive.reset();
  const auto homeless = where.homeless;
  for (auto& way : where.links) {
    if (!alone) {
      way->ended(link::agent_side);
      continue;
    }
    auto* to = shards_[static_cast<std::size_t>(&way - where.links.data())];
    way->send(link::agent_side, [to, instance = where.site.instance, incarnation = where.incarnation] {
      if (to->up()) to->unreachable(instance, incarnation, 0);
    });
  }
  const auto rest_ms = alone ? world_.hosts.between(1, 600) : world_.crashes.between(20, 4'000);
  world_.after(rest_ms * millisecond, [this, &where, homeless] {
    if (!where.alive && homeless == where.homeless) start(where);
  });
}

void agents::in_process(place& where, std::uint64_t incarnation, const std::function<void(process&)>& what) {
  if (!where.alive || where.incarnation != incarnation) return;
  try {
    what(*where.alive);
  } catch (const process_killed&) {
    die(where);
  }
}

void agents::heal() {
  for (auto& one : places_) {
    if (one->carried) one->carried->heal();
    for (auto& way : one->links) way->heal();
  }
}

link& agents::link_of(std::size_t place, std::uint32_t shard) {
  auto& where = *places_[place];
  return where.carried ? where.carried->link_of(shard) : *where.links[shard];
}

// ---- messages ----

void agents::to_host(const address& to, std::uint32_t shard, std::function<void(post&)> what) {
  auto* where = at(to.instance);
  if (where == nullptr) return;
  if (where->carried) return where->carried->to_host(to.carrier, shard, std::move(what));
  where->links[shard]->send(link::shard_side, [this, where, incarnation = to.incarnation, what = std::move(what)] {
    in_process(*where, incarnation, [&](process& self) { what(self.host()); });
  });
}

void agents::perform(const address& to, std::uint32_t shard, v1::PerformBatch what, stamp when) {
  to_host(to, shard, [what = std::move(what), when](post& self) { self.perform(what, when); });
}

void agents::acknowledge(const address& to, std::uint32_t shard, v1::OutcomeAckBatch what) {
  to_host(to, shard, [what = std::move(what)](post& self) { self.acknowledged(what); });
}

void agents::acknowledge(const address& to, std::uint32_t shard, v1::HeartbeatAckBatch what) {
  to_host(to, shard, [what = std::move(what)](post& self) { self.acknowledged(what); });
}

void agents::acknowledge(const address& to, std::uint32_t shard, v1::BeaconAck what, stamp when) {
  to_host(to, shard, [what = std::move(what), when](post& self) { self.acknowledged(what, when); });
}

void agents::judge_return(const fairlead::agents::attempt_key& which) {
  for (auto& one : places_)
    if (one->carried) one->carried->judge_return(which);
}

}  // namespace fairlead::simulation
