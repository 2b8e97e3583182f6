#include "actors/shard/store_actor.hpp"

#include "actors/supervision/guardian.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace fairlead {

namespace {

/// With few tasks in flight the answer to a commit is the next commit, some tens of microseconds later. Sleeping and waking in between
/// would take as long again, so the thread stays awake for that time. An idle node commits nothing, so it never lingers.
template <class Mailbox>
void linger(const Mailbox& mailbox) {
  constexpr auto limit = std::chrono::microseconds{60};
  const auto until = std::chrono::steady_clock::now() + limit;
  while (mailbox.empty() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
}

}  // namespace

store_actor::behavior_type run_store(supervised_stateful_pointer<store_actor, store_state> self, store::store* target,
                                     fatal_handler on_fatal, commit_gauge* gauge) {
  end_on_bug(self, "store actor");
  return {
      [self](commit_request& request) {
        auto& state = self->state;
        if (state.failed) return;
        state.gathered.push_back(std::move(request.what));
        state.asker = self->current_sender();
        if (std::exchange(state.armed, true)) return;
        // Queued after all messages now in the mailbox.
        self->send(self, flush_atom_v);
      },
      [self, target, gauge, on_fatal = std::move(on_fatal)](flush_atom) {
        auto& state = self->state;
        state.armed = false;
        if (state.gathered.empty() || state.failed) return;
        const auto group = std::exchange(state.gathered, {});
        const auto began = std::chrono::steady_clock::now();
        const auto done = target->commit(group);
        if (!done.ok()) {
          state.failed = true;
          on_fatal(done.failure());
          return;
        }
        if (gauge != nullptr) {
          std::size_t bytes = 0;
          for (const auto& one : group) bytes += one.bytes().size();
          gauge->committed(group.size(), bytes,
                           std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began));
        }
        const auto scheduler = caf::actor_cast<scheduler_actor>(state.asker);
        self->send(scheduler, committed{group.back().sequence});
        linger(self->mailbox());
      },
  };
}

}  // namespace fairlead
