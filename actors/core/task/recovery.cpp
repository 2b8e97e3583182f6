// The answer to a bad end: another attempt after a backoff, a look-up, a long wait, undo, or an operator.

#include <algorithm>

#include "actors/core/retry.hpp"
#include "actors/core/task/machine.hpp"
#include "actors/core/task/reason.hpp"
#include "actors/core/task/task.hpp"
#include "messages/holds.hpp"
#include "messages/task_states.hpp"

namespace fairlead::core {

namespace {

constexpr std::int64_t longest_retry_after_ms = 24LL * 3'600'000;  // a longer Retry-After is taken for an error of the service

}  // namespace

/// Some attempt that counts as the step's last fault does has ended badly since the step was granted attempts.
bool task_machine::retry_clock_runs(const v1::StepRecord& step) const { return counted_of(step, rule_of(step)) > 0; }

/// The time that the step has waited behind an open breaker since the last look. What passed while its task was put aside does not count.
void task_machine::count_blocked(std::uint32_t index) {
  auto& step = at(index);
  const auto blocked_ms = ctx_.agents->blocked_ms(definition_of(step).agent());
  // Another process counts from its own start.
  const auto seen_ms = blocked_ms < step.blocked_seen_ms() ? 0 : step.blocked_seen_ms();
  step.set_blocked_seen_ms(blocked_ms);
  if (retry_clock_runs(step) && !was_put_aside_) add_wait(step, blocked_ms - seen_ms);
}

void task_machine::look_from_now_on() {
  if (!was_put_aside_ || put_aside(record_) || !usable()) return;
  for (std::uint32_t i = 0; i < steps(); ++i)
    if (!is_out(at(i)) && retry_clock_runs(at(i))) count_blocked(i);
}

/// A step that only waits for its service to come back gives up once its patience is over.
void task_machine::give_up_if_blocked(std::uint32_t index) {
  auto& step = at(index);
  const auto to_be_performed = step.state() == v1::STEP_STATE_PENDING && !drains(step);
  const auto waits = to_be_performed || step.state() == v1::STEP_STATE_UNDOING || to_be_looked_up(step);
  if (!waits || under_way(step) || step.given_up() || !may_go_on(step) || retry_for_of(step, rule_of(step)) == 0 || !retry_clock_runs(step))
    return;
  if (ctx_.agents->blocked_ms(definition_of(step).agent()) == step.blocked_seen_ms()) return;
  count_blocked(index);
  out_.changed = true;
  if (waited_for(step, rule_of(step)) < retry_for_of(step, rule_of(step))) return;
  if (step.direction() == v1::DIRECTION_LOOKUP) return looked_up(index, v1::LOOKUP_VERDICT_UNKNOWN, {});
  if (step.state() == v1::STEP_STATE_PENDING)
    move_step(record_, index, step.doubtful() ? step_moves::doubt : step_moves::fail, ctx_.now, out_, step.fault().code());
  give_up(index);
}

std::int64_t task_machine::cool_off_of(const v1::StepRecord& step) const {
  const auto own_ms = definition_of(step).cool_off_ms();
  return own_ms != 0 ? own_ms : ctx_.definition->definition().cool_off_ms();
}

/// How long the step waits after a bad end: its backoff, or the service's Retry-After if that is longer.
std::int64_t task_machine::wait_after(std::uint32_t index, const v1::Fault& fault) const {
  const auto& step = record_.steps(static_cast<int>(index));
  const auto direction = step.direction();
  const auto rule = rule_of(step);
  const jitter_seed seed{record_.number(), index, attempt_of(step, direction) + (static_cast<std::uint32_t>(direction) << 20)};
  auto wait_ms = backoff_ms(backoff_of(step, rule), pauses_of(step, rule), seed);
  // The last attempt comes when the time is over. A service that asks for a longer pause gets it.
  if (const auto patience_ms = retry_for_of(step, rule); patience_ms != 0)
    wait_ms = std::min(wait_ms, std::max<std::int64_t>(patience_ms - waited_for(step, rule), 1));
  if (planted(&planted_faults::long_backoff)) wait_ms *= 3;
  if (planted(&planted_faults::short_backoff)) wait_ms /= 4;
  if (fault.retry_after_ms() <= 0 || planted(&planted_faults::ignore_retry_after)) return wait_ms;
  auto asked_ms = spread_ms(std::min(fault.retry_after_ms(), longest_retry_after_ms), seed);
  // At its timeout the task is answered as its workflow says, so the wait ends there. One that is to fail has been answered.
  const auto limit = times_out_at(record_, ctx_.definition->definition());
  if (limit > 0 && record_.state() == v1::TASK_STATE_RUNNING && !record_.timed_out() && !record_.failing())
    asked_ms = std::min(asked_ms, std::max<std::int64_t>(limit - now_ms(), 0));
  return std::max(wait_ms, asked_ms);
}

/// Twice the longest wait that the step may have been given, so that a small setting of the clock cuts nothing short.
std::int64_t task_machine::longest_wait_of(const v1::StepRecord& step) const {
  const auto& policy = backoff_of(step, rule_of(step));
  const auto asked_ms = std::min(step.fault().retry_after_ms(), longest_retry_after_ms);
  return 2 * std::max<std::int64_t>({policy.first_ms(), policy.max_ms(), cool_off_of(step), asked_ms});
}

/// No further attempt is made by itself after one that has ended so.
bool task_machine::is_last(const v1::StepRecord& step, const v1::Fault& fault, bool doubt) const {
  // The workflow's author knows more of a fault that has a rule than the agent that calls it permanent.
  const auto ruled = rule_of(step) != no_rule;
  const auto permanent = (!doubt && fault.kind() == v1::FAULT_KIND_PERMANENT && !ruled) || fault.code() == output_type_code;
  return permanent || (doubt && stays_in_doubt(step)) || !attempts_left(step);
}

/// Of one that is in doubt.
bool task_machine::stays_in_doubt(const v1::StepRecord& step) const {
  const auto repeated = may_be_repeated(definition_of(step).in_doubt()) || planted(&planted_faults::repeat_in_doubt);
  return step.direction() == v1::DIRECTION_PERFORM && !repeated;
}

/// The attempt in progress has ended badly: another one follows after a wait, or the workflow's answer if none is left.
void task_machine::end_badly(std::uint32_t index, const v1::Fault& fault, v1::EventKind kind, bool at_once) {
  auto& step = at(index);
  const auto direction = step.direction();
  const auto doubt = kind != v1::EVENT_KIND_STEP_FAILED;
  set_failures(step, direction, failures_of(step, direction) + 1);
  // A fault about a forgotten key or a restore stays, whatever becomes of a look-up. The pause that follows is the look-up's all the same: by
  // what its service asked for it is told from one that a clock ahead has noted.
  if (direction != v1::DIRECTION_LOOKUP || !is_own_code(step.fault().code()))
    *step.mutable_fault() = fault;
  else
    step.mutable_fault()->set_retry_after_ms(fault.retry_after_ms());
  step.set_ended_at_unix_ms(now_ms());
  if (step.failing_since_unix_ms() == 0) step.set_failing_since_unix_ms(now_ms());
  count_by_rule(step);
  end_lease(step);
  out_.changed = true;
  if (direction == v1::DIRECTION_UNDO) note_undo_ended(step, doubt);
  if (direction == v1::DIRECTION_PERFORM) {
    if (doubt) step.set_doubtful(true);
    // One whose callback did not come has been in doubt since its agent accepted it.
    if (!doubt || step.state() != v1::STEP_STATE_IN_DOUBT)
      move_step(record_, index, doubt ? step_moves::doubt : step_moves::fail, ctx_.now, out_, fault.code());
  }
  note(kind, index, fault.code() + ": " + fault.message());
  if (direction != v1::DIRECTION_UNDO && take_early_answer(index)) return;
  // An attempt in progress when undoing began is not repeated; nothing is repeated in a task that is to fail, except look-ups.
  if (direction == v1::DIRECTION_PERFORM && drains(step)) {
    if (step.doubtful() && !doubt) move_step(record_, index, step_moves::doubt, ctx_.now, out_);
    return;
  }
  if (record_.failing() && (direction == v1::DIRECTION_UNDO || record_.terminated())) return;
  if (is_last(step, fault, doubt)) {
    if (direction == v1::DIRECTION_LOOKUP)
      looked_up(index, v1::LOOKUP_VERDICT_UNKNOWN, {});
    else
      give_up(index);
    return;
  }
  // At once, but not again and again: the step itself may be what ends the process.
  const auto wait_ms = at_once && failures_of(step, direction) == 1 ? 0 : wait_after(index, fault);
  const auto may_have_happened = direction == v1::DIRECTION_UNDO ? step.undo_doubtful() : step.doubtful();
  if (direction != v1::DIRECTION_LOOKUP && may_have_happened && key_runs_out(step, direction, now_ms() + wait_ms))
    return key_expired(index, direction);
  wait_for_recovery(index, wait_ms);
}

void task_machine::wait_for_recovery(std::uint32_t index, std::int64_t wait_ms) {
  if (planted(&planted_faults::lose_recovery) && wait_ms != 0) return;
  auto& step = at(index);
  step.set_not_before_unix_ms(now_ms() + wait_ms);
  add_wait(step, wait_ms);
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

/// A task that is to fail goes on with its look-ups alone.
bool task_machine::may_go_on(const v1::StepRecord& step) const {
  if (!record_.failing() || of_end(step)) return !stopped(step);
  return !sleeps(record_) && usable() && step.direction() == v1::DIRECTION_LOOKUP;
}

/// A lease ends also while the task is parked: otherwise the agent's slot would never come back. Another attempt waits for the operator.
void task_machine::recover_if_due(std::uint32_t index) {
  auto& step = at(index);
  if (attempt_out(step) && now_ms() >= lease_end(step)) {
    const auto fault = fault_of_expiry(step);
    ctx_.agents->release(holder_of(index), {slot_end::expired, 1, 0, fault.code()});
    ++out_.expired;
    end_badly(index, fault, v1::EVENT_KIND_STEP_EXPIRED);
  } else if (may_go_on(step) && step.not_before_unix_ms() != 0 &&
             now_ms() >= step.not_before_unix_ms() + (planted(&planted_faults::late_recovery) ? 20'000 : 0)) {
    if (step.awaits_callback())
      miss_callback(index);
    else if (child_out(step))
      go_on_with_items(index);
    else
      waits_itself(step) ? end_wait(index) : retry(index);
  }
}

/// Only a bug leads here: each waiting step is treated as the worst case that it may be, and goes on in the usual ways.
void task_machine::on(const wait_lost&) {
  for (std::uint32_t i = 0; i < steps(); ++i) {
    const auto& step = at(i);
    if (under_way(step) || stopped(step)) continue;
    if (step.state() == v1::STEP_STATE_RUNNING) {
      v1::Fault fault;
      fault.set_kind(v1::FAULT_KIND_IN_DOUBT);
      fault.set_code("lease_lost");
      fault.set_message("the attempt has no lease that would end");
      ctx_.agents->release(holder_of(i), {slot_end::lost, 0, 0});
      end_badly(i, fault, v1::EVENT_KIND_STEP_IN_DOUBT, true);
      continue;
    }
    take_up(i);
  }
  advance();
}

/// A failed step of a task that goes forward has nothing that would bring its recovery: it comes now, or once its pause is over.
void task_machine::take_up(std::uint32_t index, bool at_once, bool repeats_doubt) {
  const auto& step = at(index);
  const auto failed = step.state() == v1::STEP_STATE_FAILED || step.state() == v1::STEP_STATE_IN_DOUBT;
  if (!goes_forward(step) || under_way(step) || !failed || to_be_looked_up(step) || step.passed_over()) return;
  // Its latest end was not answered if the task was to fail then.
  const auto called = step.kind() == v1::STEP_KIND_CALL && !of_end(step);
  const auto doubt = step.state() == v1::STEP_STATE_IN_DOUBT;
  if (step.given_up())
    answer_given_up(index);
  else if (step.has_items() && !step.doubtful() && !stops_at(step, count_items(step.items()))) {
    // The list was ended by its task, and goes on with the items that have not begun. Failures that are collected stay.
    retry(index);
    if (definition_of(step).for_each().collect()) begin_round(index);
  } else if (step.kind() == v1::STEP_KIND_WORKFLOW)
    give_up(index);
  else if (step.awaits_callback() || (doubt && step.fault().code() == callback_awaited_code))
    // Also what was accepted while the task was to fail.
    await_callback(index, callback_end(step));
  else if (called && ((doubt && !repeats_doubt && stays_in_doubt(step)) || (!at_once && is_last(step, step.fault(), doubt))))
    give_up(index);
  else if (called && !at_once)
    wait_for_rest(index);
  else if (attempts_left(step))
    wait_for_recovery(index, 0);
  else
    give_up(index);
}

/// The undo of a dropped step was let go while the task was to fail: it goes on with the pause and the attempts that it has left.
void task_machine::take_up_undo(std::uint32_t index, bool at_once) {
  const auto& step = at(index);
  if (!is_being_undone(step) || step.state() != v1::STEP_STATE_UNDOING || step.kind() != v1::STEP_KIND_CALL) return;
  // What an operator has granted has no bad end of its own.
  if (under_way(step) || step.given_up() || attempt_of(step, v1::DIRECTION_UNDO) == excused_of(step, v1::DIRECTION_UNDO)) return;
  if (!attempts_left(step) || (!at_once && is_last(step, step.fault(), false))) return give_up(index);
  at_once ? wait_for_recovery(index, 0) : wait_for_rest(index);
}

/// Of the pause that its latest bad end asks for.
void task_machine::wait_for_rest(std::uint32_t index) {
  auto& step = at(index);
  const auto died_once = step.fault().code() == agent_lost_code && failures_of(step, step.direction()) == 1;
  const auto since_ms = std::min(step.ended_at_unix_ms(), now_ms());
  const auto rest_ms = died_once ? 0 : std::max<std::int64_t>(since_ms + wait_after(index, step.fault()) - now_ms(), 0);
  if (rest_ms == 0 || since_ms == now_ms()) return wait_for_recovery(index, rest_ms);
  // It counts as waited since it began, or does not count because the task was held.
  step.set_not_before_unix_ms(now_ms() + rest_ms);
  out_.changed = true;
  hint(index);
}

/// Another attempt may start; `advance` hands it over.
void task_machine::retry(std::uint32_t index) {
  auto& step = at(index);
  step.clear_not_before_unix_ms();
  step.clear_held_until_unix_ms();
  step.clear_given_up();
  step.clear_awaits_callback();
  step.set_blocked_seen_ms(ctx_.agents->blocked_ms(definition_of(step).agent()));
  out_.changed = true;
  if (out_of_rounds(step)) step.set_rounds_excused(step.rounds());
  // A signal is waited for anew. What others carry out has begun already: the end of the task is to know that.
  if (!carried_out_elsewhere(step.kind())) step.clear_started_at_unix_ms();
  // Nothing is performed again: only the lease of an abandoned attempt was awaited. In a task that is to fail an operator has the step tried
  // again, and the task goes forward with it.
  const auto taken_back = record_.failing() && goes_forward(step);
  if (step.direction() == v1::DIRECTION_PERFORM && drains(step) && !taken_back) return;
  // Under the same key the service would only repeat its answer. In doubt the key stays: it alone prevents a second effect.
  if (step.direction() == v1::DIRECTION_PERFORM && step.fault().key_spent() && !step.doubtful()) raise_generation(step, out_);
  if (step.direction() == v1::DIRECTION_PERFORM) move_step(record_, index, step_moves::retry, ctx_.now, out_);
  note(v1::EVENT_KIND_STEP_RETRIED, index);
  if (child_out(step)) ask_child(index, v1::OPERATOR_VERB_UNDO);
}

/// No further attempt is made automatically. A step in doubt is looked up first, if the agent can.
void task_machine::give_up(std::uint32_t index) {
  auto& step = at(index);
  out_.changed = true;
  if (step.direction() == v1::DIRECTION_PERFORM && step.doubtful() && step.kind() == v1::STEP_KIND_CALL &&
      ctx_.agents->looks_up(definition_of(step).agent(), definition_of(step).call())) {
    look_up(index);
    return;
  }
  step.set_given_up(true);
  note(v1::EVENT_KIND_STEP_GIVEN_UP, index);
  if (goes_forward(step)) answer_given_up(index);
}

/// The step is pending and fails without an attempt: no attempt can help.
void task_machine::fail_for_good(std::uint32_t index, std::string_view code, std::string why) {
  fail(index, code, std::move(why));
  give_up(index);
}

/// What follows is for the caller to say.
void task_machine::fail(std::uint32_t index, std::string_view code, std::string why) {
  const auto& fault = set_permanent_fault(index, code, std::move(why));
  move_step(record_, index, step_moves::fail, ctx_.now, out_, fault.code());
  note(v1::EVENT_KIND_STEP_FAILED, index, fault.code() + ": " + fault.message());
}

const v1::Fault& task_machine::set_permanent_fault(std::uint32_t index, std::string_view code, std::string why) {
  auto& fault = *at(index).mutable_fault();
  fault.Clear();
  fault.set_kind(v1::FAULT_KIND_PERMANENT);
  fault.set_code(std::string{code});
  fault.set_message(std::move(why));
  return fault;
}

void task_machine::look_up(std::uint32_t index) {
  auto& step = at(index);
  if (step.state() != v1::STEP_STATE_IN_DOUBT) move_step(record_, index, step_moves::doubt, ctx_.now, out_);
  step.set_direction(v1::DIRECTION_LOOKUP);
  step.clear_not_before_unix_ms();
  step.clear_given_up();
  step.clear_awaits_callback();
  excuse(step, v1::DIRECTION_LOOKUP);
  out_.changed = true;
}

task_machine::answer task_machine::answer_of(const v1::StepRecord& step) const {
  const auto& definition = definition_of(step);
  const auto& workflow = ctx_.definition->definition();
  const auto says = definition.on_failure() == v1::ON_FAILURE_UNSPECIFIED ? workflow.on_failure() : definition.on_failure();
  if (step.doubtful()) {
    // `in_doubt: fail` lets doubt pass into an end, or into what comes after the step, and into nothing else.
    const auto goes_on = says == v1::ON_FAILURE_CONTINUE;
    const auto ends = says == v1::ON_FAILURE_UNDO || says == v1::ON_FAILURE_FAIL || goes_on;
    // `undo: none`: whatever it has done, nobody has to take back.
    const auto harmless = goes_on && definition.undo().none();
    const auto may_end = ends && (definition.in_doubt() == v1::IN_DOUBT_FAIL || planted(&planted_faults::fail_in_doubt));
    const auto wants_to_know = definition.pivot() || !may_be_repeated(definition.in_doubt()) || key_is_gone(step.fault()) ||
                               says == v1::ON_FAILURE_FAIL || (goes_on && !harmless);
    const auto on_the_quiet = goes_on && planted(&planted_faults::go_on_in_doubt);
    if (wants_to_know && !may_end && !on_the_quiet) return answer::park;
  }
  switch (says) {
    case v1::ON_FAILURE_FAIL: return answer::fail;
    case v1::ON_FAILURE_UNDO: return pivot_begun() == nullptr ? answer::undo : answer::park;
    case v1::ON_FAILURE_COOL_OFF: return answer::cool_off;
    case v1::ON_FAILURE_CONTINUE: return answer::go_on;
    default: return answer::park;
  }
}

void task_machine::answer_given_up(std::uint32_t index) {
  if (of_end(at(index))) return answer_end(index);
  // A task that gives way is undone next, whatever its workflow answers.
  if (stopped() || gives_way()) return;
  const auto why = why_given_up(at(index));
  switch (answer_of(at(index))) {
    case answer::park: park(record_, why, ctx_.now, out_); break;
    case answer::undo: undo_or_hold(why); break;
    case answer::fail: begin_fail(why); break;
    case answer::cool_off: cool_off(index); break;
    case answer::go_on: pass_over(index); break;
  }
}

std::string task_machine::why_given_up(const v1::StepRecord& step) const {
  const auto& fault = step.fault();
  const auto& definition = definition_of(step);
  const auto earlier = step.doubtful() && fault.kind() != v1::FAULT_KIND_IN_DOUBT;
  auto out = "step " + step.path() + (step.doubtful() && !earlier ? " is in doubt (" : " failed (") + fault.code() + ")";
  if (step.kind() != v1::STEP_KIND_CALL || fault.code() == out_of_rounds_code || fault.code() == unmet_join_code ||
      (step.doubtful() && key_is_gone(fault)))
    return out + ": " + fault.message();
  if (step.doubtful() && !may_be_repeated(definition.in_doubt()))
    out += std::string{" and its workflow says in_doubt: "} + (definition.in_doubt() == v1::IN_DOUBT_PARK ? "park" : "fail");
  else if (const auto by_rule = words_of_rule(step); !by_rule.empty())
    out += by_rule;
  else if (fault.kind() == v1::FAULT_KIND_PERMANENT || fault.code() == output_type_code)
    out += " and another attempt cannot help";
  else if (definition.attempts() != 0 && without_rule(step) >= definition.attempts())
    out += " on the last of " + std::to_string(definition.attempts()) + " attempts";
  else
    out += " and was retried for " + format_duration(definition.retry_for_ms()) + " in " + std::to_string(without_rule(step)) + " attempts";
  return out + (earlier ? ", and an earlier one is in doubt" : "") + (fault.message().empty() ? "" : ": " + fault.message());
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
  const auto raised = record_.alert() != 0 && !out_.unparked;
  add_alert(record_, v1::ALERT_KIND_STEP_COOLING_OFF, step.path(), "task " + record_.id() + " waits: " + why,
            "the step is retried automatically; fairlead task retry " + record_.id() + " retries it at once",
            raised ? out_.restated : out_.alerts);
}

/// A task that is parked or cools off has an alert of its own.
void task_machine::count_failing() {
  const auto live = (record_.state() == v1::TASK_STATE_RUNNING || record_.state() == v1::TASK_STATE_UNDOING) && !sleeps(record_);
  for (std::uint32_t i = 0; i < steps(); ++i) {
    auto& step = at(i);
    const auto since_ms = step.failing_since_unix_ms();
    const auto fails = live && since_ms != 0 && !step.given_up() && record_.alert() == 0 && out_.alerts.empty();
    if (fails == step.failing_counted() || (fails && now_ms() - since_ms < ctx_.failing_alert_after_ms)) continue;
    step.set_failing_counted(fails);
    const auto& fault = step.fault();
    out_.failing.push_back({i, fails, definition_of(step).agent(), format_utc(since_ms),
                            fault.code() + (fault.message().empty() ? "" : ": " + fault.message())});
  }
}

/// The task's own timeout has passed.
void task_machine::time_out() {
  const auto& workflow = ctx_.definition->definition();
  const auto by_deadline = record_.deadline_unix_ms() != 0 && times_out_at(record_, workflow) == record_.deadline_unix_ms();
  const auto reason = std::string{time_over_reason} + (by_deadline ? "by its deadline, " + format_utc(record_.deadline_unix_ms())
                                                                   : "within its timeout of " + format_duration(workflow.timeout_ms()));
  record_.set_timed_out(true);
  out_.changed = true;
  add_event(record_, v1::EVENT_KIND_TASK_TIMED_OUT, 0, 0, ctx_.now, reason);
  if (const auto* pivot = pivot_begun()) {
    add_alert(record_, v1::ALERT_KIND_TASK_TIMED_OUT, pivot->path(),
              "task " + record_.id() + " goes forward after its pivot " + pivot->path() + " though " + reason,
              "fairlead task show " + record_.id(), out_.alerts);
  } else if (workflow.on_failure() == v1::ON_FAILURE_UNDO) {
    undo_or_hold(reason);
  } else if (workflow.on_failure() == v1::ON_FAILURE_FAIL) {
    begin_fail(reason);
  } else {
    park(record_, reason, ctx_.now, out_);
  }
}

/// The workflow's answer is undo. The brake on mass undo may hold the task: if an operator repairs it meanwhile, no undo is needed.
void task_machine::undo_or_hold(std::string reason) {
  out_.answered_undo = true;
  if (!ctx_.hold_undo || is_called_off()) return begin_undo(std::move(reason), is_called_off());
  record_.set_undo_held(true);
  add_event(record_, v1::EVENT_KIND_TASK_UNDO_HELD, 0, 0, ctx_.now, reason);
  record_.set_undo_reason(std::move(reason));
  out_.changed = true;
}

}  // namespace fairlead::core
