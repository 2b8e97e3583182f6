// Operators' actions on tasks. An action that does not fit is refused with a sentence, and changes nothing.

#include <algorithm>
#include <string>

#include "actors/core/request_limits.hpp"
#include "actors/core/task/machine.hpp"
#include "actors/core/task/reason.hpp"
#include "actors/core/task/restore.hpp"
#include "actors/core/task/task.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/text.hpp"
#include "actors/core/workflow/join.hpp"
#include "messages/holds.hpp"

namespace fairlead::core {

namespace {

/// An operator who repeats an action does so soon after it.
constexpr int most_remembered_actions = 32;

}  // namespace

void task_machine::on(const operated& e) {
  if (e.action.verb() == v1::OPERATOR_VERB_CALLBACK) return operator_callback_once(e);
  const auto& token = e.action.token();
  if (token.size() > max_action_key_bytes)
    return refuse("the key of the action has more than " + std::to_string(max_action_key_bytes) + " bytes", "use a shorter key",
                  v1::ERROR_CODE_INVALID_ARGUMENT);
  if (clean_text(token, token.size()) != token)
    return refuse("the key of the action is not UTF-8", "use a key of letters and digits", v1::ERROR_CODE_INVALID_ARGUMENT);
  if (!token.empty() && was_done(token, e.content_hash)) return;
  if (e.action.if_sequence() != 0 && e.action.if_sequence() != record_.history_size())
    return refuse("task " + record_.id() + " has changed: its latest event is number " + std::to_string(record_.history_size()),
                  "look at it again: fairlead task show " + record_.id(), v1::ERROR_CODE_CHANGED);
  operate(e);
  if (out_.refused || token.empty() || out_.repeated || e.action.dry_run()) return;
  remember(token, e.content_hash);
  auto& all = *record_.mutable_actions();
  const auto counts = [](const v1::ActionDone& one) { return !is_callback_token(one.token()); };
  if (std::count_if(all.begin(), all.end(), counts) > most_remembered_actions) all.erase(std::find_if(all.begin(), all.end(), counts));
}

/// The action was done before, under its token: the same, or another one, which is refused.
bool task_machine::was_done(const std::string& token, std::string_view content_hash) {
  const auto& all = record_.actions();
  const auto done = std::find_if(all.begin(), all.end(), [&](const v1::ActionDone& one) { return one.token() == token; });
  if (done == all.end()) return false;
  out_.repeated = true;
  if (done->content_hash() == content_hash) return true;
  if (is_callback_token(token))
    refuse("this callback of task " + record_.id() + " has been taken with another content", look_at_it(), v1::ERROR_CODE_KEY_REUSED);
  else
    refuse("the key " + token + " was used for another action on task " + record_.id(), "use another key", v1::ERROR_CODE_KEY_REUSED);
  return true;
}

void task_machine::remember(std::string token, std::string content_hash) {
  auto& done = *record_.add_actions();
  done.set_token(std::move(token));
  done.set_content_hash(std::move(content_hash));
  out_.changed = true;
}

void task_machine::operate(const operated& e) {
  const auto reopens = e.action.verb() == v1::OPERATOR_VERB_UNDO && record_.state() != v1::TASK_STATE_UNDONE;
  if (e.by_parent && reopens && has_ended(record_) && e.restored_from_unix_ms > record_.restored_from_unix_ms())
    may_have_been_undone(record_, e.restored_from_unix_ms, e.first_restored_from_unix_ms);
  if (has_ended(record_) && !reopens)
    return refuse("task " + record_.id() + " is " + state_word(record_.state()) + " already", what_ends_take());
  // Needs no definition, so it also ends a task that nothing else can end.
  if (e.action.verb() == v1::OPERATOR_VERB_TERMINATE) return operator_terminate(e.action);
  const auto verb = e.action.verb();
  if (record_.failing() && record_.terminated() && verb != v1::OPERATOR_VERB_CALLBACK)
    return refuse("task " + record_.id() + " is being terminated",
                  "fairlead task terminate " + record_.id() + " --now does not wait for the attempts in progress");
  const auto early = verb == v1::OPERATOR_VERB_SIGNAL || verb == v1::OPERATOR_VERB_UNDO || verb == v1::OPERATOR_VERB_CANCEL ||
                     verb == v1::OPERATOR_VERB_MIGRATE;
  if (record_.scheduled() && !early)
    return refuse("task " + record_.id() + " has not started: it starts at " + format_utc(record_.start_at_unix_ms()),
                  "fairlead task cancel " + record_.id() + " ends it before that");
  // Who calls back sends it again once the task can go on.
  if (!usable())
    return refuse("task " + record_.id() + " cannot go on: " + ctx_.definition->refusal().sentence, ctx_.definition->refusal().remedy,
                  verb == v1::OPERATOR_VERB_CALLBACK ? v1::ERROR_CODE_UNAVAILABLE : v1::ERROR_CODE_WRONG_STATE);
  out_.forget_asked = verb == v1::OPERATOR_VERB_RETRY || verb == v1::OPERATOR_VERB_SKIP || verb == v1::OPERATOR_VERB_SETTLE_COMPLETED ||
                      verb == v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED;
  switch (verb) {
    case v1::OPERATOR_VERB_RETRY: return operator_retry(e.action);
    case v1::OPERATOR_VERB_SIGNAL: return operator_signal(e.action);
    case v1::OPERATOR_VERB_CALLBACK: return operator_callback(e);
    case v1::OPERATOR_VERB_SKIP: return operator_skip(e.action);
    case v1::OPERATOR_VERB_SETTLE_COMPLETED:
    case v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED: return operator_settle(e.action);
    case v1::OPERATOR_VERB_UNDO:
    case v1::OPERATOR_VERB_CANCEL: return operator_undo(e);
    case v1::OPERATOR_VERB_PAUSE: return operator_pause(e.action, true);
    case v1::OPERATOR_VERB_RESUME: return operator_pause(e.action, false);
    case v1::OPERATOR_VERB_MIGRATE: return operator_migrate(e);
    default:
      return refuse("this release does not know what to do", "use the command line of the node's release", v1::ERROR_CODE_INVALID_ARGUMENT);
  }
}

std::string task_machine::what_ends_take() const {
  const auto undoes = record_.state() != v1::TASK_STATE_UNDONE && usable() && !cannot_undo();
  return (undoes ? "fairlead task undo " + record_.id() + " undoes what it has done; " : "") + "fairlead task delete " + record_.id() +
         " deletes its record";
}

std::string task_machine::look_at_it() const { return "fairlead task show " + record_.id() + " shows what its steps wait for"; }

void task_machine::refuse(std::string sentence, std::string remedy, error_code code) {
  out_.refused = error{code, std::move(sentence), std::move(remedy)};
}

v1::StepRecord* task_machine::named_step(const v1::OperatorAction& action, std::uint32_t& index) {
  for (index = 0; index < steps(); ++index)
    if (at(index).path() == action.step()) return &at(index);
  refuse("task " + record_.id() + " has no step " + action.step(), "fairlead task show " + record_.id() + " lists its steps",
         v1::ERROR_CODE_NOT_FOUND);
  return nullptr;
}

void task_machine::note_operator(v1::EventKind kind, const v1::OperatorAction& action, std::uint32_t step_plus_one) {
  auto& event = add_event(record_, kind, step_plus_one, 0, ctx_.now, action.reason());
  event.set_who(action.who());
  out_.changed = true;
}

// ---- retry ----

void task_machine::operator_retry(const v1::OperatorAction& action) {
  if (record_.state() == v1::TASK_STATE_PENDING)
    return refuse("task " + record_.id() + " is pending: no step has been tried yet",
                  "wait for its start: fairlead task watch " + record_.id());
  std::vector<std::uint32_t> chosen;
  std::uint32_t index = 0;
  if (!action.step().empty()) {
    if (named_step(action, index) == nullptr) return;
    chosen.push_back(index);
  } else if (action.has_json()) {
    return refuse("another input needs a step, and no step is given", "fairlead task retry " + record_.id() + " STEP --input JSON",
                  v1::ERROR_CODE_INVALID_ARGUMENT);
  } else {
    for (index = 0; index < steps(); ++index)
      if ((at(index).given_up() || at(index).not_before_unix_ms() != 0) && !is_abandoned(at(index)) && !goes_on_without(at(index)) &&
          !waits_itself(at(index)) && !at(index).awaits_callback() && !child_out(at(index)))
        chosen.push_back(index);
    if (chosen.empty() && !is_held(record_))
      return refuse("no step of task " + record_.id() + " has failed or is waiting for another attempt", look_at_it());
  }
  const auto helps = [this](std::uint32_t one) { return at(one).given_up() || at(one).not_before_unix_ms() != 0; };
  if (record_.parked_for_child() && std::none_of(chosen.begin(), chosen.end(), helps)) return refuse_for_child();
  for (const auto one : chosen)
    if (!retry_step(one, action)) return;
  if (chosen.empty()) note_operator(v1::EVENT_KIND_OPERATOR_RETRY, action, 0);
  if (record_.state() == v1::TASK_STATE_RUNNING && timed_out()) record_.set_timed_out(true);  // an operator's retry overrides the timeout
  // Steps of the end alone bring no task forward that is to fail.
  const auto forward = chosen.empty() || !std::all_of(chosen.begin(), chosen.end(), [this](std::uint32_t one) { return of_end(at(one)); });
  // Who has all of the task tried again has seen what is in doubt.
  if (forward) release_hold(true, action.step().empty());
  // A round that is asked for begins at once. Where no step is named none was chosen that waited already.
  for (const auto one : chosen)
    if (waits_itself(at(one)) && at(one).kind() == v1::STEP_KIND_CALL) at(one).clear_not_before_unix_ms();
  go_on(forward);
}

/// Refuses what cannot be done while an agent holds the step, also if nobody waits for that any more.
bool task_machine::refuse_in_progress(const v1::StepRecord& step) {
  if (step.has_items() && child_out(step)) {
    refuse("items of step " + step.path() + " are in progress: " + item_words(step.items()), look_at_it());
    return true;
  }
  if (child_out(step)) {
    refuse("task " + step.child().id() + " carries out step " + step.path() + ", and has not ended",
           "fairlead task show " + step.child().id() + " shows what it waits for");
    return true;
  }
  // By an operator, without its parent.
  const auto is_over = step.state() == v1::STEP_STATE_FAILED || step.state() == v1::STEP_STATE_IN_DOUBT;
  if (is_over && step.child().state() == v1::TASK_STATE_UNDOING) {
    refuse("task " + step.child().id() + ", the child of step " + step.path() + ", is being undone",
           "wait for its end: fairlead task watch " + step.child().id());
    return true;
  }
  if (!attempt_out(step) && !is_abandoned(step)) return false;
  refuse("an attempt of step " + step.path() + " is in progress", "wait for its end: fairlead task watch " + record_.id());
  return true;
}

bool task_machine::retry_step(std::uint32_t index, const v1::OperatorAction& action) {
  auto& step = at(index);
  if (refuse_in_progress(step)) return false;
  if (goes_on_without(step)) {
    refuse("the task has gone on without step " + step.path() + ", so it is not performed any more", look_at_it());
    return false;
  }
  if (refuse_standing(step)) return false;
  const auto undone = is_being_undone(step);
  if (undone && (action.has_json() || (!step.given_up() && step.not_before_unix_ms() == 0))) {
    refuse(why_not_needed(index) + ", so it is not performed any more", look_at_it());
    return false;
  }
  if (action.has_json() && !edit_input(index, action)) return false;
  if (waits_itself(step) || (step.until_open() && action.has_json())) return wait_anew(index, action);
  const auto waits = step.given_up() || step.not_before_unix_ms() != 0;
  if (!waits &&
      !(step.state() == v1::STEP_STATE_PENDING && (record_.parked() || record_.undo_held() || record_.failing() || action.has_json()))) {
    refuse("step " + step.path() + " is " + state_word(step.state()) + " and does not wait for another attempt", look_at_it());
    return false;
  }
  note_operator(v1::EVENT_KIND_OPERATOR_RETRY, action, index + 1);
  if (!waits) {
    // Attempts may have failed before it came to wait for an instance.
    if (step.kind() == v1::STEP_KIND_CALL) excuse(step, v1::DIRECTION_PERFORM);
    return true;
  }
  // In a task that goes forward, a step looked up in vain is performed again under its key.
  if (goes_forward(step)) step.set_direction(v1::DIRECTION_PERFORM);
  excuse(step, step.direction());
  // The operator was told that the service may have forgotten the key, and retries on purpose.
  if (key_is_gone(step.fault())) {
    if (step.direction() == v1::DIRECTION_UNDO)
      step.clear_undo_key_used_at_unix_ms();
    else
      step.clear_key_used_at_unix_ms();
  }
  // The same if the step may have been performed since the backup and no agent can look it up.
  if (step.fault().code() == restored_code && !ctx_.agents->looks_up(definition_of(step).agent(), definition_of(step).call()))
    step.clear_fault();
  if (step.direction() == v1::DIRECTION_UNDO) {
    drop_payload(step.undo_input(), out_);
    step.clear_undo_input();
  }
  retry(index);
  return true;
}

/// A step that waits takes another wait. One that is repeated begins its next round, with another input if that is given.
bool task_machine::wait_anew(std::uint32_t index, const v1::OperatorAction& action) {
  auto& step = at(index);
  if (!action.has_json() && step.kind() != v1::STEP_KIND_CALL) {
    refuse("step " + step.path() + " waits until " + format_utc(step.not_before_unix_ms()),
           "fairlead task skip " + record_.id() + " " + step.path() + " ends the wait");
    return false;
  }
  note_operator(v1::EVENT_KIND_OPERATOR_RETRY, action, index + 1);
  step.clear_not_before_unix_ms();
  step.clear_until_open();
  if (step.kind() != v1::STEP_KIND_CALL) step.clear_started_at_unix_ms();
  return true;
}

// ---- skip and settle ----

void task_machine::operator_skip(const v1::OperatorAction& action) {
  std::uint32_t index = 0;
  auto* step = named_step(action, index);
  if (step == nullptr) return;
  if (refuse_in_progress(*step)) return;
  const auto dropped = is_being_undone(*step);
  if ((record_.state() == v1::TASK_STATE_UNDOING && !of_end(*step)) || dropped) {
    if (step->state() == v1::STEP_STATE_UNDOING || is_undone_though_failed(definition_of(*step), *step) ||
        (step->state() == v1::STEP_STATE_COMPLETED && !undo_settled(*ctx_.definition, *step))) {
      next_steps next;
      dropped ? ctx_.engine->next_dropped(*ctx_.definition, record_, next) : ctx_.engine->next_undo(*ctx_.definition, record_, next);
      if (std::find(next.ready.begin(), next.ready.end(), index) == next.ready.end())
        return refuse("the undo of step " + step->path() + " cannot be skipped yet: later steps are undone first", look_at_it());
      note_operator(v1::EVENT_KIND_OPERATOR_SKIP, action, index + 1);
      undo_done(index, "skipped by an operator");
      return go_on();
    }
    if (step->state() != v1::STEP_STATE_IN_DOUBT)
      return refuse("step " + step->path() + " is " + state_word(step->state()) + ": it has nothing to undo", look_at_it());
  }
  if (step->doubtful())
    return refuse("step " + step->path() + " is in doubt, so it cannot be skipped",
                  "settle it first: fairlead task settle " + record_.id() + " " + step->path() + " --completed JSON, or --never-happened");
  if (step->state() != v1::STEP_STATE_PENDING && step->state() != v1::STEP_STATE_FAILED)
    return refuse("step " + step->path() + " is " + state_word(step->state()) + " and cannot be skipped", look_at_it());
  if (refuse_standing(*step)) return;
  if (step->has_items() && child_stands(*step))
    return refuse("items of step " + step->path() + " have been carried out (" + item_words(step->items()) +
                      "): without the step nothing would undo them",
                  "go on with what they have done: fairlead task settle " + record_.id() + " " + step->path() +
                      " --completed JSON; or undo the task: fairlead task undo " + record_.id());
  note_operator(v1::EVENT_KIND_OPERATOR_SKIP, action, index + 1);
  if (record_.state() == v1::TASK_STATE_PENDING) begin();
  step->clear_not_before_unix_ms();
  step->clear_given_up();
  step->clear_failing_since_unix_ms();
  step->clear_passed_over();
  step->set_ended_at_unix_ms(now_ms());
  drop_payload(step->input(), out_);
  step->clear_input();
  forget_progress(*step, out_);
  move_step(record_, index, step_moves::skip, ctx_.now, out_);
  go_on(!of_end(*step));
}

void task_machine::operator_settle(const v1::OperatorAction& action) {
  if (action.step().empty() && action.verb() == v1::OPERATOR_VERB_SETTLE_COMPLETED) return settle_output(action);
  std::uint32_t index = 0;
  auto* step = named_step(action, index);
  if (step == nullptr) return;
  const auto completed = action.verb() == v1::OPERATOR_VERB_SETTLE_COMPLETED;
  if (refuse_in_progress(*step)) return;
  // Of a dropped step in doubt the undo may need the output.
  if (completed && is_being_undone(*step) && step->state() != v1::STEP_STATE_IN_DOUBT)
    return refuse(why_not_needed(index) + ", so it cannot be settled as completed", look_at_it());
  const auto open = step->state() == v1::STEP_STATE_IN_DOUBT || step->state() == v1::STEP_STATE_FAILED ||
                    (step->state() == v1::STEP_STATE_PENDING && (step->doubtful() || step->until_open()));
  if (completed ? !open : !step->doubtful())
    return refuse(
        "step " + step->path() + " is " + state_word(step->state()) + (completed ? " and cannot be settled" : " and not in doubt"),
        look_at_it());
  if (completed) {
    const auto checked = check_json(action.json());
    if (!checked.ok())
      return refuse("the output of step " + step->path() + " is not JSON: " + checked.failure().sentence, "correct the JSON",
                    v1::ERROR_CODE_INVALID_ARGUMENT);
    const auto* type = ctx_.definition->compiled(step->definition()).output_type;
    if (const auto misfit = misfit_of(type, action.json()))
      return refuse("the output of step " + step->path() + *misfit, "give JSON of the step's output_type", v1::ERROR_CODE_INVALID_ARGUMENT);
  }
  note_operator(v1::EVENT_KIND_OPERATOR_SETTLE, action, index + 1);
  step->clear_not_before_unix_ms();
  // It was not known when the undo was decided: the step may be a pivot, or have no undo.
  if (completed && !of_end(*step) && (record_.state() == v1::TASK_STATE_UNDOING || record_.undo_held())) record_.set_undo_uncertain(true);
  // An attempt was made all the same: the one that was accepted has not been counted.
  if (!completed && step->kind() == v1::STEP_KIND_CALL && definition_of(*step).undo().also_if_failed())
    step->set_failure_count(std::max(step->failure_count(), 1U));
  if (step->passed_over() && !completed && step->state() != v1::STEP_STATE_UNDOING) {
    // The task has gone on without it: it is not performed any more.
    stay_failed(index);
    step->clear_doubtful();
    note(v1::EVENT_KIND_STEP_SETTLED, index, "an operator says that it never happened");
  } else if (completed) {
    finish(index, planted(&planted_faults::forget_settled_output) ? std::string{} : minify_json(action.json()));
  } else if (step->state() == v1::STEP_STATE_UNDOING) {
    undo_done(index, "an operator says that it never happened");
  } else {
    // The operator has made sure that the old key has no later effect; the service may refuse that key by now.
    pass_to_next_key(*step, out_);
    step->set_direction(v1::DIRECTION_PERFORM);
    step->clear_doubtful();
    step->clear_given_up();
    excuse(*step, v1::DIRECTION_PERFORM);
    if (step->state() != v1::STEP_STATE_PENDING) move_step(record_, index, step_moves::disprove, ctx_.now, out_);
    note(v1::EVENT_KIND_STEP_SETTLED, index, "an operator says that it never happened");
  }
  go_on(!of_end(at(index)));
}

// ---- undo, cancel, pause ----

void task_machine::operator_undo(const operated& e) {
  const auto& action = e.action;
  const auto kind = action.verb() == v1::OPERATOR_VERB_UNDO ? v1::EVENT_KIND_OPERATOR_UNDO : v1::EVENT_KIND_OPERATOR_CANCEL;
  if (record_.state() == v1::TASK_STATE_UNDOING)
    return refuse("task " + record_.id() + " is being undone already", "wait for its end: fairlead task watch " + record_.id());
  auto reason = std::string{kind == v1::EVENT_KIND_OPERATOR_UNDO ? "undo" : "cancelled"} + " by " + action.who() +
                (action.reason().empty() ? "" : ": " + action.reason());
  if (auto why = cannot_undo()) {
    // The parent asks once, and what may have happened may turn out not to have.
    if (!e.by_parent || record_.state() != v1::TASK_STATE_RUNNING || record_.undo_held()) return void(out_.refused = std::move(why));
    out_.changed = record_.undo_reason() != reason;
    record_.set_undo_reason(std::move(reason));
    // After an action a task is in no wait queue unless its decision says so.
    return advance();
  }
  note_operator(kind, action, 0);
  give_way(std::move(reason));
  advance();
}

/// Whatever has held the task up holds up no undo.
void task_machine::give_way(std::string reason) {
  // A child that cannot be cancelled any more goes on to its end.
  if (record_.paused()) ask_children(v1::OPERATOR_VERB_RESUME);
  record_.clear_paused();
  unpark(record_, ctx_.now, out_);
  begin_undo(std::move(reason), true);
  catch_up_end();
  // A child that is being undone already was asked nothing, so it does not say again that it is parked.
  const auto& all = record_.steps();
  if (std::any_of(all.begin(), all.end(), [](const v1::StepRecord& step) {
        return step.state() == v1::STEP_STATE_UNDOING && child_out(step) && step.child().parked();
      }))
    park_for_child();
}

void task_machine::operator_pause(const v1::OperatorAction& action, bool pause) {
  if (record_.state() == v1::TASK_STATE_COMPLETED) return refuse("task " + record_.id() + " is completed already", what_ends_take());
  if (!pause && !record_.paused()) {
    if (record_.parked_for_child()) return refuse_for_child();
    return record_.parked() ? refuse("task " + record_.id() + " is parked, not paused",
                                     "fairlead task show " + record_.id() + " shows the commands that help")
                            : refuse("task " + record_.id() + " is not paused", look_at_it());
  }
  if (pause && record_.paused())
    return refuse("task " + record_.id() + " is paused already", "fairlead task resume " + record_.id() + " lets it go on");
  note_operator(pause ? v1::EVENT_KIND_OPERATOR_PAUSE : v1::EVENT_KIND_OPERATOR_RESUME, action, 0);
  // Only a running task can be paused: a pending task begins and starts nothing.
  if (record_.state() == v1::TASK_STATE_PENDING) begin();
  record_.set_paused(pause);
  ask_children(action.verb());
  out_.transitions.push_back({0, pause ? state_word(record_.state()) : "paused", pause ? "paused" : state_word(record_.state()), 0, {}});
  if (pause) return;
  // Other holds of the task, an operator's or the brake's, stay.
  catch_up();
  advance();
}

/// `forward`: a step has come forward because of which the task was to be undone or to fail, perhaps.
void task_machine::go_on(bool forward) {
  if (gives_way()) return advance();
  // Only a retry releases a task that is held because its own time is over.
  if (forward && record_.state() == v1::TASK_STATE_RUNNING && (record_.undo_held() || record_.failing()) && !is_held_for_time(record_)) {
    const auto failed = std::any_of(record_.steps().begin(), record_.steps().end(), [this](const v1::StepRecord& step) {
      return step.given_up() && !step.dropped() && !of_end(step) && (answer_of(step) == answer::undo || answer_of(step) == answer::fail);
    });
    if (!failed) release_hold(false);
  }
  const auto still = std::find_if(record_.steps().begin(), record_.steps().end(), [this](const v1::StepRecord& step) {
    if (of_end(step)) return parks_end(step);
    return record_.state() == v1::TASK_STATE_RUNNING && !record_.failing() && step.given_up() && !step.dropped() &&
           answer_of(step) == answer::park;
  });
  if (still != record_.steps().end()) {
    if (record_.parked_for_child()) {
      unpark(record_, ctx_.now, out_);
      park(record_, why_given_up(*still), ctx_.now, out_);
    } else if (record_.parked()) {
      record_.set_parked_reason(why_given_up(*still));
      add_parked_alert(record_, out_.restated);
    }
  } else if (!record_.parked_for_child() || parked_child() == nullptr) {
    unpark(record_, ctx_.now, out_);
    park_for_child();
  }
  catch_up();
  advance();
}

void task_machine::release_hold(bool at_once, bool repeats_doubt) {
  if (record_.undo_held()) record_.clear_undo_reason();
  record_.clear_undo_held();
  out_.changed = true;
  if (!record_.failing()) return;
  record_.clear_failing();
  record_.clear_failed_reason();
  forget_end();
  // While the task was to fail, the steps that waited for another attempt were let go. One of them may have it fail after all.
  for (std::uint32_t i = 0; i < steps() && !record_.failing(); ++i) {
    if (at(i).given_up()) continue;
    take_up(i, at_once, repeats_doubt);
    take_up_undo(i, at_once);
    await_next_round(i);
  }
}

/// Handles what came up while nothing was allowed to start.
void task_machine::catch_up() {
  for (std::uint32_t i = 0; i < steps(); ++i) {
    recover_if_due(i);
    if (goes_forward(at(i)) && at(i).given_up()) answer_given_up(i);
  }
}

}  // namespace fairlead::core
