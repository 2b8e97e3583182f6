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
  if (sweeping_ || draining_) return;
  auto numbers = std::exchange(suspects_, {});
  const auto suspected = numbers;
  numbers.insert(what.numbers.begin(), what.numbers.end());
  const auto asked = inputs_asked_for();
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

scheduler::asked_inputs scheduler::inputs_asked_for() const {
  asked_inputs out;
  for (const auto& [ticket, one] : evaluations_)
    if (!one.outstanding.expired()) out.of_steps.emplace(one.number, core::evaluation_key(one.step, one.direction));
  out.of_tasks.insert(waiting_to_evaluate_.begin(), waiting_to_evaluate_.end());
  out.of_tasks.insert(unevaluated_.begin(), unevaluated_.end());
  return out;
}

std::optional<core::step_wait> scheduler::vain_wait_of(const live_task& task, const asked_inputs& asked) const {
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

/// What the worker may still answer counts for nothing any more.
void scheduler::forget_evaluations(live_task& task) {
  std::erase_if(evaluations_, [&](const auto& one) {
    if (one.second.number != task.record.number()) return false;
    evaluating_bytes_ -= one.second.bytes;
    return true;
  });
  task.evaluating.clear();
}

void scheduler::mend_wait(live_task& task, const core::step_wait& wait) {
  const auto words = words_for(task.record, wait);
  world_.log->on_note(note_level::warning, "scheduler", "task " + task.record.id() + ": " + words + " in vain; it is asked for anew");
  forget_evaluations(task);
  const auto times = ++mended_[task.record.number()];
  if (times <= most_mendings) apply(task, core::wait_lost{});
  // A decision that crashes parks it.
  if (fatal_ || !task.poison.empty()) return;
  if (times > most_mendings || vain_wait_of(task, inputs_asked_for()))
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
  alerts_.raise(std::move(draft), page());
}

}  // namespace fairlead
