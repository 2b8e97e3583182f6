#include "actors/supervisor/actor.hpp"

#include "actors/protocol/reminders.hpp"
#include "actors/supervision/guardian.hpp"

namespace fairlead {

class supervisor_shell final : public supervisor_outbox {
 public:
  using self_pointer = supervised_stateful_pointer<supervisor_actor, supervisor_state>;

  supervisor_shell(self_pointer self, supervisor_setup setup)
      : self_(self), setup_(std::move(setup)), supervisor_({setup_.time, setup_.reads, this, setup_.log}, setup_.scan_period) {}

  void scan() {
    const auto more = supervisor_.scan();
    if (!more) {
      setup_.on_fatal(more.failure());
      return;
    }
    if (!*more) {
      const auto round = supervisor_.go_round();
      if (!round) {
        setup_.on_fatal(round.failure());
        return;
      }
    }
    self_->delayed_send(self_, *more ? supervisor::burst_pause : setup_.scan_period, scan_atom_v);
  }

  void hint(const v1::RecoveryHintBatch& what) {
    supervisor_.hint(what);
    arm();
  }

  void fire() {
    reminders_.fired();
    supervisor_.fire();
    arm();
  }

 private:
  void recover(v1::RecoverBatch what) override { self_->send(setup_.scheduler, std::move(what)); }
  void stalest(stalest_task what) override { self_->send(setup_.scheduler, std::move(what)); }
  void waiting(waiting_tasks what) override { self_->send(setup_.scheduler, std::move(what)); }

  void arm() {
    if (const auto next = supervisor_.next_hint()) remind_at(*next, *setup_.time, *self_, reminders_, expire_atom_v);
  }

  self_pointer self_;
  supervisor_setup setup_;
  supervisor supervisor_;
  reminders reminders_;
};

supervisor_actor::behavior_type run_supervisor(supervised_stateful_pointer<supervisor_actor, supervisor_state> self,
                                               supervisor_setup setup) {
  end_on_bug(self, "Supervisor");
  self->state.shell = std::make_shared<supervisor_shell>(self, std::move(setup));
  auto* shell = self->state.shell.get();
  self->send(self, scan_atom_v);
  return {
      [=](const v1::RecoveryHintBatch& what) { shell->hint(what); },
      [=](scan_atom) { shell->scan(); },
      [=](expire_atom) { shell->fire(); },
  };
}

}  // namespace fairlead
