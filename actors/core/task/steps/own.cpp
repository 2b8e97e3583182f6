// Steps that no agent carries out: the Scheduler computes a value, waits for a moment, or waits for a signal. They have no attempts, are never
// in doubt, and there is nothing to undo. One that waits is pending and has the end of its wait in not_before; so
// has one that waits for its next round (repeat.cpp).

#include <algorithm>

#include "actors/core/request_limits.hpp"
#include "actors/core/task/machine.hpp"
#include "actors/core/task/task.hpp"

namespace fairlead::core {

std::size_t task_machine::decided_bytes() const {
  std::size_t out = 0;
  for (const auto& one : out_.payloads) out += one.json.size();
  return out;
}

/// The step is ready.
void task_machine::start_own(std::uint32_t index) {
  const auto& step = at(index);
  if (waits_itself(step)) {
    if (step.kind() == v1::STEP_KIND_SIGNAL) take_signal(index);
    return;
  }
  if (!is_wanted(index)) return;
  switch (step.kind()) {
    case v1::STEP_KIND_WAIT: return start_wait(index);
    case v1::STEP_KIND_SIGNAL: return start_signal(index);
    case v1::STEP_KIND_WORKFLOW: return start_child(index);
    default:
      if (const auto value = value_of(index)) {
        // Each value may hold that of the step before twice: without a limit a chain of them fills the memory.
        if (value->size() > max_output_bytes)
          return cannot_render(
              index, v1::EXPRESSION_PART_WITH,
              "its value has " + std::to_string(value->size()) + " bytes, and at most " + std::to_string(max_output_bytes) + " are kept");
        if (decided_bytes() > most_decided_bytes) return wait_until(index, now_ms());
        at(index).set_started_at_unix_ms(now_ms());
        complete(index, *value);
      }
  }
}

/// What the step's `with` or `wait` gives, or an operator has given; nullopt: the worker has been asked, or the task is parked.
std::optional<std::string> task_machine::value_of(std::uint32_t index) {
  const auto& step = at(index);
  if (step.has_input()) {
    const auto text = text_of(step.input());
    return text ? std::optional{std::string{*text}} : std::nullopt;
  }
  if (template_of(step, v1::DIRECTION_PERFORM).plain()) return render(index, v1::EXPRESSION_PART_WITH, {});
  ask_for(index, v1::EXPRESSION_PART_WITH);
  return std::nullopt;
}

void task_machine::wait_until(std::uint32_t index, std::int64_t until_ms) {
  at(index).set_not_before_unix_ms(until_ms);
  // The end of a round has been noted already, and a value waits for a moment only.
  if (at(index).kind() == v1::STEP_KIND_WAIT || at(index).kind() == v1::STEP_KIND_SIGNAL)
    note(v1::EVENT_KIND_STEP_WAITING, index, "until " + format_utc(until_ms));
  hint(index);
  out_.changed = true;
}

/// The moment for which the step has waited has come.
void task_machine::end_wait(std::uint32_t index) {
  auto& step = at(index);
  if (step.kind() == v1::STEP_KIND_WAIT) return complete(index, "null");
  if (step.kind() != v1::STEP_KIND_SIGNAL) {
    step.clear_not_before_unix_ms();
    out_.changed = true;
    return;
  }
  // A signal that came while the task was paused or parked counts, whatever the time.
  if (take_signal(index)) return;
  step.clear_not_before_unix_ms();
  miss_signal(index);
}

/// The clock was set back since the step began to wait for so long: the wait begins anew. One until a moment stays. The next round, and what
/// was to be tried again at once, come no later than was meant.
void task_machine::bring_wait_near(std::uint32_t index) {
  auto& step = at(index);
  if (step.kind() != v1::STEP_KIND_WAIT && step.kind() != v1::STEP_KIND_SIGNAL) {
    const auto by_ms = std::min(step.not_before_unix_ms(), now_ms() + definition_of(step).repeat().every_ms());
    out_.changed = out_.changed || by_ms != step.not_before_unix_ms();
    return step.set_not_before_unix_ms(by_ms);
  }
  const auto ahead_ms = step.started_at_unix_ms() - now_ms();
  if (ahead_ms <= 0 || !waits_for_so_long(index)) return;
  step.set_started_at_unix_ms(now_ms());
  step.set_not_before_unix_ms(step.not_before_unix_ms() - ahead_ms);
  out_.changed = true;
}

}  // namespace fairlead::core
