#include "actors/core/task/restore.hpp"

#include <algorithm>
#include <string>

#include "actors/core/items/items.hpp"
#include "actors/core/task/record.hpp"
#include "messages/holds.hpp"
#include "messages/task_states.hpp"

namespace fairlead::core {

namespace {

void raise(v1::StepRecord& step, v1::Direction direction, std::uint32_t by) {
  set_attempt(step, direction, attempt_of(step, direction) + by);
  set_excused(step, direction, excused_of(step, direction) + by);
}

void say_restored(v1::StepRecord& step, std::int64_t backup_unix_ms) {
  if (key_is_gone(step.fault())) {
    step.mutable_fault()->set_code(std::string{restored_key_code});
    return;
  }
  auto message = "the shard was restored from a backup of " + format_utc(backup_unix_ms) +
                 "; it is unknown whether the step was carried out since then";
  if (!step.fault().code().empty() && step.fault().code() != restored_code)
    message += "; its last fault before was " + step.fault().code() + (step.fault().message().empty() ? "" : ": " + step.fault().message());
  auto& fault = *step.mutable_fault();
  fault.Clear();
  fault.set_kind(v1::FAULT_KIND_IN_DOUBT);
  fault.set_code(std::string{restored_code});
  fault.set_message(std::move(message));
}

void may_be_performed(v1::StepRecord& step, std::int64_t backup_unix_ms) {
  step.clear_not_before_unix_ms();
  // A look-up changes nothing: it is made again, unless it was in vain. Its answer about this key does not cover the next key.
  if (step.direction() == v1::DIRECTION_LOOKUP && step.state() == v1::STEP_STATE_IN_DOUBT) {
    // One in vain stays so. An operator may have said since that it never happened.
    if (step.given_up()) return step.set_next_key_in_doubt(true);
    say_restored(step, backup_unix_ms);
    return;
  }
  // An attempt after the backup would have used another key than the last attempt before it.
  if (step.fault().key_spent() && !step.doubtful()) {
    step.set_generation(step.generation() + 1);
    step.clear_key_used_at_unix_ms();
  }
  step.set_doubtful(true);
  if (step.key_used_at_unix_ms() == 0) step.set_key_used_at_unix_ms(backup_unix_ms);
  say_restored(step, backup_unix_ms);
  step.set_state(step.given_up() ? v1::STEP_STATE_IN_DOUBT : v1::STEP_STATE_PENDING);
}

/// The step's undo may have been sent in the lost time.
void doubt_undo(v1::StepRecord& step, std::int64_t backup_unix_ms) {
  step.set_undo_doubtful(true);
  if (step.undo_key_used_at_unix_ms() == 0) step.set_undo_key_used_at_unix_ms(backup_unix_ms);
}

/// `performs`: its task may have performed it in the lost time, too.
void may_be_undone(v1::StepRecord& step, std::int64_t backup_unix_ms, bool performs) {
  step.clear_not_before_unix_ms();
  // Whatever a look-up said of a key that nothing was performed behind, the next one is that of the undo alone.
  const auto was_out = step.state() == v1::STEP_STATE_RUNNING;
  const auto last_key = (was_out || step.state() == v1::STEP_STATE_IN_DOUBT) && !performs;
  if (was_out) {
    step.set_state(v1::STEP_STATE_IN_DOUBT);
    step.set_doubtful(true);
  }
  doubt_undo(step, backup_unix_ms);
  if (!step.given_up() && (was_out || !last_key)) say_restored(step, backup_unix_ms);
  if (was_out && last_key && !key_is_gone(step.fault())) step.mutable_fault()->set_code(std::string{restored_next_code});
}

bool says_finally(const v1::WorkflowDefinition* definition, const v1::StepRecord& step) {
  const auto index = static_cast<int>(step.definition());
  return definition != nullptr && index < definition->steps_size() && definition->steps(index).finally() != v1::FINALLY_NO;
}

/// A step of the end, of a task that may perform it now: it may have been performed in the lost time.
void may_be_performed_at_end(v1::StepRecord& step, std::int64_t backup_unix_ms) {
  const auto over = step.state() == v1::STEP_STATE_COMPLETED || step.state() == v1::STEP_STATE_SKIPPED || step.passed_over();
  if (!over && step.kind() == v1::STEP_KIND_CALL) may_be_performed(step, backup_unix_ms);
}

/// A join has left the step over, and perhaps that never counted: then it was performed in the lost time.
bool was_left_over_since(const v1::StepRecord& step, std::optional<std::int64_t> counted_until_unix_ms) {
  const auto left =
      step.state() == v1::STEP_STATE_SKIPPED || step.state() == v1::STEP_STATE_FAILED || step.state() == v1::STEP_STATE_PENDING;
  return left && step.dropped() && step.kind() == v1::STEP_KIND_CALL && counted_until_unix_ms &&
         step.ended_at_unix_ms() >= *counted_until_unix_ms;
}

void may_be_performed_though_left_over(v1::StepRecord& step, std::int64_t backup_unix_ms) {
  step.clear_not_before_unix_ms();
  step.clear_given_up();
  step.clear_passed_over();
  step.set_doubtful(true);
  if (step.key_used_at_unix_ms() == 0) step.set_key_used_at_unix_ms(backup_unix_ms);
  say_restored(step, backup_unix_ms);
  step.set_state(v1::STEP_STATE_IN_DOUBT);
}

/// The task went on without the step, and perhaps that never counted.
bool was_passed_over_since(const v1::StepRecord& step, std::optional<std::int64_t> counted_until_unix_ms) {
  return step.passed_over() && carried_out_elsewhere(step.kind()) && counted_until_unix_ms &&
         step.ended_at_unix_ms() >= *counted_until_unix_ms;
}

/// Completed items stay where their step is tried again.
bool may_begin_beside_what_stands(const v1::StepRecord& step) { return step.has_items() && count_items(step.items()).left_behind == 0; }

/// The step was about to begin further items of its list.
bool begins_items(const v1::WorkflowDefinition* definition, const v1::StepRecord& step) {
  if (step.state() != v1::STEP_STATE_RUNNING || !step.has_items()) return false;
  const auto counts = count_items(step.items());
  const auto index = static_cast<int>(step.definition());
  const auto stops = definition != nullptr && index < definition->steps_size() && !definition->steps(index).for_each().collect();
  return counts.to_begin > 0 && (counts.failed + counts.undone == 0 || !stops);
}

bool is_open(const v1::StepRecord& step) { return step.state() == v1::STEP_STATE_PENDING || step.state() == v1::STEP_STATE_FAILED; }

/// Whether the event that keeps the task for good from performing more is of this moment or later, as far as its latest events tell.
/// Nothing leads forward from an undo, an operator's terminate or a failed end, so the first of them counts. One that is to fail may be
/// taken back.
bool has_stopped_since(const v1::TaskRecord& record, std::int64_t unix_ms) {
  const auto stops = [](const v1::HistoryEvent& one) {
    return one.kind() == v1::EVENT_KIND_TASK_UNDOING || one.kind() == v1::EVENT_KIND_OPERATOR_TERMINATE ||
           one.kind() == v1::EVENT_KIND_TASK_FAILED;
  };
  const auto& recent = record.recent();
  const auto first = std::find_if(recent.begin(), recent.end(), stops);
  if (first != recent.end()) return first->at_unix_ms() >= unix_ms;
  return recent.empty() || recent.begin()->at_unix_ms() >= unix_ms;
}

/// A child that begins later may have begun in the time that any of the restores has lost, and its keys may be as old as the first of them.
void note_restored(v1::TaskRecord& record, std::int64_t backup_unix_ms) {
  if (record.first_restored_from_unix_ms() == 0)
    record.set_first_restored_from_unix_ms(record.restored_from_unix_ms() != 0 ? record.restored_from_unix_ms() : backup_unix_ms);
  record.set_restored_from_unix_ms(backup_unix_ms);
}

}  // namespace

restored_rise::restored_rise(std::int64_t backup_unix_ms, moment now) {
  const auto age_ms = static_cast<std::uint64_t>(std::max<std::int64_t>(to_unix_ms(now) - backup_unix_ms, 0));
  const auto age_s = age_ms / 1'000;
  // Assumed maxima per second: 64,000 numbers of a shard, 1,000 events of a task, one attempt of a step.
  numbers = (std::uint64_t{1} << 24) + 64 * age_ms;
  status_sequence = 1'000 * (1 + age_s);
  attempts = 1'000 + static_cast<std::uint32_t>(std::min(age_s, std::uint64_t{1} << 24));
}

void may_have_begun(v1::TaskRecord& record, std::int64_t backup_unix_ms) {
  note_restored(record, backup_unix_ms);
  for (auto& step : *record.mutable_steps()) may_have_begun(step, record);
}

void may_have_begun(v1::StepRecord& step, const v1::TaskRecord& of) {
  const auto first_ms = of.first_restored_from_unix_ms() != 0 ? of.first_restored_from_unix_ms() : of.restored_from_unix_ms();
  if (carried_out_elsewhere(step.kind())) may_be_performed(step, first_ms);
}

void may_have_been_undone(v1::TaskRecord& record, std::int64_t backup_unix_ms, std::int64_t first_unix_ms) {
  if (first_unix_ms != 0 && (record.first_restored_from_unix_ms() == 0 || first_unix_ms < record.first_restored_from_unix_ms()))
    record.set_first_restored_from_unix_ms(first_unix_ms);
  note_restored(record, backup_unix_ms);
  for (auto& step : *record.mutable_steps())
    if (step.kind() == v1::STEP_KIND_CALL && step.state() != v1::STEP_STATE_UNDONE && step.state() != v1::STEP_STATE_SKIPPED)
      doubt_undo(step, record.first_restored_from_unix_ms());
}

bool restore_task(v1::TaskRecord& record, std::int64_t backup_unix_ms, moment now, const planted_faults& planted,
                  std::optional<std::int64_t> counted_until_unix_ms, const v1::WorkflowDefinition* definition) {
  const auto failed = record.state() == v1::TASK_STATE_FAILED;
  const auto undone = record.state() == v1::TASK_STATE_UNDONE;
  const auto undoing = undone || record.state() == v1::TASK_STATE_UNDOING;
  // In the lost time, too, the task has waited for its start, unless the clock was ahead then by more than this.
  constexpr std::int64_t clock_margin_ms = 60'000;
  const auto still_to_start = (record.scheduled() || has_ended(record)) && record.start_at_unix_ms() > to_unix_ms(now) + clock_margin_ms;
  // A task that is being undone or terminated performs nothing any more, unless that never counted. One that is to fail may have been taken
  // back by an operator.
  const auto stopped = undoing || failed || record.failing();
  const auto goes_forward = !undoing && !failed && !record.terminated();
  const auto performs = !still_to_start && (goes_forward || (counted_until_unix_ms && has_stopped_since(record, *counted_until_unix_ms)));
  if (has_ended(record)) {
    const auto to_be_settled = [&](const v1::StepRecord& step) {
      return is_open(step) || was_left_over_since(step, counted_until_unix_ms);
    };
    const auto to_be_named = [&](const v1::StepRecord& step) {
      return was_passed_over_since(step, counted_until_unix_ms) || was_left_over_since(step, counted_until_unix_ms);
    };
    const auto& all = record.steps();
    if (!stopped && std::none_of(all.begin(), all.end(), to_be_named)) return false;
    if (stopped && (!performs || std::none_of(all.begin(), all.end(), to_be_settled))) return false;
    if (undone) {
      record.set_state(v1::TASK_STATE_UNDOING);
      record.clear_finished_at_unix_ms();
    }
  }
  if (undoing && performs) record.set_undo_uncertain(true);
  // Nothing of it, and no child, can have begun in the lost time where it still has to start.
  if (!still_to_start) note_restored(record, backup_unix_ms);
  const restored_rise rise{backup_unix_ms, now};
  add_event(record, v1::EVENT_KIND_TASK_RESTORED, 0, 0, now, "from a backup of " + format_utc(backup_unix_ms));
  for (int i = 0; i < record.steps_size(); ++i) {
    auto& step = *record.mutable_steps(i);
    // Callbacks of the lost lineage count no more. What one has said of an attempt in progress is looked up, or said again, as all else.
    step.clear_awaits_callback();
    step.clear_early_answer();
    if (attempt_out(step)) {
      auto& event = add_event(record, v1::EVENT_KIND_STEP_IN_DOUBT, static_cast<std::uint32_t>(i) + 1, attempt_of(step, step.direction()),
                              now, std::string{restored_code});
      if (step.direction() != v1::DIRECTION_PERFORM) event.set_direction(step.direction());
      step.set_ended_at_unix_ms(to_unix_ms(now));
      end_lease(step);
    }
    // The Scheduler's own steps have no attempts, and one that has not begun is to look so.
    if (carried_out_elsewhere(step.kind()) && !planted.keep_attempts_on_restore)
      for (const auto direction : {v1::DIRECTION_PERFORM, v1::DIRECTION_UNDO, v1::DIRECTION_LOOKUP}) raise(step, direction, rise.attempts);
    if (says_finally(definition, step) && stopped && !planted.restore_without_doubt) {
      // A task that is being terminated begins none of them. What was out is in doubt all the same.
      const auto may_be = !record.terminated() || step.state() == v1::STEP_STATE_RUNNING;
      if (!has_ended(record) && !undone && may_be) may_be_performed_at_end(step, backup_unix_ms);
      continue;
    }
    if (was_left_over_since(step, counted_until_unix_ms) && !planted.restore_without_doubt) {
      may_be_performed_though_left_over(step, backup_unix_ms);
      continue;
    }
    switch (step.state()) {
      case v1::STEP_STATE_SKIPPED:
      case v1::STEP_STATE_UNDONE: break;
      case v1::STEP_STATE_COMPLETED:
      case v1::STEP_STATE_UNDOING:
        if ((undoing || step.dropped()) && step.kind() == v1::STEP_KIND_CALL) may_be_undone(step, backup_unix_ms, performs);
        break;
      case v1::STEP_STATE_PENDING:
      case v1::STEP_STATE_FAILED:
        // A child that has failed is undone before another one begins.
        if ((child_stands(step) && !may_begin_beside_what_stands(step)) || planted.restore_without_doubt) break;
        if (!carried_out_elsewhere(step.kind())) break;
        // Only its workflow says whether it is undone though it has failed; if not, this has no effect.
        if ((undoing || step.dropped()) && has_failed_for_certain(step) && !step.has_items()) doubt_undo(step, backup_unix_ms);
        // Nothing performs it any more.
        if (step.dropped() && !undoing && !failed) break;
        if (step.passed_over()) {
          // Nothing performs it any more, unless that it was passed over never counted.
          if (!counted_until_unix_ms || step.ended_at_unix_ms() < *counted_until_unix_ms) break;
          step.set_doubtful(true);
          say_restored(step, backup_unix_ms);
          if (undoing) step.set_state(v1::STEP_STATE_IN_DOUBT);
          break;
        }
        if (!performs) break;
        may_be_performed(step, backup_unix_ms);
        if (!undoing && !failed) break;
        // A step that was looked up in vain stays so: its undo must not ask again.
        if (step.direction() != v1::DIRECTION_LOOKUP) step.clear_given_up();
        step.set_state(v1::STEP_STATE_IN_DOUBT);
        break;
      default:
        // Its child is restored, too. Those of items that had not begun may be missing.
        if (performs && !step.dropped() && begins_items(definition, step) && !planted.restore_without_doubt) step.set_doubtful(true);
        if (failed || step.kind() != v1::STEP_KIND_CALL) break;  // its end names the step already
        if (planted.restore_without_doubt) {
          step.set_state(v1::STEP_STATE_PENDING);
          break;
        }
        // A dropped one is performed no more, unless that it was dropped never counted.
        undoing || step.dropped() ? may_be_undone(step, backup_unix_ms, undoing ? performs : counted_until_unix_ms.has_value())
                                  : may_be_performed(step, backup_unix_ms);
        break;
    }
  }
  // What callbacks have said since the backup, or before it without effect, may come again by other texts.
  auto& done = *record.mutable_actions();
  done.erase(std::remove_if(done.begin(), done.end(), [](const v1::ActionDone& one) { return is_callback_token(one.token()); }),
             done.end());
  const auto waits = record.state() == v1::TASK_STATE_PENDING || has_ended(record) || sleeps(record);
  record.set_due_unix_ms(record.scheduled() ? record.start_at_unix_ms() : waits ? 0 : to_unix_ms(now));
  // A receiver drops sequences that it has seen, and may have seen later ones than the backup holds.
  if (record.has_reply()) record.set_status_sequence(record.status_sequence() + rise.status_sequence);
  record.set_version(record.version() + 1);
  return true;
}

}  // namespace fairlead::core
