// The agents of a node: how their actors are started, and what another reading of the node file makes of them.

#include <algorithm>
#include <utility>

#include "actors/agent_host/actor.hpp"
#include "actors/cluster/links_actor.hpp"
#include "actors/node/node_tree.hpp"

namespace fairlead {

namespace {

constexpr duration answer_limit = std::chrono::seconds{2};
constexpr duration start_limit = std::chrono::seconds{5};

}  // namespace

// ---- definitions ----

local_agent node_tree::definition::take() {
  const std::lock_guard lock{guard_};
  auto out = now_;
  now_.backend.reset();
  return out;
}

void node_tree::definition::set(local_agent next) {
  const std::lock_guard lock{guard_};
  now_ = std::move(next);
  now_.backend.reset();
  leaves_ = false;
}

void node_tree::definition::leave() {
  const std::lock_guard lock{guard_};
  leaves_ = true;
}

bool node_tree::definition::leaves() const {
  const std::lock_guard lock{guard_};
  return leaves_;
}

// ---- places ----

std::vector<node_tree::agent_place> node_tree::places() const {
  const std::lock_guard lock{places_guard_};
  return places_;
}

std::optional<node_tree::agent_place> node_tree::place_of(const std::string& name) const {
  const std::lock_guard lock{places_guard_};
  const auto found = std::find_if(places_.begin(), places_.end(), [&](const agent_place& one) { return one.name == name; });
  return found == places_.end() ? std::nullopt : std::optional{*found};
}

void node_tree::erase_place(const std::string& name) {
  std::erase_if(places_, [&](const agent_place& one) { return one.name == name; });
}

child_spec node_tree::agent_child(const local_agent& agent, const std::string& instance) {
  const auto address = std::make_shared<stable_address>(*world_.system);
  const auto as = std::make_shared<definition>(agent);
  bool was_here = false;
  {
    const std::lock_guard lock{places_guard_};
    erase_place(instance);
    places_.push_back({instance, address, as, agent.stands_in});
    was_here = left_.contains(instance);
  }
  if (agent.stands_in) workers_->add_stand_in(agent.name, address->as<agent_actor>());
  child_spec out;
  out.id = instance;
  out.address = address;
  out.may_leave = true;
  // An actor's state is lost with it, so its successor has a new incarnation: all attempts of the old one are in doubt at once.
  const auto first = std::make_shared<bool>(!was_here);
  out.start = [this, as, instance, first]() -> result<caf::strong_actor_ptr> {
    auto agent = as->take();
    auto incarnation = options_.who.incarnation();
    if (!std::exchange(*first, false)) {
      const auto next = world_.next_incarnation();
      if (!next) return next.failure();
      incarnation = *next;
    }
    if (!agent.backend) {
      if (!agent.make) return error{v1::ERROR_CODE_INTERNAL, "agent " + agent.name + " cannot be made a second time", "restart the node"};
      auto made = agent.make();
      if (!made) return made.failure();
      agent.backend = std::move(*made);
    }
    agent_setup setup;
    setup.who = {agent.name, options_.who.node() + "/" + instance, incarnation, {agent.kind, agent.settings, agent.secrets}};
    setup.who.callback_url = options_.callback_url;
    setup.node = options_.who.node();
    setup.backend = std::move(agent.backend);
    setup.time = world_.time;
    setup.log = world_.log;
    setup.links = links_.as<links_actor>();
    const auto started = world_.system->spawn(run_agent, std::move(setup));
    if (draining_ || (agent.stands_in && workers_->carries(agent.name))) caf::anon_send(started, drain_atom_v, true);
    if (as->leaves()) caf::anon_send(started, agent_redefined{});
    return caf::actor_cast<caf::strong_actor_ptr>(started);
  };
  return out;
}

guardian_spec node_tree::agents_branch() {
  guardian_spec out;
  out.id = "agents";
  for (const auto& agent : options_.agents) out.children.push_back(agent_child(agent, agent.name));
  options_.agents.clear();
  return out;
}

status node_tree::add_agent(const local_agent& agent, const std::string& instance) {
  caf::scoped_actor self{*world_.system};
  status out = nothing{};
  self->request(agents_guardian_.as<guardian_actor>(), start_limit, add_child{agent_child(agent, instance)})
      .receive(
          [&out](const std::string& failure) {
            if (!failure.empty()) out = error{v1::ERROR_CODE_INTERNAL, failure, "read the node's log"};
          },
          [&out](const caf::error&) {
            out = error{v1::ERROR_CODE_UNAVAILABLE, "the node's agents cannot be started", "read the node's log"};
          });
  return out;
}

// ---- another reading of the node file ----

bool node_tree::tell(const agent_place& where, std::shared_ptr<local_agent> now) {
  bool there = true;
  caf::scoped_actor self{*world_.system};
  // An agent that does not answer in time takes the message later.
  self->request(where.address->as<agent_actor>(), answer_limit, agent_redefined{std::move(now)})
      .receive([](bool) {}, [&](const caf::error& why) { there = why == caf::sec::request_timeout; });
  return there;
}

std::vector<std::pair<std::string, error>> node_tree::change_agents(agent_changes what) {
  for (const auto& name : what.removed) {
    const auto place = place_of(name);
    if (!place) continue;
    place->as->leave();
    tell(*place, nullptr);
  }
  std::vector<std::pair<std::string, error>> out;
  auto all = std::move(what.changed);
  std::move(what.added.begin(), what.added.end(), std::back_inserter(all));
  for (auto& agent : all) {
    const auto place = place_of(agent.name);
    // One that was added may still be leaving since an earlier reading.
    if (place) {
      place->as->set(agent);
      if (tell(*place, std::make_shared<local_agent>(agent))) continue;
      const std::lock_guard lock{places_guard_};
      left_.insert(agent.name);
    }
    const auto added = add_agent(agent, agent.name);
    if (added.ok()) continue;
    out.emplace_back(agent.name, added.failure());
    const std::lock_guard lock{places_guard_};
    erase_place(agent.name);
    left_.insert(agent.name);
  }
  return out;
}

std::uint32_t node_tree::drain_agents(bool on) {
  draining_ = on;
  workers_->pause(on);
  std::uint32_t held = 0;
  caf::scoped_actor self{*world_.system};
  for (const auto& place : places()) {
    if (place.stands_in && !on) continue;  // the workers have told it
    self->request(place.address->as<agent_actor>(), answer_limit, drain_atom_v, on)
        .receive([&held](std::uint32_t one) { held += one; }, [](const caf::error&) {});
  }
  return held;
}

}  // namespace fairlead
