#include "actors/agent_slots.hpp"

#include <algorithm>

namespace fairlead {

agent_slots::arrival agent_slots::add(const v1::RegisterAgent& what) {
  auto& entry = instances_[what.instance()];
  auto& service = services_[what.agent()];
  auto outcome = arrival::fresh;
  if (!entry.name.empty()) {
    if (what.incarnation() < entry.incarnation) return arrival::stale;
    outcome = what.incarnation() == entry.incarnation ? arrival::same : arrival::replaced;
    if (entry.agent != what.agent()) std::erase(services_[entry.agent].instances, &entry);
  }
  if (outcome != arrival::same) entry.held = 0;
  entry.agent = what.agent();
  entry.name = what.instance();
  entry.kind = what.kind();
  entry.calls.assign(what.calls().begin(), what.calls().end());
  entry.lookups.assign(what.lookups().begin(), what.lookups().end());
  entry.incarnation = what.incarnation();
  entry.capacity = what.capacity();
  if (std::find(service.instances.begin(), service.instances.end(), &entry) == service.instances.end()) service.instances.push_back(&entry);
  offer(service);
  return outcome;
}

agent_slots::instance* agent_slots::freest(const service& of) {
  instance* best = nullptr;
  std::uint32_t most = 0;
  for (auto* candidate : of.instances) {
    const auto free = candidate->capacity > candidate->held ? candidate->capacity - candidate->held : 0;
    if (free > most) {
      most = free;
      best = candidate;
    }
  }
  return best;
}

std::optional<core::agent_instance> agent_slots::claim(std::string_view agent) {
  const auto found = services_.find(agent);
  if (closed_ || found == services_.end()) return std::nullopt;
  auto* best = freest(found->second);
  if (best == nullptr) return std::nullopt;
  ++best->held;
  return core::agent_instance{best->name, best->incarnation};
}

std::optional<std::uint64_t> agent_slots::incarnation_of(std::string_view instance) const {
  const auto found = instances_.find(instance);
  if (found == instances_.end()) return std::nullopt;
  return found->second.incarnation;
}

void agent_slots::hold(std::string_view instance) {
  const auto found = instances_.find(instance);
  if (found != instances_.end()) ++found->second.held;
}

void agent_slots::release(std::string_view instance, std::uint64_t incarnation) {
  const auto found = instances_.find(instance);
  if (found == instances_.end() || found->second.incarnation != incarnation || found->second.held == 0) return;
  --found->second.held;
  const auto service = services_.find(found->second.agent);
  if (service != services_.end()) offer(service->second);
}

void agent_slots::offer(service& to) {
  if (to.waiting() > 0) offered_.push_back(&to);
}

void agent_slots::wait(const std::string& agent, std::uint64_t task_number, bool undoing) {
  auto& service = services_[agent];
  (undoing ? service.undoing : service.queue).push(task_number);
}

std::optional<std::uint64_t> agent_slots::next_waiting() {
  while (!offered_.empty()) {
    auto& service = *offered_.back();
    auto& next = service.undoing.empty() ? service.queue : service.undoing;
    if (next.empty() || freest(service) == nullptr) {
      offered_.pop_back();
      continue;
    }
    return next.pop();
  }
  return std::nullopt;
}

std::uint64_t agent_slots::held() const {
  std::uint64_t out = 0;
  for (const auto& [name, entry] : instances_) out += entry.held;
  return out;
}

bool agent_slots::any_knows(std::string_view agent, std::string_view call, std::vector<std::string> instance::*among) const {
  const auto found = services_.find(agent);
  if (found == services_.end()) return false;
  return std::any_of(found->second.instances.begin(), found->second.instances.end(),
                     [&](const instance* of) { return std::find((of->*among).begin(), (of->*among).end(), call) != (of->*among).end(); });
}

bool agent_slots::offers(const std::string& agent, const std::string& call) const { return any_knows(agent, call, &instance::calls); }

bool agent_slots::looks_up(std::string_view agent, std::string_view call) const { return any_knows(agent, call, &instance::lookups); }

void agent_slots::describe(v1::StatusReply& out) const {
  for (const auto& [name, service] : services_) {
    const auto add = [&, &name = name, &service = service](const instance* of) {
      auto* line = out.add_agents();
      line->set_agent(name);
      line->set_waiting(service.waiting());
      if (of == nullptr) return;
      line->set_instance(of->name);
      line->set_kind(of->kind);
      line->set_incarnation(of->incarnation);
      line->set_capacity(of->capacity);
      line->set_held(of->held);
      for (const auto& call : of->calls) line->add_calls(call);
    };
    for (const auto* instance : service.instances) add(instance);
    // An agent that steps wait for though nobody offers it is worth seeing.
    if (service.instances.empty() && service.waiting() > 0) add(nullptr);
  }
  std::sort(out.mutable_agents()->begin(), out.mutable_agents()->end(), [](const auto& a, const auto& b) { return a.agent() < b.agent(); });
}

}  // namespace fairlead
