// Corrects moments in a task's row that were noted by a wall clock which has been set back since (waits.hpp).

#include <algorithm>

#include "actors/core/items/items.hpp"
#include "actors/core/task/machine.hpp"
#include "actors/core/task/task.hpp"
#include "actors/core/waits.hpp"
#include "messages/holds.hpp"

namespace fairlead::core {

namespace {

/// A step with a list may run while nothing of it is in progress: its next item waits for the worker.
bool only_waits(const v1::StepRecord& step) {
  return !under_way(step) || (step.has_items() && step.not_before_unix_ms() == 0 && count_items(step.items()).out() == 0);
}

/// It is to be tried again at once or soon, and no event tells when that was decided.
bool is_tried_soon(const v1::StepRecord& step) {
  if (step.has_items()) return step.state() == v1::STEP_STATE_RUNNING;
  const auto waits = step.kind() == v1::STEP_KIND_WAIT || step.kind() == v1::STEP_KIND_SIGNAL;
  return step.state() == v1::STEP_STATE_PENDING && !waits && step.rounds() == 0;
}

}  // namespace

bool noted_ahead(const v1::TaskRecord& record, std::int64_t now_ms) {
  const auto ahead = [&](std::int64_t at_ms) { return set_back_since(at_ms, now_ms, small_setting_ms); };
  // While the task only waits, each check moves its wake-up and notes nothing else.
  if (!record.scheduled() && !sleeps(record) && std::all_of(record.steps().begin(), record.steps().end(), only_waits) &&
      ahead(record.due_unix_ms() - waiting_recheck_ms))
    return true;
  if (record.scheduled() && record.delay_ms() > 0 && set_back_since(record.start_at_unix_ms(), now_ms, record.delay_ms())) return true;
  return std::any_of(record.recent().begin(), record.recent().end(), [&](const auto& one) { return ahead(one.at_unix_ms()); }) ||
         std::any_of(record.steps().begin(), record.steps().end(), [&](const auto& one) {
           return ahead(one.started_at_unix_ms()) || ahead(one.ended_at_unix_ms()) ||
                  (is_tried_soon(one) && ahead(one.not_before_unix_ms() - waiting_recheck_ms));
         });
}

/// The attempt was decided before now, and its agent counts the lease by a steady clock: the lease ends no later than one that would begin
/// now.
void task_machine::bring_lease_near(v1::StepRecord& step) {
  const auto by = now_ms() + timeout_of(step, step.direction());
  if (step.complete_by_unix_ms() > by) {
    step.set_complete_by_unix_ms(by);
    out_.changed = out_.leases_cut = true;
  }
  const auto heard_by = now_ms() + heartbeat_of(step, step.direction());
  if (step.heartbeat_by_unix_ms() > heard_by) {
    step.set_heartbeat_by_unix_ms(heard_by);
    out_.changed = out_.leases_cut = true;
  }
}

void task_machine::on(const clock_set_back&) {
  if (!usable() || planted(&planted_faults::keep_far_moment)) return;
  // The request was made before the task ended; an ended task may be on its way to the archive.
  if (has_ended(record_)) return;
  if (record_.scheduled() && record_.delay_ms() > 0 && set_back_since(record_.start_at_unix_ms(), now_ms(), record_.delay_ms())) {
    record_.set_start_at_unix_ms(now_ms() + record_.delay_ms());
    out_.changed = true;
  }
  for (std::uint32_t i = 0; i < steps(); ++i) {
    auto& step = at(i);
    if (attempt_out(step)) {
      bring_lease_near(step);
    } else if (is_abandoned(step)) {
      const auto by = now_ms() + timeout_of(step, step.direction());
      out_.changed = out_.changed || step.not_before_unix_ms() > by;
      step.set_not_before_unix_ms(std::min(step.not_before_unix_ms(), by));
      step.set_held_until_unix_ms(step.not_before_unix_ms());
    } else if (waits_itself(step)) {
      bring_wait_near(i);
    } else if (waits_for_callback(step)) {
      bring_callback_near(step);
    } else if (set_back_since(step.not_before_unix_ms(), now_ms(), longest_wait_of(step))) {
      step.set_not_before_unix_ms(now_ms());
      out_.changed = true;
    }
  }
  // Also if nothing has changed: a step that waits for a slot or an answer asks once more, and the wake-up is as near as that needs. Else it
  // would be as far away as that of a child, and an answer that the worker could not give would be asked for as late.
  advance();
  // The timeout of a task that waits for its start begins then.
  if (record_.scheduled()) return;
  const auto& workflow = ctx_.definition->definition();
  if (workflow.timeout_ms() == 0 || !set_back_since(times_out_at(record_, workflow), now_ms(), workflow.timeout_ms())) return;
  record_.set_deadline_unix_ms(now_ms() + workflow.timeout_ms());
  out_.changed = true;
}

}  // namespace fairlead::core
