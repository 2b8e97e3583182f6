// Leases with heartbeats, and the progress that agents of long steps report.

#include <algorithm>

#include "actors/core/task/machine.hpp"

namespace fairlead::core {

// ---- the record ----

std::int64_t lease_end(const v1::StepRecord& step) {
  if (step.heartbeat_by_unix_ms() == 0) return step.complete_by_unix_ms();
  return std::min(step.heartbeat_by_unix_ms(), step.complete_by_unix_ms());
}

void end_lease(v1::StepRecord& step) {
  step.clear_complete_by_unix_ms();
  step.clear_heartbeat_by_unix_ms();
}

void forget_progress(v1::StepRecord& step, decision& out) {
  drop_payload(step.progress().checkpoint(), out);
  step.clear_progress();
}

// ---- events ----

/// The same fence as for outcomes, with one exception: a lease that is over is not renewed, even if its end has not been decided yet. The
/// agent relies on the end that it was told, and has stopped.
void task_machine::on(const attempt_heartbeat& e) {
  auto* step = find(e.step);
  if (step == nullptr || !is_out(*step, e.direction, e.attempt)) return;
  if (now_ms() >= lease_end(*step)) return;
  out_.accepted = true;
  if (step->heartbeat_by_unix_ms() != 0) {
    // Never earlier than before: the clock may have been set back, and the agent relies on the promised lease.
    const auto from = planted(&planted_faults::renew_too_long) ? step->heartbeat_by_unix_ms() : now_ms();
    const auto until = std::min(step->complete_by_unix_ms(), from + heartbeat_of(*step, e.direction));
    if (until > step->heartbeat_by_unix_ms() && !planted(&planted_faults::forget_heartbeat_lease)) {
      step->set_heartbeat_by_unix_ms(until);
      out_.changed = true;
    }
  }
  // A look-up has no progress of its own, and must not drop the checkpoint of the perform in doubt.
  if (!e.has_progress || e.direction == v1::DIRECTION_LOOKUP) return;
  // An overtaken heartbeat reports older progress.
  const auto& told = step->progress();
  if (told.direction() == e.direction && told.attempt() == e.attempt && told.sequence() >= e.sequence && told.sequence() != 0) return;
  out_.changed = true;
  if (step->progress().direction() != e.direction) forget_progress(*step, out_);
  auto& progress = *step->mutable_progress();
  if (progress.attempt() != e.attempt) {
    // Percent and note of another attempt say nothing of this one; the checkpoint still does.
    progress.clear_percent();
    progress.clear_note();
  }
  progress.set_attempt(e.attempt);
  progress.set_sequence(e.sequence);
  progress.set_direction(e.direction);
  progress.set_at_unix_ms(now_ms());
  if (e.percent) progress.set_percent(*e.percent);
  if (!e.note.empty()) progress.set_note(e.note);
  if (e.checkpoint.empty()) return;
  drop_payload(progress.checkpoint(), out_);
  set_payload(record_, *progress.mutable_checkpoint(), e.checkpoint, out_);
}

// ---- leases ----

/// A look-up is short and needs no heartbeats.
std::int64_t task_machine::heartbeat_of(const v1::StepRecord& step, v1::Direction direction) const {
  return direction == v1::DIRECTION_LOOKUP ? 0 : definition_of(step).heartbeat_ms();
}

void task_machine::begin_lease(v1::StepRecord& step, v1::Direction direction) {
  const auto complete_by = now_ms() + timeout_of(step, direction);
  step.set_complete_by_unix_ms(complete_by);
  const auto heartbeat_ms = heartbeat_of(step, direction);
  if (heartbeat_ms > 0)
    step.set_heartbeat_by_unix_ms(std::min(complete_by, now_ms() + heartbeat_ms));
  else
    step.clear_heartbeat_by_unix_ms();
  if (direction == v1::DIRECTION_PERFORM && step.key_used_at_unix_ms() == 0) step.set_key_used_at_unix_ms(now_ms());
  if (direction == v1::DIRECTION_UNDO && step.undo_key_used_at_unix_ms() == 0) step.set_undo_key_used_at_unix_ms(now_ms());
}

/// False: the checkpoint could not be read.
bool task_machine::add_heartbeat(const v1::StepRecord& step, v1::Perform& message) {
  if (step.heartbeat_by_unix_ms() != 0) {
    message.set_heartbeat_ms(heartbeat_of(step, step.direction()));
    message.set_heartbeat_by_unix_ms(step.heartbeat_by_unix_ms());
  }
  if (planted(&planted_faults::forget_checkpoint)) return true;
  if (!step.progress().has_checkpoint() || step.progress().direction() != step.direction()) return true;
  const auto checkpoint = text_of(step.progress().checkpoint());
  if (!checkpoint) return false;
  message.set_checkpoint(std::string{*checkpoint});
  return true;
}

v1::Fault task_machine::fault_of_expiry(const v1::StepRecord& step) const {
  v1::Fault out;
  out.set_kind(v1::FAULT_KIND_IN_DOUBT);
  if (lease_end(step) < step.complete_by_unix_ms()) {
    out.set_code("heartbeat_missed");
    out.set_message("agent instance " + step.instance() + " sent no heartbeat for " +
                    format_duration(heartbeat_of(step, step.direction())));
  } else {
    out.set_code("lease_expired");
    out.set_message("agent instance " + step.instance() + " gave no outcome before complete_by");
  }
  return out;
}

}  // namespace fairlead::core
