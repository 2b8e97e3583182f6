#include "actors/alerts/courier_actor.hpp"

#include "actors/supervision/guardian.hpp"

namespace fairlead {

namespace {

/// How long an alert may wait for a look. A look without news reads one row.
constexpr auto look_period = std::chrono::milliseconds{250};

}  // namespace

courier_actor::behavior_type run_alert_courier(supervised_pointer<courier_actor> self, alert_courier_setup setup) {
  end_on_bug(self, "alert courier");
  alert_courier::ports world;
  world.time = setup.time;
  world.reads = setup.reads;
  world.webhooks = setup.webhooks;
  world.commands = setup.commands.get();
  world.log = setup.log;
  world.record = [self, scheduler = setup.scheduler](courier_rows what) { self->send(scheduler, std::move(what)); };
  // Weak: a pending callback must not keep the actor alive, as the actor keeps the callback's port, which keeps the callback.
  world.wake = [address = caf::actor_cast<caf::weak_actor_ptr>(self)] {
    if (const auto courier = caf::actor_cast<caf::strong_actor_ptr>(address))
      caf::anon_send(caf::actor_cast<courier_actor>(courier), deliver_atom_v);
  };
  const auto shell =
      std::make_shared<alert_courier>(std::move(world), alert_origin{setup.node, setup.shard, setup.shard_count}, setup.targets);
  self->send(self, deliver_atom_v);
  return {
      [self, shell, commands = setup.commands, on_fatal = setup.on_fatal](deliver_atom) {
        const auto looked = shell->look();
        if (!looked.ok()) {
          on_fatal(looked.failure());
          return;
        }
        // Only the courier's own reminder arms the next one; looks after ended deliveries are additional.
        if (self->current_sender() == caf::actor_cast<caf::strong_actor_ptr>(self)) self->delayed_send(self, look_period, deliver_atom_v);
      },
  };
}

}  // namespace fairlead
