#include "tests/simulation/agents.hpp"

#include "actors/agents/attempt_results.hpp"
#include "tests/simulation/agent_process.hpp"

namespace fairlead::simulation {

agents::agents(world& in, network& net, services& behind, std::vector<agent_site> sites, const core::planted_faults& planted)
    : world_(in), network_(net), services_(behind), sites_(std::move(sites)), planted_(planted) {
  for (const auto& site : sites_) {
    places_.push_back(std::make_unique<place>());
    places_.back()->site = site;
  }
}

agents::~agents() = default;

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

void agents::start_remote() {
  for (auto& one : places_)
    if (!one->site.local) start_when_it_comes(*one);
}

void agents::start_local() {
  for (auto& one : places_)
    if (one->site.local) start_when_it_comes(*one);
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

void agents::kill_local() {
  for (auto& one : places_)
    if (one->site.local) {
      one->alive.reset();
      ++one->homeless;
    }
}

bool agents::dead(const std::string& instance, std::uint64_t incarnation) const {
  for (const auto& one : places_)
    if (one->site.instance == instance) return one->incarnation > incarnation || (one->incarnation == incarnation && !one->alive);
  return true;
}

bool agents::local(const std::string& instance) const {
  for (const auto& one : sites_)
    if (one.instance == instance) return one.local;
  return false;
}

void agents::start(place& where) {
  const auto incarnation = ++where.incarnation;
  process::surroundings around;
  around.self = [this, &where, incarnation](const std::function<void(process&)>& what) { in_process(where, incarnation, what); };
  around.outcomes = [this, &where](v1::OutcomeBatch what) {
    network_.send(where.site.instance + ">node", !where.site.local, [this, what = std::move(what)] { shard_->outcomes(what); });
  };
  around.heartbeats = [this, &where](v1::HeartbeatBatch what) {
    network_.send(where.site.instance + ">node", !where.site.local, [this, what = std::move(what)] { shard_->heartbeats(what); });
  };
  around.planted = &planted_;
  around.judge = judge_;
  where.draining = false;
  where.alive = std::make_unique<process>(world_, services_, where.site, incarnation, std::move(around));
  world_.tell(where.site.instance, "", incarnation, [&] { return "starts as incarnation " + std::to_string(incarnation); });
  report(where, incarnation);
  if (!where.site.local && world_.profiles.chance(150)) {
    world_.after(world_.profiles.between(500, 12'000) * millisecond, [this, &where, incarnation] { may_drain(where, incarnation); });
  }
}

// As a process does that is told to end: it says so, finishes what it holds, and another one comes in its place.
void agents::may_drain(place& where, std::uint64_t incarnation) {
  in_process(where, incarnation, [&](process&) {
    if (!world_.strikes(concern::drains, world_.profiles, 1'000)) return;
    where.draining = true;
    world_.count("processes that drain");
    world_.tell(where.site.instance, "", incarnation, [] { return std::string{"drains"}; });
    world_.after(world_.profiles.between(1'000, 6'000) * millisecond,
                 [this, &where, incarnation] { in_process(where, incarnation, [](process&) { throw process_killed{}; }); });
  });
}

void agents::report(place& where, std::uint64_t incarnation) {
  in_process(where, incarnation, [&](process& self) {
    auto message = self.registration();
    message.set_draining(where.draining);
    network_.send(where.site.instance + ">node", !where.site.local, [this, message = std::move(message)] { shard_->registers(message); });
    if (world_.strikes(failpoint_id::agent_registering)) throw process_killed{};
    // A local agent reports once to each Scheduler: they start together.
    if (!where.site.local) world_.after(second, [this, &where, incarnation] { report(where, incarnation); });
  });
}

void agents::die(place& where) {
  if (where.site.local) {
    shard_->die();
    return;
  }
  world_.tell(where.site.instance, "", 0, [] { return std::string{"dies"}; });
  world_.count("agent deaths");
  where.alive.reset();
  world_.after(world_.crashes.between(20, 4'000) * millisecond, [this, &where] {
    if (!where.alive) start(where);
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

void agents::perform(const std::string& instance, std::uint64_t incarnation, const v1::PerformBatch& what) {
  if (auto* where = at(instance)) in_process(*where, incarnation, [&](process& self) { self.perform(what); });
}

void agents::acknowledge(const std::string& instance, std::uint64_t incarnation, const v1::OutcomeAckBatch& what) {
  if (auto* where = at(instance)) in_process(*where, incarnation, [&](process& self) { self.acknowledged(what); });
}

void agents::acknowledge(const std::string& instance, std::uint64_t incarnation, const v1::HeartbeatAckBatch& what) {
  if (auto* where = at(instance)) in_process(*where, incarnation, [&](process& self) { self.acknowledged(what); });
}

}  // namespace fairlead::simulation
