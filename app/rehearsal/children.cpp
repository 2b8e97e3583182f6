// Children of the rehearsed task: those of which only the end is rehearsed, and items of a step with `for_each` and a call.

#include <algorithm>
#include <utility>

#include "actors/core/task/record.hpp"
#include "actors/core/task/steps/item_output.hpp"
#include "actors/core/text/json.hpp"
#include "app/rehearsal/virtual_run.hpp"
#include "messages/items.hpp"

namespace fairlead::app {

bool virtual_run::was_cancelled(std::string_view step, std::optional<std::uint32_t> item) const {
  return std::any_of(children_.begin(), children_.end(), [&](const auto& one) {
    return one.second.cancelled && record().steps(static_cast<int>(one.second.step)).path() == step &&
           (!item || one.second.item == *item + 1);
  });
}

void virtual_run::carry_out(core::child_order& what) {
  if (what.gathers != 0)
    gather(what);
  else if (what.begins)
    what.call_of != 0 ? begin_item(what) : begin_child(what);
  else if (const auto item = items_.find(what.id); item != items_.end())
    obey_item(what, item->second);
  else
    obey(what);
}

void virtual_run::begin_child(const core::child_order& what) {
  const auto& step = record().steps(static_cast<int>(what.step));
  rehearsed_attempt attempt;
  attempt.at_ms = since_start(now_ms_);
  attempt.step = step.path();
  attempt.call = what.workflow;
  if (what.item != 0) attempt.item = what.item - 1;
  attempt.attempt = step.attempt();
  attempt.input = what.input;
  attempts_.push_back(attempt);
  auto& one = children_[what.id];
  one.script = agents_.child(attempt);
  one.step = what.step;
  one.item = what.item;
  at(now_ms_ + one.script.after_ms, child_due{what.id, one.script.parked ? child_turn::park : child_turn::end});
  if (what.deadline_unix_ms != 0) at(what.deadline_unix_ms, child_due{what.id, child_turn::deadline});
}

void virtual_run::obey(const core::child_order& what) {
  const auto found = children_.find(what.id);
  if (found == children_.end()) return;
  auto& one = found->second;
  const auto lives = one.state == v1::TASK_STATE_RUNNING;
  const auto path = record().steps(static_cast<int>(what.step)).path();
  switch (what.action.verb()) {
    case v1::OPERATOR_VERB_CANCEL:
      if (!lives) return;
      one.cancelled = true;
      say("task " + what.id + " is cancelled" + (one.script.refuses_undo ? ", and cannot be undone any more" : ""));
      if (!one.script.refuses_undo) change_child(what.id, v1::TASK_STATE_UNDONE, "cancelled");
      return;
    case v1::OPERATOR_VERB_TERMINATE:
      if (!lives) return;
      one.cancelled = true;
      say("task " + what.id + " is terminated");
      change_child(what.id, v1::TASK_STATE_FAILED, "terminated");
      return;
    case v1::OPERATOR_VERB_PAUSE: one.paused = true; return;
    case v1::OPERATOR_VERB_RESUME:
      one.paused = false;
      if (one.held) at(now_ms_, child_due{what.id, *std::exchange(one.held, std::nullopt)});
      return;
    case v1::OPERATOR_VERB_UNDO: {
      rehearsed_attempt attempt;
      attempt.at_ms = since_start(now_ms_);
      attempt.step = path;
      if (what.item != 0) attempt.item = what.item - 1;
      attempt.direction = v1::DIRECTION_UNDO;
      attempts_.push_back(std::move(attempt));
      if (!one.script.refuses_undo) return change_child(what.id, v1::TASK_STATE_UNDONE, "undone");
      say("the undo of task " + what.id + " is refused");
      at(now_ms_, core::child_refused{what.step, what.id, std::string{core::child_pivot_code},
                                      "task " + what.id + " cannot be undone any more", 0, what.item});
      return;
    }
    default: return;
  }
}

/// The task is told afterwards: it has just decided.
void virtual_run::change_child(const std::string& id, v1::TaskState state, const std::string& reason) {
  auto& one = children_.at(id);
  one.state = state;
  one.parked = false;
  one.reason = reason;
  core::child_changed told;
  told.step = one.step;
  told.item = one.item;
  told.id = id;
  told.state = state;
  told.stands = state == v1::TASK_STATE_FAILED && one.script.stands;
  told.reason = reason;
  if (state == v1::TASK_STATE_COMPLETED && one.item == 0) told.output = core::minify_json(one.script.output);
  at(now_ms_, std::move(told));
}

void virtual_run::park_child(const std::string& id, const std::string& reason) {
  auto& one = children_.at(id);
  one.parked = true;
  core::child_changed told;
  told.step = one.step;
  told.item = one.item;
  told.id = id;
  told.state = one.state;
  told.parked = true;
  told.reason = reason;
  at(now_ms_, std::move(told));
}

void virtual_run::happen(const child_due& what, std::size_t) {
  auto& one = children_.at(what.id);
  if (one.state != v1::TASK_STATE_RUNNING) return;
  // The time of a parked task does not end.
  if (one.parked && what.what != child_turn::resume) return;
  if (one.paused) {
    if (!one.held) one.held = what.what;
    return;
  }
  const auto& script = one.script;
  switch (what.what) {
    case child_turn::park:
      park_child(what.id, *script.parked);
      if (script.resumed_ms) at(now_ms_ + *script.resumed_ms, child_due{what.id, child_turn::resume});
      return;
    case child_turn::resume: change_child(what.id, v1::TASK_STATE_RUNNING); [[fallthrough]];
    case child_turn::end:
      change_child(what.id,
                   script.ends == child_end::completed ? v1::TASK_STATE_COMPLETED
                   : script.ends == child_end::failed  ? v1::TASK_STATE_FAILED
                                                       : v1::TASK_STATE_UNDONE,
                   script.reason);
      return;
    case child_turn::deadline:
      if (script.refuses_undo) return park_child(what.id, "its time is over, and it cannot be undone any more");
      change_child(what.id, v1::TASK_STATE_UNDONE, "its time is over");
  }
}

// ---- items ----

void virtual_run::begin_item(core::child_order& what) {
  const auto& parent = record();
  auto& definition = calls_of_items_[what.call_of - 1];
  if (!definition) {
    auto made = definition_->call_of(what.call_of - 1);
    if (!made) {
      if (!broken_) broken_ = made.failure();
      return;
    }
    definition = std::move(*made);
  }
  core::new_task source;
  source.number = parent.number() + tasks_.size();
  source.id = what.id;
  source.name_space = parent.name_space();
  source.content_hash = parent.content_hash();
  source.input = std::move(what.input);
  source.labels.assign(parent.labels().begin(), parent.labels().end());
  source.priority = parent.priority();
  source.item = std::move(what.item_json);
  auto& of = source.parent.emplace();
  of.set_number(parent.number());
  of.set_id(parent.id());
  of.set_step(what.step);
  of.set_depth(1);
  of.set_item(what.item);
  of.set_call_of(what.call_of);
  const auto task = tasks_.size();
  items_[what.id] = task;
  auto& one = *tasks_.emplace_back(std::make_unique<live_task>());
  one.definition = definition;
  core::decision made;
  one.record = core::create_task(std::move(source), context(task), made);
  keep(task, made);
  apply(core::task_admitted{}, task);
}

void virtual_run::obey_item(const core::child_order& what, std::size_t task) {
  const auto was_over = core::has_ended(record(task));
  core::operated asked{what.action};
  asked.by_parent = true;
  const auto made = apply(asked, task);
  const auto state = record(task).state();
  const auto undone = state == v1::TASK_STATE_UNDOING || state == v1::TASK_STATE_UNDONE;
  if (made.refused && what.action.verb() == v1::OPERATOR_VERB_UNDO && !undone)
    at(now_ms_, core::child_refused{what.step, what.id, std::string{core::child_pivot_code}, made.refused->sentence, 0, what.item});
  else if (made.refused || was_over || record(task).parked())
    tell_of_item(task);
}

result<std::size_t> virtual_run::task_of_item(const planned_action& what) const {
  for (const auto& step : record().steps()) {
    if (step.path() != what.action.step() || !step.has_items() || *what.item >= begun_items(step.items())) continue;
    if (const auto found = items_.find(item_id(record(), step, *what.item)); found != items_.end()) return found->second;
  }
  return error{v1::ERROR_CODE_NOT_FOUND, "item " + std::to_string(*what.item) + " of step " + what.action.step() + " has not begun",
               "give the event a later time"};
}

/// The submitted task is told afterwards: it has just decided.
void virtual_run::tell_of_item(std::size_t task) {
  at(now_ms_, core::news_of(record(task)));
}

void virtual_run::gather(const core::child_order& what) {
  core::items_gathered out{what.step, what.item, what.gathers, "["};
  const auto& step = record().steps(static_cast<int>(what.step));
  for (auto item = what.item - 1; item < what.item - 1 + what.gathers; ++item)
    out.outputs += (out.outputs.size() == 1 ? "" : ",") + output_of_item(item_id(record(), step, item), what.collects);
  out.outputs += ']';
  at(now_ms_, std::move(out));
}

std::string virtual_run::output_of_item(const std::string& id, bool collects) const {
  if (const auto found = items_.find(id); found != items_.end()) {
    const auto& item = record(found->second);
    const auto failure = core::failure_of_item(&item);
    return core::item_output(failure ? "null" : text_of(item.output(), found->second), failure, collects);
  }
  const auto child = children_.find(id);
  if (child == children_.end()) return core::item_output("null", core::failure_of_item(nullptr), collects);
  const auto& one = child->second;
  if (one.state == v1::TASK_STATE_COMPLETED) return core::item_output(core::minify_json(one.script.output), std::nullopt, collects);
  const auto code = one.state == v1::TASK_STATE_UNDONE ? core::child_undone_code : core::child_failed_code;
  return core::item_output("null", core::item_failure{std::string{code}, one.reason}, collects);
}

std::optional<rehearsed_item> virtual_run::item(const v1::StepRecord& step, std::uint32_t item) const {
  if (!step.has_items() || item >= begun_items(step.items())) return std::nullopt;
  const auto id = item_id(record(), step, item);
  rehearsed_item out;
  if (const auto found = items_.find(id); found != items_.end()) {
    const auto& task = record(found->second);
    const auto& own = task.steps(0);
    out.state = core::shown_state(task, own);
    out.fault = own.fault().code();
    if (own.has_output()) out.output = text_of(own.output(), found->second);
    return out;
  }
  const auto child = children_.find(id);
  if (child == children_.end()) return std::nullopt;
  const auto& one = child->second;
  out.state = core::state_word(one.state);
  if (one.state == v1::TASK_STATE_FAILED) out.fault = core::child_failed_code;
  if (one.state == v1::TASK_STATE_UNDONE) out.fault = core::child_undone_code;
  if (one.state == v1::TASK_STATE_COMPLETED) out.output = one.script.output;
  return out;
}

}  // namespace fairlead::app
