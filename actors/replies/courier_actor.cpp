#include "actors/replies/courier_actor.hpp"

#include "actors/delivery/courier_loop.hpp"
#include "actors/supervision/guardian.hpp"

namespace fairlead {

courier_actor::behavior_type run_reply_courier(supervised_pointer<courier_actor> self, reply_courier_setup setup) {
  end_on_bug(self, "reply courier");
  reply_courier::world world;
  world.time = setup.time;
  world.reads = setup.reads;
  world.posts = setup.posts.get();
  world.outbox = setup.outbox.get();
  world.log = setup.log;
  world.commit = [self, scheduler = setup.scheduler](courier_rows rows) { self->send(scheduler, std::move(rows)); };
  world.wake = waker_of(self);
  const auto shell = std::make_shared<reply_courier>(std::move(world), setup.settings);
  return courier_loop(self, shell, setup.replica, setup.on_fatal, setup.outbox, setup.posts);
}

}  // namespace fairlead
