// Steps with `callback`: the agent's answer says only that the work was accepted, and a callback brings the output. Until then the step is in
// doubt: its moment is in not_before, and whatever ends the task meanwhile treats it as a step in doubt. A callback names the generation of
// the step's key, so it counts whichever attempt under that key the service took up.

#include <algorithm>

#include "actors/core/request_limits.hpp"
#include "actors/core/task/machine.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/task/task.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/text.hpp"
#include "actors/core/waits.hpp"
#include "actors/core/workflow/retry_rules.hpp"
#include "messages/time.hpp"

namespace fairlead::core {

namespace {

constexpr std::size_t most_code_bytes = 64, most_message_bytes = 1'024;
constexpr std::int64_t for_ever_ms = 3'660LL * 24 * 3'600'000;

v1::Fault doubt_of(std::string_view code, std::string message) {
  v1::Fault out;
  out.set_kind(v1::FAULT_KIND_IN_DOUBT);
  out.set_code(std::string{code});
  out.set_message(std::move(message));
  return out;
}

/// What the service says, in words that fit a row and a log.
v1::Fault cleaned(const v1::Fault& from) {
  v1::Fault out;
  out.set_kind(from.kind() == v1::FAULT_KIND_TRANSIENT ? v1::FAULT_KIND_TRANSIENT : v1::FAULT_KIND_PERMANENT);
  out.set_code(from.code().empty() ? "callback_failed" : clean_text(from.code(), most_code_bytes));
  if (is_found_by_scheduler(out.code())) out.set_code("callback_" + out.code());
  out.set_message(clean_text(from.message(), most_message_bytes));
  return out;
}

}  // namespace

bool is_answered_early(const v1::TaskRecord& record, std::uint32_t step) {
  return static_cast<int>(step) < record.steps_size() && record.steps(static_cast<int>(step)).has_early_answer();
}

/// The attempt in progress has ended well.
void task_machine::accept(std::uint32_t index) {
  auto& step = at(index);
  end_lease(step);
  step.set_ended_at_unix_ms(now_ms());
  step.set_doubtful(true);
  // A service that accepts again and again, and never calls back, fails.
  if (step.fault().code() != callback_missed_code) step.clear_failing_since_unix_ms();
  if (is_of_restore(step.fault())) step.set_next_key_in_doubt(true);
  *step.mutable_fault() = doubt_of(callback_awaited_code, "the agent has accepted the step, and its callback has not come");
  move_step(record_, index, step_moves::accept, ctx_.now, out_);
  const auto until_ms = callback_end(step);
  note(v1::EVENT_KIND_STEP_ACCEPTED, index, "its callback may come until " + format_utc(until_ms));
  out_.changed = true;
  // A task that drains waits for no callback: the step is in doubt as any other.
  if (!drains(step)) await_callback(index, until_ms);
}

void task_machine::await_callback(std::uint32_t index, std::int64_t until_ms) {
  at(index).set_awaits_callback(true);
  at(index).set_not_before_unix_ms(until_ms + (planted(&planted_faults::forget_callback_end) ? for_ever_ms : 0));
  hint(index);
  out_.changed = true;
}

/// Of a step that was accepted when its latest attempt ended.
std::int64_t task_machine::callback_end(const v1::StepRecord& step) const {
  const auto within_ms = definition_of(step).callback_ms();
  return std::clamp(step.ended_at_unix_ms() + within_ms, now_ms(), now_ms() + within_ms);
}

/// Nobody knows what has become of the work: the workflow's answer to doubt follows.
void task_machine::miss_callback(std::uint32_t index) {
  auto& step = at(index);
  step.clear_awaits_callback();
  step.clear_not_before_unix_ms();
  const auto within = format_duration(definition_of(step).callback_ms());
  end_badly(index, doubt_of(callback_missed_code, "no callback came within " + within + " after the agent had accepted the step"),
            v1::EVENT_KIND_STEP_IN_DOUBT);
}

/// The clock was set back since the agent accepted the step: it is waited for no longer than from now on.
void task_machine::bring_callback_near(v1::StepRecord& step) {
  const auto by_ms = std::min(step.not_before_unix_ms(), now_ms() + definition_of(step).callback_ms());
  out_.changed = out_.changed || by_ms != step.not_before_unix_ms();
  step.set_not_before_unix_ms(by_ms);
}

// ---- a callback comes ----

/// Some attempt under the present key may have been accepted.
bool task_machine::takes_answer(const v1::StepRecord& step) const {
  switch (step.state()) {
    case v1::STEP_STATE_RUNNING:
    case v1::STEP_STATE_IN_DOUBT: return true;
    case v1::STEP_STATE_PENDING:
    case v1::STEP_STATE_FAILED: return !step.passed_over() && step.attempt() > 0;
    default: return false;
  }
}

std::optional<error> task_machine::refuse_callback(const v1::StepRecord& step, const operated& e) const {
  const auto same_key = step.generation() == e.called_back.generation || planted(&planted_faults::accept_old_callback);
  if (!same_key)
    return error{v1::ERROR_CODE_WRONG_STATE,
                 "the callback is of an earlier performance of step " + step.path() + " of task " + record_.id() +
                     ", which has been answered or is over",
                 look_at_it()};
  if (!takes_answer(step))
    return error{v1::ERROR_CODE_WRONG_STATE,
                 "step " + step.path() + " of task " + record_.id() + " is " + state_word(step.state()) + " and takes no callback any more",
                 look_at_it()};
  if (e.action.has_fault()) return std::nullopt;
  const std::string output = e.action.has_json() ? e.action.json() : "null";
  if (const auto checked = check_json(output); !checked.ok())
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "the output in the callback is not JSON: " + checked.failure().sentence,
                 "correct the JSON"};
  if (const auto misfit = misfit_of(ctx_.definition->compiled(step.definition()).output_type, output))
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "the output in the callback" + *misfit, "give JSON of the step's output_type"};
  return std::nullopt;
}

