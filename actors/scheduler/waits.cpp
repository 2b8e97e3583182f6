// Waits in vain: a step waits for something inside the process, and nobody was asked for it, or whoever was asked has forgotten. Only a bug leads
// here; a task must not stand still for it.

#include <string>
#include <utility>

#include "actors/core/task/record.hpp"
#include "actors/scheduler/scheduler.hpp"

namespace fairlead {

namespace {

// A wait that is in vain again and again is not mended by asking: an operator must look.
constexpr unsigned most_mendings = 3;

std::string words_for(const v1::TaskRecord& record, const core::step_wait& wait) {
  return "step " + record.steps(static_cast<int>(wait.step)).path() + " waited for " + core::awaited_words(wait.what) +
         (wait.what == core::awaited::input && wait.direction == v1::DIRECTION_UNDO ? " to be undone" : "");
}

}  // namespace

void scheduler::look_at_waits(const waiting_tasks& what) {
  // What a start has not taken up yet waits for that, and what drains waits for the next start.
  if (sweep_.under_way() || draining_) return;
  auto numbers = std::exchange(suspects_, {});
  const auto suspected = numbers;
  numbers.insert(what.numbers.begin(), what.numbers.end());
  const auto asked = evaluations_.asked();
  for (const auto number : numbers) {
    auto* task = load(number);
    if (fatal_) return;
    if (task == nullptr) continue;
    try {
      if (core::noted_ahead(task->record, to_unix_ms(world_.time->now()))) apply(*task, core::clock_set_back{});
      if (fatal_) return;
      const auto wait = task->poison.empty() ? vain_wait_of(*task, asked) : std::nullopt;
      // An answer that was on its way at the first look has arrived by the second.
      if (wait && suspected.count(number) != 0)
        mend_wait(*task, *wait);
      else if (wait)
        suspects_.insert(number);
    } catch (const std::exception& bug) {
      poison(*task, bug_sentence(bug));
    }
    forget_if_idle(number);
    if (fatal_) return;
  }
  serve_waiting();
}

std::optional<core::step_wait> scheduler::vain_wait_of(const live_task& task, const evaluations::asked_inputs& asked) const {
  const auto number = task.record.number();
  for (const auto& wait : core::waits_of(task.record, *task.definition, *world_.engine, slots_)) {
    // What was about to be undone may turn out to be one that can be looked up: the answer about its undo's input brings that to light.
    const auto direction = wait.direction == v1::DIRECTION_LOOKUP ? v1::DIRECTION_UNDO : wait.direction;
    const auto with_worker =
        asked.of_tasks.count(number) != 0 || asked.of_steps.count({number, core::evaluation_key(wait.step, direction)}) != 0;
    const auto outstanding = wait.what == core::awaited::input      ? with_worker
                             : wait.what == core::awaited::instance ? with_worker || slots_.waits(number)
                                                                    : false;
    if (!outstanding) return wait;
  }
  return std::nullopt;
}

void scheduler::mend_wait(live_task& task, const core::step_wait& wait) {
  const auto words = words_for(task.record, wait);
  world_.log->on_note(note_level::warning, "scheduler", "task " + task.record.id() + ": " + words + " in vain; it is asked for anew");
  evaluations_.forget(task.record.number());
  task.evaluating.clear();
  const auto times = ++mended_[task.record.number()];
  if (times <= most_mendings) apply(task, core::wait_lost{});
  // A decision that crashes parks it.
  if (fatal_ || !task.poison.empty()) return;
  if (times > most_mendings || vain_wait_of(task, evaluations_.asked()))
    apply(task, core::task_poisoned{words + " in vain, also after it had been asked for anew"});
  else
    raise_stalled(task.record, words);
}

void scheduler::raise_stalled(const v1::TaskRecord& record, const std::string& words) {
  v1::AlertRecord draft;
  draft.set_kind(v1::ALERT_KIND_STALLED);
  draft.set_task_id(record.id());
  draft.set_workflow(record.workflow());
  draft.set_sentence("task " + record.id() + " stood still: " + words + ", and nobody would have given it; it has been asked for anew");
  draft.set_remedy("nothing is lost; fairlead task show " + record.id() + " says how it goes on, and please report it");
  alerts_.raise(std::move(draft), batches_.page());
}

}  // namespace fairlead
