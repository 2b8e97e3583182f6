#include "actors/shard/archiver_actor.hpp"

#include "actors/supervision/guardian.hpp"

namespace fairlead {

namespace {

constexpr auto busy_pause = std::chrono::milliseconds{20};  // between passes while tasks are left to move
constexpr auto answer_pause = std::chrono::seconds{1};      // while retention time becomes durable
constexpr auto idle_pause = std::chrono::seconds{10};

}  // namespace

archiver_actor::behavior_type run_archiver(supervised_pointer<archiver_actor> self, archiver_setup setup) {
  const auto shell = std::make_shared<archiver>(*setup.time, *setup.reads, setup.archives, setup.policy);
  end_on_bug(self, "archiver");
  self->delayed_send(self, busy_pause, archive_atom_v);
  return {
      [self, shell, setup = std::move(setup)](archive_atom) {
        auto moved = shell->pass();
        if (!moved) {
          setup.on_fatal(moved.failure());
          return;
        }
        if (moved->moved) self->send(setup.scheduler, std::move(*moved->moved));
        auto erased = shell->erase_deleted();
        if (!erased) {
          setup.on_fatal(erased.failure());
          return;
        }
        const auto busy = moved->moved || moved->waiting || erased->done;
        if (erased->problem)
          setup.log->on_note(note_level::warning, "archiver", "deleted tasks stay in the archives for now: " + erased->problem->sentence);
        if (erased->done) {
          const auto tasks = erased->done->rows.size();
          setup.log->on_note(
              note_level::info, "archiver",
              "the archives hold nothing any more of " + std::to_string(tasks) + (tasks == 1 ? " deleted task" : " deleted tasks"));
          self->send(setup.scheduler, std::move(*erased->done));
        }
        if (shell->sweep_is_due()) {
          auto dropped = shell->drop_old();
          if (!dropped) setup.log->on_note(note_level::warning, "archiver", dropped.failure().sentence);
          if (dropped && dropped->problem) setup.log->on_note(note_level::warning, "archiver", dropped->problem->sentence);
          if (dropped && dropped->told) self->send(setup.scheduler, std::move(*dropped->told));
          auto alerts = shell->old_alerts();
          if (!alerts) {
            setup.on_fatal(alerts.failure());
            return;
          }
          if (*alerts) self->send(setup.scheduler, std::move(**alerts));
        }
        if (busy) {
          self->delayed_send(self, busy_pause, archive_atom_v);
          return;
        }
        auto time = shell->ask_for_time();
        const auto asked = time.ok() && time->has_value();
        if (!time) setup.log->on_note(note_level::warning, "archiver", time.failure().sentence);
        if (asked) self->send(setup.scheduler, std::move(**time));
        self->delayed_send(self, asked ? answer_pause : idle_pause, archive_atom_v);
      },
  };
}

}  // namespace fairlead
