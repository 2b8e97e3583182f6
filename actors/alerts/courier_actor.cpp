#include "actors/alerts/courier_actor.hpp"

#include "actors/delivery/courier_loop.hpp"
#include "actors/supervision/guardian.hpp"

namespace fairlead {

courier_actor::behavior_type run_alert_courier(supervised_pointer<courier_actor> self, alert_courier_setup setup) {
  end_on_bug(self, "alert courier");
  alert_courier::ports world;
  world.time = setup.time;
  world.reads = setup.reads;
  world.webhooks = setup.webhooks;
  world.commands = setup.commands.get();
  world.log = setup.log;
  world.record = [self, scheduler = setup.scheduler](courier_rows what) { self->send(scheduler, std::move(what)); };
  world.wake = waker_of(self);
  const auto shell =
      std::make_shared<alert_courier>(std::move(world), alert_origin{setup.node, setup.shard, setup.shard_count}, setup.targets);
  return courier_loop(self, shell, setup.replica, setup.on_fatal, setup.commands);
}

}  // namespace fairlead