/// Services send a callback until it is answered. A task remembers the latest one of each step, beside what others have done to it.
void task_machine::operator_callback_once(const operated& e) {
  const auto of_step = std::string{callback_token} + std::to_string(e.called_back.step) + " ";
  auto token = of_step + std::to_string(e.called_back.generation);
  if (was_done(token, e.content_hash)) return;
  operate(e);
  if (out_.refused) return;
  auto& all = *record_.mutable_actions();
  all.erase(std::remove_if(all.begin(), all.end(), [&](const v1::ActionDone& one) { return one.token().starts_with(of_step); }), all.end());
  remember(std::move(token), e.content_hash);
}

void task_machine::operator_callback(const operated& e) {
  const auto index = e.called_back.step;
  auto* step = find(index);
  if (step == nullptr || definition_of(*step).callback_ms() == 0)
    return refuse("task " + record_.id() + " has no step that waits for this callback", look_at_it(), v1::ERROR_CODE_NOT_FOUND);
  if (auto why = refuse_callback(*step, e)) {
    out_.refused = std::move(why);
    return;
  }
  out_.changed = true;
  // It may come before the agent's answer. The attempt keeps its place at the agent until that has come, or its lease has ended.
  const auto early = attempt_out(*step) || is_abandoned(*step);
  auto& event = note(v1::EVENT_KIND_STEP_ANSWERED, index, early ? "it counts once the attempt in progress has ended" : "");
  event.set_who(e.action.who());
  const auto output = minify_json(e.action.has_json() ? e.action.json() : "null");
  // Whatever becomes of it, steps that wait for an instance have to say so once more: the action has taken the task out of all queues.
  if (planted(early ? &planted_faults::lose_early_callback : &planted_faults::lose_callback)) return advance();
  if (early) {
    drop_payload(step->early_answer().output(), out_);
    auto& answer = *step->mutable_early_answer();
    answer.Clear();
    if (e.action.has_fault())
      *answer.mutable_fault() = cleaned(e.action.fault());
    else
      set_payload(record_, *answer.mutable_output(), output, out_);
    return advance();
  }
  const auto held_task = (step->given_up() || record_.failing()) && !record_.terminated();
  const auto fault = cleaned(e.action.fault());
  take_answer(index, output, e.action.has_fault() ? &fault : nullptr);
  // What the task was parked for, or was to fail for, may be over.
  held_task ? go_on(!of_end(at(index))) : advance();
}

/// What a callback said before the attempt ended counts now. False: there is nothing, or it is too early still.
bool task_machine::take_early_answer(std::uint32_t index) {
  auto& step = at(index);
  if (!step.has_early_answer() || attempt_out(step) || is_abandoned(step)) return false;
  std::string output;
  if (!step.early_answer().has_fault()) {
    const auto text = text_of(step.early_answer().output());
    if (!text) return true;
    output = *text;
  }
  const auto answer = step.early_answer();
  drop_payload(answer.output(), out_);
  step.clear_early_answer();
  take_answer(index, output, answer.has_fault() ? &answer.fault() : nullptr);
  return true;
}

/// No attempt of the step is in progress, and it is not over.
void task_machine::take_answer(std::uint32_t index, const std::string& output, const v1::Fault* fault) {
  auto& step = at(index);
  step.clear_not_before_unix_ms();
  step.clear_awaits_callback();
  out_.changed = true;
  const auto open = step.state() == v1::STEP_STATE_PENDING || step.state() == v1::STEP_STATE_FAILED;
  if (fault == nullptr) {
    if (open) move_step(record_, index, step_moves::doubt, ctx_.now, out_);
    // It was not known when the undo was decided: the step may be a pivot, or have no undo.
    if (!of_end(step) && (record_.state() == v1::TASK_STATE_UNDOING || record_.undo_held())) record_.set_undo_uncertain(true);
    return complete(index, output);
  }
  // Since a restore the next key may have been used: that one is looked up, or sent again, before anything follows from this fault.
  if (fault->kind() == v1::FAULT_KIND_TRANSIENT && step.state() == v1::STEP_STATE_IN_DOUBT && next_key_since_backup(index)) return;
  // The service keeps its answer under the key: another attempt needs another one, and nothing is in doubt.
  uncount_by_rule(step);
  step.set_direction(v1::DIRECTION_PERFORM);
  if (!planted(&planted_faults::keep_key_after_fault)) pass_to_next_key(step, out_);
  step.clear_doubtful();
  step.clear_given_up();
  if (step.state() == v1::STEP_STATE_IN_DOUBT || step.state() == v1::STEP_STATE_FAILED)
    move_step(record_, index, step_moves::disprove, ctx_.now, out_);
  // The bad end of the latest attempt may have been counted: it was lost, or its callback was late.
  set_failures(step, v1::DIRECTION_PERFORM, std::min(step.failure_count(), std::max(step.attempt(), 1U) - 1));
  end_badly(index, *fault, v1::EVENT_KIND_STEP_FAILED);
  // A task that is to fail decides nothing about the step now, and must not take it for one whose next attempt is due.
  if (!record_.failing() || of_end(step) || step.given_up() || !is_last(step, *fault, false)) return;
  step.set_given_up(true);
  note(v1::EVENT_KIND_STEP_GIVEN_UP, index);
}

}  // namespace fairlead::core
