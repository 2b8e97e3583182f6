// Steps with a sub-workflow: a task of its own, the child, carries the step out. The step is running while the child lives, and undoing
// while the child is undone; it has no attempts, and is in doubt itself only since a restore. What one of the two decides and the other has
// to know is decided there in the same commit (actors/scheduler/family.cpp). A parent whose decision about that crashed is told again by
// the stall check.

#include <algorithm>

#include "actors/core/request_limits.hpp"
#include "actors/core/task/machine.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/task/task.hpp"
#include "messages/ids.hpp"

namespace fairlead::core {

namespace {

constexpr std::size_t most_begun = 64;  // children in one decision; the rest come in later ones

std::string ended_words(const child_changed& e) {
  const auto* how = e.state == v1::TASK_STATE_UNDONE ? " was undone" : e.state == v1::TASK_STATE_FAILED ? " has failed" : " is completed";
  return "task " + e.id + how + (e.reason.empty() ? "" : ": " + e.reason);
}

}  // namespace

std::string child_id(const v1::TaskRecord& record, const v1::StepRecord& step) {
  return record.id() + "/" + step.path() + "~" + std::to_string(step.generation() + 1);
}

/// The step is ready.
void task_machine::start_child(std::uint32_t index) {
  if (definition_of(at(index)).has_for_each()) return start_items(index);
  // Any of them may have a large input.
  if (out_.children.size() >= most_begun || ordered_bytes() > most_decided_bytes) return wait_until(index, now_ms());
  auto input = value_of(index);
  if (!input) return;
  auto& step = at(index);
  if (input->size() > max_output_bytes)
    return fail_for_good(
        index, child_input_code,
        "the input has " + std::to_string(input->size()) + " bytes, and at most " + std::to_string(max_output_bytes) + " can be given");
  // Another child than the one before, which has ended.
  if (step.has_child()) raise_generation(step, out_);
  // Whether it has begun since a backup its own steps are to find out.
  step.clear_doubtful();
  if (is_of_restore(step.fault())) step.clear_fault();
  step.clear_key_used_at_unix_ms();
  const auto& definition = definition_of(step);
  child_order order;
  order.step = index;
  order.id = child_id(record_, step);
  order.begins = true;
  order.workflow = definition.workflow();
  order.input =
      planted(&planted_faults::child_with_task_input) ? std::string{text_of(record_.input()).value_or("null")} : std::move(*input);
  if (definition.timeout_ms() > 0) order.deadline_unix_ms = now_ms() + definition.timeout_ms();
  if (step.started_at_unix_ms() == 0) step.set_started_at_unix_ms(now_ms());
  if (record_.parent().depth() >= most_levels || order.id.size() > max_known_id_bytes)
    return fail_for_good(index, too_deep_code,
                         record_.parent().depth() >= most_levels
                             ? "the task is at level " + std::to_string(most_levels) + " of sub-workflows already"
                             : "the id of its task would have more than " + std::to_string(max_known_id_bytes) + " bytes");
  auto& child = *step.mutable_child();
  child.Clear();
  child.set_id(order.id);
  child.set_state(v1::TASK_STATE_PENDING);
  step.set_attempt(step.attempt() + 1);
  step.set_direction(v1::DIRECTION_PERFORM);
  move_step(record_, index, step_moves::start, ctx_.now, out_);
  note(v1::EVENT_KIND_STEP_STARTED, index, order.id);
  out_.children.push_back(std::move(order));
}

std::size_t task_machine::ordered_bytes() const {
  std::size_t out = decided_bytes();
  for (const auto& one : out_.children) out += one.input.size();
  return out;
}

/// The child is to do something that an operator could ask of it.
void task_machine::ask_child(std::uint32_t index, v1::OperatorVerb verb, bool at_once) {
  if (at(index).has_items()) return ask_items(index, verb, at_once);
  order_action(index, at(index).child().id(), verb, at_once);
}

void task_machine::order_action(std::uint32_t index, std::string id, v1::OperatorVerb verb, bool at_once) {
  child_order order;
  order.step = index;
  order.id = std::move(id);
  order.action.set_verb(verb);
  order.action.set_at_once(at_once);
  order.action.set_who("task " + record_.id());
  order.action.set_reason(record_.state() == v1::TASK_STATE_UNDOING ? record_.undo_reason() : record_.failed_reason());
  out_.children.push_back(std::move(order));
}

void task_machine::ask_children(v1::OperatorVerb verb, bool at_once) {
  for (std::uint32_t i = 0; i < steps(); ++i)
    if (child_out(at(i))) ask_child(i, verb, at_once);
}

/// The step is next to be undone, and has a child or had one.
void task_machine::undo_child(std::uint32_t index) {
  auto& step = at(index);
  if (step.doubtful())
    return undo_refused(index, restored_code,
                        step.has_items() ? "items may have begun since the backup, and what they did is not known"
                                         : "its task may have begun since the backup, and what it did is not known");
  const auto has_none = step.has_items() ? !has_items_to_undo(step) : !step.has_child() || step.child().state() == v1::TASK_STATE_UNDONE;
  const auto nothing = definition_of(step).undo().none() || has_none || planted(&planted_faults::child_not_undone);
  if (nothing) return undo_done(index, "there is nothing to undo");
  step.set_direction(v1::DIRECTION_UNDO);
  set_attempt(step, v1::DIRECTION_UNDO, attempt_of(step, v1::DIRECTION_UNDO) + 1);
  step.clear_given_up();
  move_step(record_, index, step_moves::undo, ctx_.now, out_);
  note(v1::EVENT_KIND_STEP_STARTED, index, step.has_items() ? item_words(step.items()) : step.child().id());
  ask_child(index, v1::OPERATOR_VERB_UNDO);
}

void task_machine::on(const child_changed& e) {
  const auto* step = find(e.step);
  if (step == nullptr) return;
  if (step->has_items() ? !take_item_news(e) : !take_child_news(e)) return;
  if (has_ended(record_) || out_.fatal) return;
  // The child that held the task up goes on, or is over.
  if (record_.parked_for_child() && parked_child() == nullptr) {
    unpark(record_, ctx_.now, out_);
    catch_up();
  }
  // Others that were parked may have been asked meanwhile: each of them says itself whether it still is.
  if (e.parked) park_for_child(e.reason);
  advance();
}

/// False: nothing has changed.
bool task_machine::take_child_news(const child_changed& e) {
  auto* step = &at(e.step);
  if (!step->has_child() || step->child().id() != e.id) return false;
  auto& child = *step->mutable_child();
  const auto parks = e.parked && !child.parked();
  const auto same = child.state() == e.state && child.parked() == e.parked && child.stands() == e.stands;
  const auto told_in_vain = child_out(*step) && (fairlead::has_ended(e.state) || (e.parked && !record_.parked()));
  if (same && !told_in_vain) return false;
  child.set_state(e.state);
  child.set_parked(e.parked);
  child.set_stands(e.stands);
  out_.changed = out_.accepted = true;
  if (fairlead::has_ended(e.state)) child_ended(e);
  // It crashed when it was asked, and an operator has let it go on. One that is to be terminated need not wait for that: it is asked once
  // more, and not again if it crashes again.
  const auto lives = e.state == v1::TASK_STATE_RUNNING && step->state() == v1::STEP_STATE_RUNNING;
  const auto goes_on = lives && !e.parked;
  if (lives && (goes_on || parks) && record_.terminated())
    ask_child(e.step, v1::OPERATOR_VERB_TERMINATE);
  else if (goes_on && (record_.state() == v1::TASK_STATE_UNDOING || step->dropped()))
    ask_child(e.step, v1::OPERATOR_VERB_CANCEL);
  return true;
}

void task_machine::child_ended(const child_changed& e) {
  auto& step = at(e.step);
  if (step.state() == v1::STEP_STATE_UNDOING) {
    if (e.state == v1::TASK_STATE_UNDONE) return undo_done(e.step, {});
    if (!step.given_up()) undo_refused(e.step, child_failed_code, ended_words(e));
    return;
  }
  if (!child_out(step)) return;
  if (e.state == v1::TASK_STATE_COMPLETED) return finish(e.step, e.output);
  step.set_failure_count(step.failure_count() + 1);
  step.set_ended_at_unix_ms(now_ms());
  fail_child_step(e.step, e.state == v1::TASK_STATE_UNDONE ? child_undone_code : child_failed_code, ended_words(e));
}

/// The step that was running has failed: its answer follows, unless the task does not go forward.
void task_machine::fail_child_step(std::uint32_t index, std::string_view code, std::string why) {
  const auto ends_here = drains(at(index));
  fail(index, code, std::move(why));
  if (!ends_here) give_up(index);
}

/// Siblings are undone all the same; after them the task waits for an operator.
void task_machine::undo_refused(std::uint32_t index, std::string_view code, std::string why) {
  auto& step = at(index);
  const auto& fault = set_permanent_fault(index, code, std::move(why));
  step.set_direction(v1::DIRECTION_UNDO);
  set_failures(step, v1::DIRECTION_UNDO, failures_of(step, v1::DIRECTION_UNDO) + 1);
  step.set_ended_at_unix_ms(now_ms());
  step.set_given_up(true);
  note(v1::EVENT_KIND_STEP_GIVEN_UP, index, fault.code() + ": " + fault.message());
  out_.changed = true;
}

void task_machine::on(const child_refused& e) {
  auto* step = find(e.step);
  if (step == nullptr || !child_out(*step)) return;
  if (step->has_items()) {
    take_item_refusal(e);
    return out_.changed ? advance() : void();
  }
  if (step->child().id() != e.id) return;
  out_.changed = out_.accepted = true;
  if (step->state() == v1::STEP_STATE_UNDOING) {
    undo_refused(e.step, e.code, e.sentence);
  } else if (e.again_at_unix_ms != 0) {
    step->clear_child();
    step->set_attempt(step->attempt() - 1);
    move_step(record_, e.step, step_moves::hand_back, ctx_.now, out_, "later");
    // Told late, the task may be undone by now.
    if (goes_forward(*step) && !drains(*step)) wait_until(e.step, e.again_at_unix_ms);
  } else {
    // Of one that is lost nobody knows what it has done.
    if (e.code == child_gone_code)
      step->mutable_child()->set_stands(true);
    else
      step->clear_child();
    step->set_ended_at_unix_ms(now_ms());
    fail_child_step(e.step, e.code, e.sentence);
  }
  advance();
}

/// A child because of which the task cannot go on; null: none. A task that is being terminated parks for nothing.
const v1::StepRecord* task_machine::parked_child() const {
  if (record_.terminated() || planted(&planted_faults::child_parks_alone)) return nullptr;
  const auto& all = record_.steps();
  const auto found =
      std::find_if(all.begin(), all.end(), [](const v1::StepRecord& step) { return child_out(step) && step.child().parked(); });
  return found == all.end() ? nullptr : &*found;
}

/// Nothing of the task begins while an operator has to look at a child of it; the alert is the child's.
void task_machine::park_for_child(const std::string& why) {
  const auto live = record_.state() == v1::TASK_STATE_RUNNING || record_.state() == v1::TASK_STATE_UNDOING;
  const auto* step = live && !record_.parked() ? parked_child() : nullptr;
  if (step != nullptr) park(record_, "task " + step->child().id() + " is parked" + (why.empty() ? "" : ": " + why), ctx_.now, out_, true);
}

/// The task is parked for its child, and only the child's end or an operator's action on it helps.
void task_machine::refuse_for_child() {
  const auto* step = parked_child();
  const auto child = step == nullptr ? std::string{} : step->child().id();
  refuse("task " + record_.id() + " waits for task " + child + ", which is parked", "fairlead task show " + child + " shows what helps it");
}

/// Refuses what cannot be done with a step whose child has left something behind, which nothing would undo any more.
bool task_machine::refuse_standing(const v1::StepRecord& step) {
  // Completed items stay: what is tried again is the others.
  if (!child_stands(step) || (step.has_items() && count_items(step.items()).left_behind == 0)) return false;
  refuse("task " + step.child().id() + " has failed, and what it has done stands or is in doubt",
         "undo it first: fairlead task undo " + step.child().id() + "; or go on with what it has done: fairlead task settle " +
             record_.id() + " " + step.path() + " --completed JSON");
  return true;
}

/// The parent has cancelled the task when it could not be undone: it is undone as soon as nothing speaks against that any more.
bool task_machine::is_called_off() const {
  return record_.state() == v1::TASK_STATE_RUNNING && !record_.undo_held() && !record_.undo_reason().empty();
}

}  // namespace fairlead::core
