#pragma once
// The loop of a courier in CAF: a look, then the next one after the pause that the look asks for, or as soon as a delivery has ended.

#include <functional>
#include <memory>
#include <utility>

#include <caf/send.hpp>

#include "actors/protocol/handles.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/protocol/reminders.hpp"
#include "actors/supervision/supervised.hpp"

namespace fairlead {

/// Asks the courier for a look, from any thread. A weak handle: a callback that is still to come must not keep the actor, which keeps the
/// callback's port.
inline std::function<void()> waker_of(supervised_pointer<courier_actor> self) {
  return [address = caf::actor_cast<caf::weak_actor_ptr>(self)] {
    if (const auto courier = caf::actor_cast<caf::strong_actor_ptr>(address))
      caf::anon_send(caf::actor_cast<courier_actor>(courier), deliver_atom_v);
  };
}

/// After a look that another node may have made since, because it leads the shard.
inline constexpr duration look_of_another{1'000};

/// `shell` has `look() -> result<duration>`: the pause until the next look. An error stops the node. `replica`: asked before each look
/// whether this node leads the shard; null: no other could. `kept` lives as long as the actor.
template <class Shell, class... Kept>
courier_actor::behavior_type courier_loop(supervised_pointer<courier_actor> self, std::shared_ptr<Shell> shell, replica_actor replica,
                                          fatal_handler on_fatal, Kept... kept) {
  const auto noted = std::make_shared<reminders>();
  const auto remind = [self, noted](duration pause) {
    if (noted->wants(mailbox_time(*self) + pause)) self->delayed_send(self, pause, deliver_atom_v);
  };
  const auto look = [shell = std::move(shell), remind, on_fatal = std::move(on_fatal), ... kept = std::move(kept)] {
    const auto pause = shell->look();
    if (!pause.ok()) return on_fatal(pause.failure());
    remind(*pause);
  };
  self->send(self, deliver_atom_v);
  return {
      [self, noted, remind, look, replica = std::move(replica)](deliver_atom) {
        if (self->current_sender() == caf::actor_cast<caf::strong_actor_ptr>(self)) noted->fired();
        if (!replica) return look();
        self->request(replica, caf::infinite, confirm_atom_v, std::uint64_t{0})
            .then([look, remind](bool leads) { leads ? look() : remind(look_of_another); },
                  [remind](const caf::error&) { remind(look_of_another); });
      },
  };
}

}  // namespace fairlead
