#include "actors/replies/waiters_actor.hpp"

#include <map>
#include <utility>

#include "actors/replies/waiters.hpp"
#include "actors/supervision/guardian.hpp"

namespace fairlead {

namespace {

struct replies_state {
  explicit replies_state(reply_waiters::world in) : shell(std::move(in)) {}
  /// Who asked hears at once that no answer comes: a promise that is dropped says nothing.
  ~replies_state() {
    for (auto& [ticket, promise] : open) promise.deliver(caf::sec::request_receiver_down);
  }
  reply_waiters shell;
  std::map<std::uint64_t, caf::typed_response_promise<v1::RepliesReply>> open;
  std::uint64_t last_ticket = 0;
  bool armed = false;
};

}  // namespace

replies_actor::behavior_type run_replies(supervised_pointer<replies_actor> self, replies_setup setup) {
  end_on_bug(self, "replies");
  reply_waiters::world world;
  world.time = setup.time;
  world.reads = setup.reads;
  world.outbox = setup.outbox.get();
  world.commit = [self, scheduler = setup.scheduler](courier_rows rows) { self->send(scheduler, std::move(rows)); };
  const auto state = std::make_shared<replies_state>(std::move(world));
  const auto arm = [self, state] {
    if (state->armed || !state->shell.anyone_waits()) return;
    state->armed = true;
    self->delayed_send(self, reply_waiters::look_period, expire_atom_v);
  };
  return {
      [self, state, arm, outbox = setup.outbox](const v1::RepliesRequest& what) -> caf::result<v1::RepliesReply> {
        const auto ticket = ++state->last_ticket;
        if (auto reply = state->shell.ask(what, ticket)) return std::move(*reply);
        auto promise = self->make_response_promise<v1::RepliesReply>();
        state->open.emplace(ticket, promise);
        arm();
        return promise;
      },
      [state, arm](expire_atom) {
        state->armed = false;
        for (auto& [ticket, reply] : state->shell.look()) {
          const auto found = state->open.find(ticket);
          found->second.deliver(std::move(reply));
          state->open.erase(found);
        }
        arm();
      },
  };
}

}  // namespace fairlead
