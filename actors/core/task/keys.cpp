// Idempotency keys that services forget after a time. Until then a key prevents that a repeated attempt is done twice.

#include "actors/core/task/machine.hpp"
#include "actors/core/waits.hpp"

namespace fairlead::core {

void raise_generation(v1::StepRecord& step, decision& out) {
  step.set_generation(step.generation() + 1);
  step.clear_key_used_at_unix_ms();
  step.clear_undo_key_used_at_unix_ms();
  step.clear_undo_doubtful();
  forget_progress(step, out);
  if (step.has_fault()) step.mutable_fault()->clear_key_spent();
  step.clear_next_key_in_doubt();
  // Callbacks name the generation: none of those to come counts.
  step.clear_awaits_callback();
  drop_payload(step.early_answer().output(), out);
  step.clear_early_answer();
}

void pass_to_next_key(v1::StepRecord& step, decision& out) {
  const auto undo_doubtful = step.undo_doubtful();
  const auto undo_key_used_at = step.undo_key_used_at_unix_ms();
  raise_generation(step, out);
  if (!undo_doubtful) return;
  step.set_undo_doubtful(true);
  step.set_undo_key_used_at_unix_ms(undo_key_used_at);
}

void note_undo_ended(v1::StepRecord& step, bool doubt) {
  if (doubt) step.set_undo_doubtful(true);
  // Nothing has happened under the key so far: the key counts as unused.
  if (!step.undo_doubtful()) step.clear_undo_key_used_at_unix_ms();
}

std::int64_t task_machine::key_valid_for_ms(const v1::StepRecord& step, v1::Direction direction) const {
  return ctx_.agents->key_valid_for_ms(definition_of(step).agent(), call_of(step, direction));
}

/// The service may forget the key before a lease that begins at `at_ms` is over.
bool task_machine::key_runs_out(const v1::StepRecord& step, v1::Direction direction, std::int64_t at_ms) const {
  const auto undo = direction == v1::DIRECTION_UNDO;
  const auto used_at = undo ? step.undo_key_used_at_unix_ms() : step.key_used_at_unix_ms();
  if (used_at == 0 || planted(&planted_faults::keep_expired_key)) return false;
  const auto valid_for_ms = key_valid_for_ms(step, direction);
  // After the clock was set back, the age of the key is unknown.
  return valid_for_ms > 0 &&
         (set_back_since(used_at, at_ms, small_setting_ms) || at_ms + timeout_of(step, direction) - used_at > valid_for_ms);
}

/// Whether the step, whose slot is taken, may be performed or undone now. If nothing has happened under the key, a perform gets another
/// key, and an undo's key counts as unused.
bool task_machine::key_holds(std::uint32_t index, v1::Direction direction) {
  auto& step = at(index);
  if (!key_runs_out(step, direction, now_ms())) return true;
  if (direction == v1::DIRECTION_PERFORM && !step.doubtful()) {
    raise_generation(step, out_);
    return true;
  }
  if (direction == v1::DIRECTION_UNDO && !step.undo_doubtful()) return true;
  ctx_.agents->release(holder_of(index), {});
  key_expired(index, direction);
  return false;
}

/// The step is in doubt, and its key no longer prevents a second effect: only a look-up or an operator can continue.
void task_machine::key_expired(std::uint32_t index, v1::Direction direction) {
  auto& step = at(index);
  const auto since_backup = is_of_restore(step.fault());
  const auto undo = direction == v1::DIRECTION_UNDO;
  auto why = "its service honours an idempotency key for " + format_duration(key_valid_for_ms(step, direction)) + " and got this key at " +
             format_utc(undo ? step.undo_key_used_at_unix_ms() : step.key_used_at_unix_ms()) +
             ", so another attempt might carry it out twice; the last fault was " + step.fault().code() +
             (step.fault().message().empty() ? "" : ": " + step.fault().message());
  step.set_direction(direction);
  step.clear_not_before_unix_ms();
  if (!undo && step.state() != v1::STEP_STATE_IN_DOUBT) move_step(record_, index, step_moves::doubt, ctx_.now, out_);
  note(v1::EVENT_KIND_STEP_KEY_EXPIRED, index, why);
  auto& fault = *step.mutable_fault();
  fault.Clear();
  fault.set_kind(v1::FAULT_KIND_IN_DOUBT);
  fault.set_code(std::string{since_backup ? restored_key_code : key_expired_code});
  fault.set_message(std::move(why));
  give_up(index);
}

/// Whether the step, whose slot is taken, may be performed now after a restore from a backup. If the agent can look the call up, it is
/// asked first. Otherwise the step is sent again under its key, unless the workflow says that doubt is for an operator.
bool task_machine::settled_since_backup(std::uint32_t index) {
  const auto& step = at(index);
  if (!step.doubtful() || !is_of_restore(step.fault())) return true;
  const auto& definition = definition_of(step);
  if (may_be_repeated(definition.in_doubt()) && !ctx_.agents->looks_up(definition.agent(), definition.call())) return true;
  ctx_.agents->release(holder_of(index), {});
  if (step.state() != v1::STEP_STATE_IN_DOUBT) move_step(record_, index, step_moves::doubt, ctx_.now, out_);
  give_up(index);
  return false;
}

/// The agent was asked because of a restore.
bool task_machine::asked_since_backup(const v1::StepRecord& step) {
  return step.direction() == v1::DIRECTION_LOOKUP && is_of_restore(step.fault());
}

/// The agent says: never performed under the key in the backup. The shard that went on after the backup may have learned the same and
/// performed the step under the next key, so that key is in doubt as well. The step is sent under the next key, which is safe while the
/// service honours it, or looked up once more if it must not be sent.
bool task_machine::next_key_since_backup(std::uint32_t index) {
  auto& step = at(index);
  if (!is_of_restore(step.fault()) && !step.next_key_in_doubt()) return false;
  const auto used_at = step.key_used_at_unix_ms();
  raise_generation(step, out_);
  step.set_key_used_at_unix_ms(used_at);
  const auto may_be_sent = may_be_repeated(definition_of(step).in_doubt());
  if (may_be_sent && goes_forward(step) && !drains(step) && all_left(step) && !key_runs_out(step, v1::DIRECTION_PERFORM, now_ms())) {
    step.clear_fault();
    step.clear_given_up();
    step.set_direction(v1::DIRECTION_PERFORM);
    move_step(record_, index, step_moves::disprove, ctx_.now, out_);
    return true;
  }
  auto& fault = *step.mutable_fault();
  fault.Clear();
  fault.set_kind(v1::FAULT_KIND_IN_DOUBT);
  fault.set_code(std::string{restored_next_code});
  fault.set_message(
      "the agent says that the step never happened with the key in the backup; it may have happened since, with the next key");
  look_up(index);
  return true;
}

/// The agent does not know. A step in doubt because of a restore is sent again under its key, as if nobody could be asked.
bool task_machine::goes_on_since_backup(std::uint32_t index) {
  auto& step = at(index);
  if (!goes_forward(step) || drains(step) || step.fault().code() != restored_code) return false;
  if (!may_be_repeated(definition_of(step).in_doubt())) return false;
  step.clear_fault();
  // Whatever the next attempts end with: a later look-up may say that nothing has happened under this key.
  step.set_next_key_in_doubt(true);
  step.set_direction(v1::DIRECTION_PERFORM);
  move_step(record_, index, step_moves::retry, ctx_.now, out_);
  note(v1::EVENT_KIND_STEP_RETRIED, index, "the result of the look-up is unknown; the step is sent again with the same key");
  return true;
}

}  // namespace fairlead::core
