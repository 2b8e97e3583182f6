#include "actors/replies/courier_actor.hpp"

#include <optional>

#include "actors/supervision/guardian.hpp"

namespace fairlead {

namespace {

/// The earliest reminder. A look may be requested at any time, so reminders must not multiply: a reminder is sent only if no pending one is
/// as early.
class reminder {
 public:
  void set(supervised_pointer<courier_actor> self, duration pause) {
    const auto now = self->clock().now();
    if (due_ && *due_ <= now) due_.reset();
    if (due_ && *due_ <= now + pause) return;
    due_ = now + pause;
    self->delayed_send(self, pause, deliver_atom_v);
  }

 private:
  std::optional<caf::actor_clock::time_point> due_;
};

}  // namespace

courier_actor::behavior_type run_reply_courier(supervised_pointer<courier_actor> self, reply_courier_setup setup) {
  end_on_bug(self, "reply courier");
  reply_courier::world world;
  world.time = setup.time;
  world.reads = setup.reads;
  world.posts = setup.posts.get();
  world.outbox = setup.outbox.get();
  world.log = setup.log;
  world.commit = [self, scheduler = setup.scheduler](courier_rows rows) { self->send(scheduler, std::move(rows)); };
  // Posts may end after this actor has; a weak handle does not keep the actor alive.
  const caf::weak_actor_ptr weak{self->ctrl()};
  world.wake = [weak] {
    if (const auto there = caf::actor_cast<caf::strong_actor_ptr>(weak))
      caf::anon_send(caf::actor_cast<courier_actor>(there), deliver_atom_v);
  };
  const auto shell = std::make_shared<reply_courier>(std::move(world), setup.settings);
  const auto next = std::make_shared<reminder>();
  next->set(self, reply_courier::busy_pause);
  return {
      [self, shell, next, outbox = setup.outbox, posts = setup.posts, on_fatal = setup.on_fatal](deliver_atom) {
        const auto pause = shell->look();
        if (!pause.ok()) {
          on_fatal(pause.failure());
          return;
        }
        next->set(self, *pause);
      },
  };
}

}  // namespace fairlead
