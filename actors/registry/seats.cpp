#include "actors/registry/seats.hpp"

#include <algorithm>

#include "messages/tickets.hpp"

namespace fairlead {

agent_seats::address agent_seats::of(const agent_actor& handle) {
  return handle ? caf::actor_cast<caf::strong_actor_ptr>(handle).get() : nullptr;
}

agent_seat* agent_seats::find(const std::string& instance) {
  const auto found = seats_.find(instance);
  return found == seats_.end() ? nullptr : &found->second;
}

bool agent_seats::reconnects(const std::string& instance, const caf::strong_actor_ptr& who) {
  const auto* known = find(instance);
  return known != nullptr && of(known->handle) != who.get();
}

agent_actor agent_seats::take(const v1::RegisterAgent& what, const caf::strong_actor_ptr& who, bool local) {
  auto& seat = seats_[what.instance()];
  agent_actor before;
  if (of(seat.handle) != who.get()) {
    before = seat.handle;
    if (before) instances_.erase(of(before));
    seat.handle = caf::actor_cast<agent_actor>(who);
    instances_[who.get()] = what.instance();
  }
  // The clock of an earlier process says nothing about this one's.
  if (seat.incarnation != what.incarnation()) seat.clock = {};
  seat.incarnation = what.incarnation();
  seat.local = local;
  seat.outlives = what.kind() == worker_kind;
  seat.away = false;
  seat.clock.told(what.beacon_ms(), time_.steady());
  return before;
}

agent_seat* agent_seats::heard(const v1::Beacon& what, const caf::strong_actor_ptr& sender) {
  auto* const seat = find(what.instance());
  if (seat == nullptr || seat->away || seat->incarnation != what.incarnation() || of(seat->handle) != sender.get()) return nullptr;
  seat->clock.told(what.beacon_ms(), time_.steady());
  return seat;
}

const std::string* agent_seats::instance_at(const caf::actor_addr& address) const {
  const auto found = instances_.find(caf::actor_cast<caf::weak_actor_ptr>(address).get());
  return found == instances_.end() ? nullptr : &found->second;
}

std::vector<std::string> agent_seats::silent() {
  const auto now = time_.steady();
  const auto stood_still = now - looked_ > longest_silence / 2;
  looked_ = now;
  std::vector<std::string> out;
  for (auto& [instance, seat] : seats_) {
    if (seat.local || seat.away) continue;
    if (stood_still) seat.clock.heard(now);
    if (seat.clock.silent(now, longest_silence)) out.push_back(instance);
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool agent_seats::any_remote() const {
  return std::any_of(seats_.begin(), seats_.end(), [](const auto& one) { return !one.second.local && !one.second.away; });
}

std::vector<std::string> agent_seats::local() const {
  std::vector<std::string> out;
  for (const auto& [instance, seat] : seats_)
    if (seat.local && !seat.outlives) out.push_back(instance);
  return out;
}

}  // namespace fairlead
