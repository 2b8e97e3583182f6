// The answer to a bad end: another attempt after a backoff, a look-up, a long wait, undo, or an operator.

#include <algorithm>

#include "actors/core/retry.hpp"
#include "actors/core/task/machine.hpp"
#include "actors/core/task/task.hpp"

namespace fairlead::core {

namespace {

constexpr std::int64_t longest_retry_after_ms = 24LL * 3'600'000;  // a longer Retry-After is taken for an error of the service

}  // namespace

bool task_machine::attempts_left(const v1::StepRecord& step) const {
  const auto limit = step.direction() == v1::DIRECTION_UNDO ? definition_of(step).undo().attempts() : definition_of(step).attempts();
  const auto counted = attempt_of(step, step.direction()) - excused_of(step, step.direction());
  return counted + (planted(&planted_faults::one_attempt_less) ? 1 : 0) < limit + (planted(&planted_faults::one_attempt_more) ? 1 : 0);
}

const v1::Backoff& task_machine::backoff_of(const v1::StepRecord& step) const {
  return step.direction() == v1::DIRECTION_UNDO ? definition_of(step).undo().backoff() : definition_of(step).backoff();
}

std::int64_t task_machine::cool_off_of(const v1::StepRecord& step) const {
  const auto own_ms = definition_of(step).cool_off_ms();
  return own_ms != 0 ? own_ms : ctx_.definition->definition().cool_off_ms();
}

/// How long the step waits after a bad end: its backoff, or the service's Retry-After if that is longer.
std::int64_t task_machine::wait_after(std::uint32_t index, const v1::Fault& fault) const {
  const auto& step = record_.steps(static_cast<int>(index));
  const auto direction = step.direction();
  const jitter_seed seed{record_.number(), index, attempt_of(step, direction) + (static_cast<std::uint32_t>(direction) << 20)};
  auto wait_ms = backoff_ms(backoff_of(step), failures_of(step, direction), seed);
  if (planted(&planted_faults::long_backoff)) wait_ms *= 3;
  if (planted(&planted_faults::short_backoff)) wait_ms /= 4;
  if (fault.retry_after_ms() <= 0 || planted(&planted_faults::ignore_retry_after)) return wait_ms;
  auto asked_ms = spread_ms(std::min(fault.retry_after_ms(), longest_retry_after_ms), seed);
  // At its timeout the task is answered as its workflow says, so the wait ends there.
  const auto limit = times_out_at(record_, ctx_.definition->definition());
  if (limit > 0 && record_.state() == v1::TASK_STATE_RUNNING && !record_.timed_out())
    asked_ms = std::min(asked_ms, std::max<std::int64_t>(limit - now_ms(), 0));
  return std::max(wait_ms, asked_ms);
}

/// Twice the longest wait that the step may have been given, so that a small setting of the clock cuts nothing short.
std::int64_t task_machine::longest_wait_of(const v1::StepRecord& step) const {
  const auto& policy = backoff_of(step);
  const auto asked_ms = std::min(step.fault().retry_after_ms(), longest_retry_after_ms);
  return 2 * std::max<std::int64_t>({policy.first_ms(), policy.max_ms(), cool_off_of(step), asked_ms});
}

void task_machine::wait_for_recovery(std::uint32_t index, std::int64_t wait_ms) {
  if (planted(&planted_faults::lose_recovery) && wait_ms != 0) return;
  at(index).set_not_before_unix_ms(now_ms() + wait_ms);
  if (wait_ms == 0)
    recover_if_due(index);
  else
    hint(index);
}

void task_machine::hint(std::uint32_t index) {
  const auto& step = at(index);
  v1::RecoveryHint out;
  out.set_due_unix_ms(step.not_before_unix_ms());
  auto* recover = out.mutable_recover();
  recover->set_task_number(record_.number());
  recover->set_step(index + 1);
  recover->set_direction(step.direction());
  recover->set_attempt(attempt_of(step, step.direction()));
  recover->set_failure_count(failures_of(step, step.direction()));
  out_.hints.push_back(std::move(out));
}

/// A lease ends also while the task is parked: otherwise the agent's slot would never come back. Another attempt waits for the operator.
void task_machine::recover_if_due(std::uint32_t index) {
  auto& step = at(index);
  if (attempt_out(step) && now_ms() >= lease_end(step)) {
    const auto fault = fault_of_expiry(step);
    ctx_.agents->release(holder_of(index), {slot_end::expired, 1, 0, fault.code()});
    ++out_.expired;
    end_badly(index, fault, v1::EVENT_KIND_STEP_EXPIRED);
  } else if (!stopped() && step.not_before_unix_ms() != 0 &&
             now_ms() >= step.not_before_unix_ms() + (planted(&planted_faults::late_recovery) ? 20'000 : 0)) {
    retry(index);
  }
}

/// Only a bug leads here: each waiting step is treated as the worst case that it may be, and goes on in the usual ways.
void task_machine::on(const wait_lost&) {
  for (std::uint32_t i = 0; i < steps() && !stopped(); ++i) {
    const auto& step = at(i);
    if (under_way(step)) continue;
    if (step.state() == v1::STEP_STATE_RUNNING) {
      v1::Fault fault;
      fault.set_kind(v1::FAULT_KIND_IN_DOUBT);
      fault.set_code("lease_lost");
      fault.set_message("the attempt has no lease that would end");
      ctx_.agents->release(holder_of(i), {slot_end::lost, 0, 0});
      end_badly(i, fault, v1::EVENT_KIND_STEP_IN_DOUBT, true);
      continue;
    }
    const auto failed = step.state() == v1::STEP_STATE_FAILED || step.state() == v1::STEP_STATE_IN_DOUBT;
    const auto looked_up_now = step.direction() == v1::DIRECTION_LOOKUP && !step.given_up();
    if (record_.state() != v1::TASK_STATE_RUNNING || !failed || looked_up_now) continue;
    if (step.given_up())
      answer_given_up(i);
    else if (attempts_left(step))
      wait_for_recovery(i, 0);
    else
      give_up(i);
  }
  advance();
}

/// Another attempt may start; `advance` hands it over.
void task_machine::retry(std::uint32_t index) {
  auto& step = at(index);
  step.clear_not_before_unix_ms();
  step.clear_given_up();
  out_.changed = true;
  // Under the same key the service would only repeat its answer. In doubt the key stays: it alone prevents a second effect.
  if (step.direction() == v1::DIRECTION_PERFORM && step.fault().key_spent() && !step.doubtful()) raise_generation(step, out_);
  if (step.direction() == v1::DIRECTION_PERFORM) move_step(record_, index, step_moves::retry, ctx_.now, out_);
  note(v1::EVENT_KIND_STEP_RETRIED, index);
}

/// No further attempt is made automatically. A step in doubt is looked up first, if the agent can.
void task_machine::give_up(std::uint32_t index) {
  auto& step = at(index);
  out_.changed = true;
  if (step.direction() == v1::DIRECTION_PERFORM && step.doubtful() &&
      ctx_.agents->looks_up(definition_of(step).agent(), definition_of(step).call())) {
    look_up(index);
    return;
  }
  step.set_given_up(true);
  note(v1::EVENT_KIND_STEP_GIVEN_UP, index);
  if (record_.state() == v1::TASK_STATE_RUNNING) answer_given_up(index);
}

void task_machine::look_up(std::uint32_t index) {
  auto& step = at(index);
  if (step.state() != v1::STEP_STATE_IN_DOUBT) move_step(record_, index, step_moves::doubt, ctx_.now, out_);
  step.set_direction(v1::DIRECTION_LOOKUP);
  step.clear_not_before_unix_ms();
  step.clear_given_up();
  excuse(step, v1::DIRECTION_LOOKUP);
  out_.changed = true;
}

task_machine::answer task_machine::answer_of(const v1::StepRecord& step) const {
  const auto& definition = definition_of(step);
  const auto& workflow = ctx_.definition->definition();
  if (step.doubtful() && (definition.pivot() || definition.in_doubt() == v1::IN_DOUBT_PARK)) return answer::park;
  if (step.doubtful() && key_is_gone(step.fault())) return answer::park;
  switch (definition.on_failure() == v1::ON_FAILURE_UNSPECIFIED ? workflow.on_failure() : definition.on_failure()) {
    case v1::ON_FAILURE_UNDO: return pivot_begun() == nullptr ? answer::undo : answer::park;
    case v1::ON_FAILURE_COOL_OFF: return answer::cool_off;
    default: return answer::park;
  }
}

void task_machine::answer_given_up(std::uint32_t index) {
  if (stopped()) return;
  const auto why = why_given_up(at(index));
  switch (answer_of(at(index))) {
    case answer::park: park(record_, why, ctx_.now, out_); break;
    case answer::undo: fail(why); break;
    case answer::cool_off: cool_off(index); break;
  }
}

std::string task_machine::why_given_up(const v1::StepRecord& step) const {
  const auto& fault = step.fault();
  const auto& definition = definition_of(step);
  const auto earlier = step.doubtful() && fault.kind() != v1::FAULT_KIND_IN_DOUBT;
  auto out = "step " + step.path() + (step.doubtful() && !earlier ? " is in doubt (" : " failed (") + fault.code() + ")";
  if (step.doubtful() && key_is_gone(fault)) return out + ": " + fault.message();
  if (step.doubtful() && definition.in_doubt() == v1::IN_DOUBT_PARK)
    out += " and its workflow says in_doubt: park";
  else if (fault.kind() == v1::FAULT_KIND_PERMANENT || fault.code() == output_type_code)
    out += " and another attempt cannot help";
  else
    out += " on the last of " + std::to_string(definition.attempts()) + " attempts";
  return out + (earlier ? ", and an earlier one is in doubt: " : ": ") + fault.message();
}

void task_machine::cool_off(std::uint32_t index) {
  auto& step = at(index);
  auto wait_ms = cool_off_of(step);
  if (planted(&planted_faults::short_cool_off)) wait_ms /= 2;
  auto why = why_given_up(step);
  step.clear_given_up();
  step.set_direction(v1::DIRECTION_PERFORM);
  step.set_not_before_unix_ms(now_ms() + wait_ms);
  note(v1::EVENT_KIND_STEP_COOLING_OFF, index, "another attempt in " + format_duration(wait_ms));
  hint(index);
  // Raised once: a step that cools off for days must not raise an alert with every attempt.
  if (record_.alert() == 0 || out_.unparked)
    add_alert(record_, v1::ALERT_KIND_STEP_COOLING_OFF, step.path(), "task " + record_.id() + " waits: " + why,
              "the step is retried automatically; fairlead task retry " + record_.id() + " retries it at once", out_);
}

/// The task's own timeout has passed.
void task_machine::time_out() {
  const auto& workflow = ctx_.definition->definition();
  const auto by_deadline = record_.deadline_unix_ms() != 0 && times_out_at(record_, workflow) == record_.deadline_unix_ms();
  const auto reason = by_deadline ? "the task did not end by its deadline, " + format_utc(record_.deadline_unix_ms())
                                  : "the task did not end within its timeout of " + format_duration(workflow.timeout_ms());
  record_.set_timed_out(true);
  out_.changed = true;
  add_event(record_, v1::EVENT_KIND_TASK_TIMED_OUT, 0, 0, ctx_.now, reason);
  if (const auto* pivot = pivot_begun()) {
    add_alert(record_, v1::ALERT_KIND_TASK_TIMED_OUT, pivot->path(),
              "task " + record_.id() + " goes forward after its pivot " + pivot->path() + " though " + reason,
              "fairlead task show " + record_.id(), out_);
  } else if (workflow.on_failure() == v1::ON_FAILURE_UNDO) {
    fail(reason);
  } else {
    park(record_, reason, ctx_.now, out_);
  }
}

/// The workflow's answer is undo. The brake on mass undo may hold the task: if an operator repairs it meanwhile, no undo is needed.
void task_machine::fail(std::string reason) {
  out_.failed = true;
  if (!ctx_.hold_undo) return begin_undo(std::move(reason));
  record_.set_undo_held(true);
  add_event(record_, v1::EVENT_KIND_TASK_UNDO_HELD, 0, 0, ctx_.now, reason);
  record_.set_undo_reason(std::move(reason));
  out_.changed = true;
}

}  // namespace fairlead::core
