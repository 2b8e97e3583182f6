// A shard as its agents see it: registrations and sessions of workers, at the node that leads as far as is known.

#include <memory>
#include <utility>

#include "tests/simulation/shard/home.hpp"

namespace fairlead::simulation {

agents::shard* home::with(std::uint64_t core) {
  for (const auto& one : nodes_)
    if (auto* const there = one->with(core)) return there;
  return nullptr;
}

void home::to(agents::shard& which, std::function<void(agents::shard&)> what) {
  if (!replicated()) return what(which);
  for (const auto& one : nodes_)
    if (one.get() == &which)
      return one->when_awake([&which, core = which.core(), what = std::move(what)] {
        if (which.core() == core) what(which);
      });
}

void home::registers(const v1::RegisterAgent& what, std::uint64_t carrier, std::function<void(welcome)> answer) {
  auto* const there = replicated() ? connected_ : &alone();
  if (there == nullptr) return;
  if (!replicated()) return there->registers(what, carrier, std::move(answer));
  there->when_awake([there, what, carrier, answer = std::move(answer)] { there->registers(what, carrier, answer); });
}

void home::begins_session(const v1::WorkerSessionRequest& what, std::function<bool()> is_wanted,
                          std::function<void(const v1::WorkerSessionReply&)> answer) {
  // Each time that it came.
  const auto heard = std::make_shared<bool>(what.take_over() && !what.vouched());
  request<v1::WorkerSessionReply>(
      what.instance(),
      [this, what, heard, is_wanted = std::move(is_wanted)](scheduler& to, std::uint64_t ticket) {
        if (!is_wanted()) return;
        *heard = *heard && serves() && leader()->hears_worker(what.instance());
        to.answer(what, ticket);
      },
      [this, what, heard, answer = std::move(answer)](const v1::WorkerSessionReply& reply) {
        world_.judges("false_death");
        if (*heard && reply.error().code() == v1::ERROR_CODE_OK)
          world::broken("false_death", what.instance() + " was heard lately, nobody vouches for its death, and it is taken over");
        answer(reply);
      });
}

void home::unreachable(const std::string& instance, std::uint64_t incarnation, std::uint64_t carrier) {
  if (!replicated()) return alone().unreachable(instance, incarnation, carrier);
  for (const auto& one : nodes_)
    if (one->serves()) one->when_awake([&to = *one, instance, incarnation, carrier] { to.unreachable(instance, incarnation, carrier); });
}

}  // namespace fairlead::simulation
