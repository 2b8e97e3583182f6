#include "actors/agent_actor.hpp"

#include "actors/reminders.hpp"
#include "actors/stop_on_bug.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace fairlead {

namespace {

// While attempts are held the host looks at the clock at least this often: after the wall clock has been set, a reminder that was made before
// comes at the wrong moment.
constexpr duration longest_rest{1'000};

}  // namespace

class agent_shell final : public agent_outbox {
 public:
  using self_pointer = agent_actor::stateful_pointer<agent_state>;

  agent_shell(self_pointer self, agent_setup setup)
      : self_(self),
        address_(caf::actor_cast<caf::weak_actor_ptr>(self)),
        setup_(std::move(setup)),
        host_(setup_.who, *setup_.backend, *setup_.time, *this) {}

  // The backend's threads call into this object, so they end first.
  ~agent_shell() override { setup_.backend->shut_down(); }

  void enlist() { self_->send(setup_.scheduler, host_.registration(), agent_actor{self_}); }

  void perform(v1::PerformBatch& what) {
    host_.perform(std::move(what));
    after_message();
  }

  void acknowledged(const v1::OutcomeAckBatch& what) { host_.acknowledged(what); }

  void acknowledged(const v1::HeartbeatAckBatch& what) {
    host_.acknowledged(what);
    after_message();
  }

  void progressed(const attempt_progressed& what) {
    host_.progressed(what.key);
    after_message();
  }

  void finished(attempt_finished& what) {
    host_.finished(what.key, std::move(what.result));
    after_message();
  }

  void expire() {
    reminders_.fired();
    host_.expire();
    after_message();
  }

  void flush() {
    flush_armed_ = false;
    host_.flush();
  }

 private:
  void outcomes(v1::OutcomeBatch what) override { self_->send(setup_.scheduler, std::move(what)); }
  void heartbeats(v1::HeartbeatBatch what) override { self_->send(setup_.scheduler, std::move(what)); }

  // Called by the backend's threads: nothing of this object but the address may be touched.
  void finish_later(agents::attempt_key key, agents::attempt_result result) override {
    if (const auto there = caf::actor_cast<agent_actor>(address_)) caf::anon_send(there, attempt_finished{key, std::move(result)});
  }

  void progress_later(agents::attempt_key key) override {
    if (const auto there = caf::actor_cast<agent_actor>(address_)) caf::anon_send(there, attempt_progressed{key});
  }

  void after_message() {
    if (host_.wants_flush() && !std::exchange(flush_armed_, true)) self_->send(self_, flush_atom_v);
    const auto next = host_.next_expiry();
    if (!next) return;
    auto wait = std::max(*next - setup_.time->now(), duration{0});
    if (host_.holds_any()) wait = std::min(wait, longest_rest);
    // What is on its way is counted by a clock that nobody sets.
    const auto here = std::chrono::duration_cast<duration>(self_->clock().now().time_since_epoch());
    if (reminders_.wants(moment{here + wait})) self_->delayed_send(self_, wait, expire_atom_v);
  }

  self_pointer self_;
  const caf::weak_actor_ptr address_;
  agent_setup setup_;
  agent_host host_;
  bool flush_armed_ = false;
  reminders reminders_;
};

agent_actor::behavior_type run_agent(agent_actor::stateful_pointer<agent_state> self, agent_setup setup) {
  stop_on_bug(self, "agent host", setup.on_fatal);
  self->state.shell = std::make_shared<agent_shell>(self, std::move(setup));
  auto* shell = self->state.shell.get();
  shell->enlist();
  return {
      [=](v1::PerformBatch& what) { shell->perform(what); },
      [=](const v1::OutcomeAckBatch& what) { shell->acknowledged(what); },
      [=](const v1::HeartbeatAckBatch& what) { shell->acknowledged(what); },
      [=](attempt_finished& what) { shell->finished(what); },
      [=](const attempt_progressed& what) { shell->progressed(what); },
      [=](expire_atom) { shell->expire(); },
      [=](flush_atom) { shell->flush(); },
  };
}

}  // namespace fairlead
