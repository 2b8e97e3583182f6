#include "actors/cron/actor.hpp"

#include "actors/protocol/reminders.hpp"
#include "actors/supervision/guardian.hpp"

#include <algorithm>
#include <utility>

namespace fairlead {

class cron_shell final : public cron_outbox {
 public:
  using self_pointer = supervised_stateful_pointer<cron_actor, cron_state>;

  cron_shell(self_pointer self, cron_setup setup) : self_(self), setup_(std::move(setup)), cron_({setup_.time, setup_.reads, this}) {}

  void begin() { arm(setup_.time->now()); }

  void scan() {
    reminders_.fired();
    const auto next = cron_.scan();
    if (!next) {
      setup_.on_fatal(next.failure());
      return;
    }
    arm(*next);
  }

  /// Ignores moments after the next regular look, which finds them anyway.
  void wake(moment due) {
    if (due < setup_.time->now() + cron::longest_wait) arm(due);
  }

 private:
  void due(due_jobs what) override { self_->send(setup_.scheduler, std::move(what)); }

  void arm(moment next) { remind_at(next, *setup_.time, *self_, reminders_, scan_atom_v); }

  self_pointer self_;
  cron_setup setup_;
  cron cron_;
  reminders reminders_;
};

cron_actor::behavior_type run_cron(supervised_stateful_pointer<cron_actor, cron_state> self, cron_setup setup) {
  end_on_bug(self, "cron");
  self->state.shell = std::make_shared<cron_shell>(self, std::move(setup));
  auto* shell = self->state.shell.get();
  shell->begin();
  return {
      [=](const job_due_at& what) { shell->wake(what.due); },
      [=](scan_atom) { shell->scan(); },
  };
}

}  // namespace fairlead
