// Hands attempts over and takes their ends, in all directions.

#include <algorithm>

#include "actors/core/task/document.hpp"
#include "actors/core/task/machine.hpp"
#include "actors/core/task/task.hpp"

namespace fairlead::core {

v1::HistoryEvent& task_machine::note(v1::EventKind kind, std::uint32_t index, std::string detail) {
  const auto& step = at(index);
  auto& event = add_event(record_, kind, index + 1, attempt_of(step, step.direction()), ctx_.now, std::move(detail));
  if (step.direction() != v1::DIRECTION_PERFORM) event.set_direction(step.direction());
  return event;
}

// ---- hand over ----

void task_machine::start_perform(std::uint32_t index) {
  if (at(index).kind() != v1::STEP_KIND_CALL) return start_own(index);
  if (waits_itself(at(index)) || take_early_answer(index)) return;
  if (at(index).until_open()) {
    ask_until(index);
    // A round that ended while the task was stopped: the next one may begin now.
    const auto& decided = at(index);
    if (stopped(decided) || decided.state() != v1::STEP_STATE_PENDING || decided.until_open() || waits_itself(decided)) return;
  }
  if (!is_wanted(index)) return;
  const auto instance = claim_with_input(index, v1::DIRECTION_PERFORM);
  if (!instance || !key_holds(index, v1::DIRECTION_PERFORM) || !settled_since_backup(index) || !input_fits(index)) return;
  auto& step = at(index);
  if (step.started_at_unix_ms() == 0) step.set_started_at_unix_ms(now_ms());
  begin_attempt(index, v1::DIRECTION_PERFORM, *instance);
  move_step(record_, index, step_moves::start, ctx_.now, out_);
  note(v1::EVENT_KIND_STEP_STARTED, index);
  hand_over(index);
  if (planted(&planted_faults::lose_lease)) end_lease(step);
}

void task_machine::start_lookup(std::uint32_t index) {
  const auto instance = claim_with_input(index, v1::DIRECTION_LOOKUP);
  if (!instance) return;
  begin_attempt(index, v1::DIRECTION_LOOKUP, *instance);
  note(v1::EVENT_KIND_STEP_STARTED, index);
  hand_over(index);
}

void task_machine::start_undo(std::uint32_t index) {
  const auto instance = claim_with_input(index, v1::DIRECTION_UNDO);
  if (!instance || !key_holds(index, v1::DIRECTION_UNDO)) return;
  auto& step = at(index);
  begin_attempt(index, v1::DIRECTION_UNDO, *instance);
  if (step.state() != v1::STEP_STATE_UNDOING) move_step(record_, index, step_moves::undo, ctx_.now, out_);
  note(v1::EVENT_KIND_STEP_STARTED, index);
  hand_over(index);
}

// ---- slots ----

const std::string& task_machine::call_of(const v1::StepRecord& step, v1::Direction direction) const {
  return direction == v1::DIRECTION_UNDO ? definition_of(step).undo().call() : definition_of(step).call();
}

std::int64_t task_machine::timeout_of(const v1::StepRecord& step, v1::Direction direction) const {
  return direction == v1::DIRECTION_UNDO ? definition_of(step).undo().timeout_ms() : definition_of(step).timeout_ms();
}

slot_request task_machine::request_for(std::uint32_t index, v1::Direction direction, std::string_view input) {
  const auto& step = at(index);
  const auto& definition = definition_of(step);
  return {holder_of(index),
          definition.agent(),
          call_of(step, direction),
          definition.labels_size() > 0 ? &definition.labels() : nullptr,
          input,
          direction == v1::DIRECTION_LOOKUP};
}

/// An instance for the step, whose input is then in the record; nullopt: the step waits, or its input could not be rendered.
std::optional<agent_instance> task_machine::claim_with_input(std::uint32_t index, v1::Direction direction) {
  const auto& step = at(index);
  // A look-up uses the input of the perform.
  const auto& kept = direction == v1::DIRECTION_UNDO ? step.undo_input() : step.input();
  const auto missing = direction == v1::DIRECTION_UNDO     ? !step.has_undo_input()
                       : direction == v1::DIRECTION_LOOKUP ? false
                                                           : !step.has_input();
  const auto part = part_of_input(direction);
  if (missing && !template_of(step, direction).plain()) {
    ask_for(index, part);
    return std::nullopt;
  }
  // The slot first: of a thousand parallel steps, those without a slot must not cost a rendering each.
  std::optional<std::string> rendered;
  std::string_view counted_by;
  if (ctx_.agents->wants_input(definition_of(step).agent(), call_of(step, direction))) {
    if (missing) {
      rendered = render(index, part, {});
      if (!rendered) return std::nullopt;
      counted_by = *rendered;
    } else {
      const auto text = text_of(kept);
      if (!text) return std::nullopt;
      counted_by = *text;
    }
  }
  auto instance = claim(index, direction, counted_by);
  if (!instance || !missing) return instance;
  if (!rendered) rendered = render(index, part, {});
  if (!rendered) {
    ctx_.agents->release(holder_of(index), {});
    return std::nullopt;
  }
  auto& target = direction == v1::DIRECTION_UNDO ? *at(index).mutable_undo_input() : *at(index).mutable_input();
  set_payload(record_, target, std::move(*rendered), out_);
  return instance;
}

std::optional<agent_instance> task_machine::claim(std::uint32_t index, v1::Direction direction, std::string_view input) {
  const auto request = request_for(index, direction, input);
  // Steps with the same need find no more than the first of them did.
  const auto plain = request.labels == nullptr && input.empty();
  const need needed{request.agent, request.call, request.lookup};
  if (plain && std::find(full_.begin(), full_.end(), needed) != full_.end()) {
    out_.found_no_instance = true;
    return std::nullopt;
  }
  // A step that found none is not asked for again in this decision.
  if (tried_.size() > index && tried_[index]) {
    out_.found_no_instance = true;
    return std::nullopt;
  }
  const auto answer = ctx_.agents->claim(request);
  if (!answer.instance) {
    if (plain) {
      full_.push_back(needed);
    } else {
      tried_.resize(steps());
      tried_[index] = true;
    }
    out_.waiting.push_back({index, answer.queue});
    out_.found_no_instance = true;
  }
  return answer.instance;
}

/// From here on the attempt is in the row.
void task_machine::begin_attempt(std::uint32_t index, v1::Direction direction, const agent_instance& instance) {
  auto& step = at(index);
  step.set_direction(direction);
  if (retry_clock_runs(step)) count_blocked(index);
  const auto repeated = planted(&planted_faults::reuse_attempt) && attempt_of(step, direction) != 0;
  set_attempt(step, direction, attempt_of(step, direction) + (repeated ? 0 : 1));
  begin_lease(step, direction);
  step.clear_not_before_unix_ms();
  step.clear_held_until_unix_ms();
  step.set_instance(std::string{instance.name});
  step.set_incarnation(instance.incarnation);
  step.clear_given_up();
  out_.changed = true;
}

/// The message for an attempt that the record holds as in progress.
void task_machine::hand_over(std::uint32_t index) {
  auto& step = at(index);
  // For a repeated hand-over: the agent may receive this attempt for the first time.
  bring_lease_near(step);
  auto& out = out_.performs.emplace_back();
  out.instance = step.instance();
  if (!fill(index, out.message)) out_.performs.pop_back();
}

/// False: a payload could not be read.
bool task_machine::fill(std::uint32_t index, v1::Perform& message) {
  const auto& step = at(index);
  message.set_task_number(record_.number());
  message.set_task_id(record_.id());
  message.set_workflow(record_.workflow());
  message.set_step(index);
  message.set_step_path(step.path());
  message.set_direction(step.direction());
  message.set_attempt(attempt_of(step, step.direction()));
  message.set_complete_by_unix_ms(step.complete_by_unix_ms() + (planted(&planted_faults::recover_early) ? 5'000 : 0));
  message.set_budget_ms(step.complete_by_unix_ms() - now_ms());
  const auto undo = step.direction() == v1::DIRECTION_UNDO;
  message.set_call(call_of(step, step.direction()));
  const auto& asked = undo && !planted(&planted_faults::undo_with_perform_input) ? step.undo_input() : step.input();
  const auto mixed_up = planted(&planted_faults::read_other_step) && index > 0 && at(index - 1).has_input();
  const auto input = text_of(mixed_up ? at(index - 1).input() : asked);
  if (!input) return false;
  message.set_input(std::string{*input});
  // Since a restore steps are looked up that have never been handed over here. What cannot be rendered now is asked by its key alone.
  if (step.direction() == v1::DIRECTION_LOOKUP && !step.has_input() && template_of(step, v1::DIRECTION_PERFORM).plain()) {
    const task_document own{record_, *ctx_.payloads, out_.payloads, view_for(index, v1::EXPRESSION_PART_WITH)};
    if (auto rendered = template_of(step, v1::DIRECTION_PERFORM).render(own, {}); rendered && !own.failure())
      message.set_input(std::move(*rendered));
  }
  message.set_idempotency_key(
      idempotency_key(record_, step, planted(&planted_faults::reuse_key) ? v1::DIRECTION_PERFORM : step.direction()));
  if (step.direction() != v1::DIRECTION_PERFORM) message.set_perform_key(perform_key_of(step));
  if (undo) {
    message.set_in_doubt(step.doubtful());
    const auto output = text_of(step.output());
    if (!output) return false;
    message.set_perform_output(output->empty() || planted(&planted_faults::undo_without_output) ? "null" : std::string{*output});
  }
  return add_heartbeat(step, message);
}

// ---- ends ----

/// The work of the step is done: a step that is repeated may go on.
void task_machine::complete(std::uint32_t index, const std::string& output) {
  definition_of(at(index)).has_repeat() ? end_round(index, output) : finish(index, output);
}

void task_machine::finish(std::uint32_t index, const std::string& output) {
  auto& step = at(index);
  const auto own = step.kind() != v1::STEP_KIND_CALL;
  const auto performed = step.state() == v1::STEP_STATE_RUNNING || (own && step.state() == v1::STEP_STATE_PENDING);
  move_step(record_, index, performed ? step_moves::complete : step_moves::settle, ctx_.now, out_);
  keep_result(index, output);
  // An input from plain paths can be rendered again byte for byte; an input from the worker or an operator cannot. What the Scheduler does
  // itself has no input that anybody asks for.
  if (own || (usable() && template_of(step, v1::DIRECTION_PERFORM).plain() && !step.input_edited())) {
    drop_payload(step.input(), out_);
    step.clear_input();
  }
  note(v1::EVENT_KIND_STEP_COMPLETED, index);
}

/// The step waits for nothing any more, and nothing about it is in doubt.
void task_machine::keep_result(std::uint32_t index, const std::string& output) {
  auto& step = at(index);
  step.set_direction(v1::DIRECTION_PERFORM);
  const auto mixed_up = planted(&planted_faults::store_other_output) && step.has_input() && step.input().slot() == 0;
  auto json = mixed_up ? step.input().json() : output.empty() ? "null" : output;
  if (step.has_output()) drop_payload(step.output(), out_);
  set_payload(record_, *step.mutable_output(), std::move(json), out_);
  step.set_ended_at_unix_ms(now_ms());
  end_lease(step);
  forget_progress(step, out_);
  step.clear_not_before_unix_ms();
  step.clear_doubtful();
  step.clear_given_up();
  step.clear_failing_since_unix_ms();
  step.clear_next_key_in_doubt();
  step.clear_passed_over();
  step.clear_until_open();
  step.clear_awaits_callback();
  if (step.fault().code() == callback_awaited_code) step.clear_fault();
}

/// Applies the verdict about a perform that was in doubt.
void task_machine::looked_up(std::uint32_t index, v1::LookupVerdict verdict, const std::string& output) {
  auto& step = at(index);
  end_lease(step);
  step.clear_not_before_unix_ms();
  out_.changed = true;
  if (verdict == v1::LOOKUP_VERDICT_DONE) {
    note(v1::EVENT_KIND_STEP_SETTLED, index, "look-up: the step was carried out");
    complete(index, output);
    return;
  }
  if (verdict != v1::LOOKUP_VERDICT_NEVER_HAPPENED) {
    if (goes_on_since_backup(index)) return;
    // The direction stays `lookup`: one look-up is enough.
    step.set_given_up(true);
    note(v1::EVENT_KIND_STEP_GIVEN_UP, index, "look-up: unknown");
    if (goes_forward(step)) answer_given_up(index);
    return;
  }
  note(v1::EVENT_KIND_STEP_SETTLED, index, "look-up: the step never happened");
  if (next_key_since_backup(index)) return;
  // An attempt was made all the same.
  if (definition_of(step).undo().also_if_failed()) step.set_failure_count(std::max(step.failure_count(), 1U));
  // The first look-up has left the fault of the attempt in the record; one that failed may have left its own.
  const auto asked_once = attempt_of(step, v1::DIRECTION_LOOKUP) - excused_of(step, v1::DIRECTION_LOOKUP) <= 1;
  // The agent's promise holds for ever: nothing can be performed under the old key any more.
  pass_to_next_key(step, out_);
  step.set_direction(v1::DIRECTION_PERFORM);
  step.clear_doubtful();
  step.clear_given_up();
  // A task that is to fail may go forward after all.
  const auto never_again = drains(step) && !(record_.failing() && goes_forward(step));
  if (never_again || (asked_once ? attempts_left(step) : all_left(step))) {
    move_step(record_, index, step_moves::disprove, ctx_.now, out_);
    return;
  }
  move_step(record_, index, step_moves::exhaust, ctx_.now, out_);
  give_up(index);
}

/// The process that held the attempt is known to be dead.
void task_machine::lose(std::uint32_t index) {
  ctx_.agents->release(holder_of(index), {slot_end::lost, 0, 0});
  ++out_.lost;
  v1::Fault fault;
  fault.set_kind(v1::FAULT_KIND_IN_DOUBT);
  fault.set_code(std::string{agent_lost_code});
  fault.set_message("agent instance " + at(index).instance() + " ended while it held the step");
  // The service is not known to be at fault, so waiting gains nothing.
  end_badly(index, fault, v1::EVENT_KIND_STEP_IN_DOUBT, true);
}

/// The attempt in progress was never begun: the step returns to its earlier state, and another attempt may be handed over at once.
void task_machine::hand_back(std::uint32_t index, std::string why) {
  auto& step = at(index);
  ctx_.agents->release(holder_of(index), {});
  end_lease(step);
  excuse_one(step, step.direction());
  if (step.direction() == v1::DIRECTION_UNDO) note_undo_ended(step, false);
  out_.changed = true;
  if (step.direction() == v1::DIRECTION_PERFORM) {
    // A task that is being undone performs nothing more; an earlier attempt may have been performed.
    const auto doubt = drains(step) && step.doubtful();
    move_step(record_, index, doubt ? step_moves::doubt : step_moves::hand_back, ctx_.now, out_, "refused");
    // Its input reads the task's end, which may be another one before it is handed over again.
    const auto unbegun = attempt_of(step, v1::DIRECTION_PERFORM) == excused_of(step, v1::DIRECTION_PERFORM) && step.failure_count() == 0 &&
                         step.rounds() == 0;
    if (of_end(step) && unbegun && !step.doubtful()) step.clear_started_at_unix_ms();
  }
  note(v1::EVENT_KIND_STEP_RETRIED, index, std::move(why));
  take_early_answer(index);
}

/// Counts the attempt in progress at its instance, if the instance is connected, and against limits. False: the input cannot be read or the
/// definition is missing, so the content of the hand-over is unknown.
bool task_machine::hold(std::uint32_t index, bool there) {
  const auto& step = at(index);
  if (!ctx_.definition->has_step(step.definition())) return false;
  std::string_view counted_by;
  if (ctx_.agents->wants_input(definition_of(step).agent(), call_of(step, step.direction()))) {
    const auto text = text_of(step.direction() == v1::DIRECTION_UNDO ? step.undo_input() : step.input());
    if (!text) return false;
    counted_by = *text;
  }
  ctx_.agents->hold(there ? std::string_view{step.instance()} : std::string_view{}, request_for(index, step.direction(), counted_by));
  return true;
}

/// Uses the record alone, so that a restart in between does not matter.
std::int64_t task_machine::since_hand_over(const v1::StepRecord& step) const {
  return std::max<std::int64_t>(now_ms() - (step.complete_by_unix_ms() - timeout_of(step, step.direction())), 0);
}

void task_machine::resume(std::uint32_t index) {
  const auto& step = at(index);
  if (attempt_out(step)) {
    const auto known = ctx_.agents->incarnation_of(step.instance());
    if (known && *known > step.incarnation()) {
      lose(index);
      return;
    }
    // The instance is not connected (yet), or an older process reports late: the lease runs on, and the process may return before its end.
    const auto there = known == step.incarnation();
    if (hold(index, there) && there) hand_over(index);
  } else if (step.not_before_unix_ms() != 0 && !stopped(step)) {
    hint(index);
  }
}

}  // namespace fairlead::core
