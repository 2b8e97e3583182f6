#include "app/rehearsal/virtual_run.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "actors/core/request_limits.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/text/json.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

/// A duration of a workflow is at most 10 years, and a task may have several of them one after the other.
constexpr std::int64_t longest_run_ms = 100LL * 366 * 24 * 3'600'000;

const char* word_of(v1::Direction direction) {
  return direction == v1::DIRECTION_UNDO ? "undo" : direction == v1::DIRECTION_LOOKUP ? "look-up" : "perform";
}

}  // namespace

virtual_run::virtual_run(std::shared_ptr<const core::workflow> definition, rehearsed_agents& agents, evaluator evaluate,
                         run_settings settings)
    : definition_(std::move(definition)),
      agents_(agents),
      evaluate_(std::move(evaluate)),
      settings_(settings),
      now_ms_(settings.start_unix_ms) {}

// ---- the world, as a decision sees it ----

core::slot_answer virtual_run::claim(const core::slot_request& what) { return {core::agent_instance{what.agent, 1}, 0}; }

result<std::string_view> virtual_run::load(const v1::TaskRecord&, std::uint32_t slot) const {
  const auto found = payloads_.find(slot);
  if (found == payloads_.end()) return error{v1::ERROR_CODE_CORRUPT, "payload " + std::to_string(slot) + " is missing", ""};
  return std::string_view{found->second};
}

core::context virtual_run::context() {
  core::context out;
  out.now = from_unix_ms(now_ms_);
  out.epoch = 1;
  out.definition = definition_.get();
  out.engine = &engine_;
  out.agents = this;
  out.payloads = this;
  out.evaluating = &evaluating_;
  return out;
}

std::string virtual_run::text_of(const v1::Payload& payload) const {
  if (payload.slot() == 0) return payload.json().empty() ? "null" : payload.json();
  const auto found = payloads_.find(payload.slot());
  return found == payloads_.end() ? "null" : found->second;
}

const char* virtual_run::state_word() const {
  if (core::has_ended(record_)) return core::state_word(record_.state());
  if (record_.parked()) return "parked";
  if (record_.paused()) return "paused";
  return core::state_word(record_.state());
}

// ---- the run ----

void virtual_run::at(std::int64_t unix_ms, happening what) { queue_.push({unix_ms, next_order_++, std::move(what)}); }

void virtual_run::plan(std::int64_t at_ms, v1::OperatorAction action) {
  planned_.push_back({at_ms, std::move(action), false, std::nullopt});
  at(settings_.start_unix_ms + at_ms, action_due{planned_.size() - 1});
  ++actions_left_;
}

status virtual_run::submit(rehearsed_task task) {
  if (task.input.size() > max_input_bytes)
    return invalid("the input has more than " + std::to_string(max_input_bytes) + " bytes", "send a reference to it");
  if (const auto why = definition_->refuse_input(task.input)) return *why;
  core::new_task source;
  source.number = task.number;
  source.id = std::move(task.id);
  source.name_space = "default";
  source.content_hash = "rehearsed";
  source.input = core::minify_json(task.input);
  source.labels = std::move(task.labels);
  source.priority = task.priority;
  core::decision made;
  record_ = core::create_task(std::move(source), context(), made);
  keep(made);
  apply(core::task_admitted{});
  return nothing{};
}

status virtual_run::run() {
  while (!broken_ && step_on()) {
  }
  if (broken_) return *broken_;
  return nothing{};
}

/// False: nothing more happens.
bool virtual_run::step_on() {
  const auto ended = core::has_ended(record_);
  // An operator may still undo what is completed.
  if (ended && actions_left_ == 0) return false;
  const auto due = ended ? 0 : record_.due_unix_ms();
  if (queue_.empty() && due == 0) return false;
  const auto by_queue = !queue_.empty() && (due == 0 || queue_.top().at_ms <= due);
  const auto next = std::max(now_ms_, by_queue ? queue_.top().at_ms : due);
  const auto stop = settings_.stop_at_ms == 0 ? longest_run_ms : settings_.stop_at_ms;
  if (since_start(next) > stop) {
    if (settings_.stop_at_ms != 0) return false;
    broken_ = error{v1::ERROR_CODE_TIMED_OUT, "the task goes on for more than 100 years", "say when to stop: stop_at"};
    return false;
  }
  now_ms_ = next;
  if (++decisions_ > settings_.most_decisions) {
    broken_ = error{v1::ERROR_CODE_TIMED_OUT,
                    "the task has not ended after " + std::to_string(settings_.most_decisions) + " decisions and " +
                        format_duration(since_start(now_ms_)) + " of virtual time",
                    "an answer that repeats may keep it going: say when to stop (stop_at), or let a later answer be another"};
    return false;
  }
  if (!by_queue) {
    apply(core::task_due{});
    return true;
  }
  const auto what = queue_.top().what;
  queue_.pop();
  std::visit([this](const auto& one) { happen(one); }, what);
  return true;
}

core::decision virtual_run::apply(const core::event& what) {
  core::decision made;
  try {
    made = core::decide(record_, what, context());
  } catch (const std::exception& bug) {
    // The record is half changed: nothing can follow.
    broken_ = error{v1::ERROR_CODE_INTERNAL, std::string{"the task machine cannot decide: "} + bug.what(),
                    "this is a bug of Fairlead: report it"};
    return {};
  }
  if (made.fatal) {
    broken_ = made.fatal;
    return made;
  }
  keep(made);
  return made;
}

void virtual_run::keep(core::decision& made) {
  for (auto& payload : made.payloads) payloads_[payload.slot] = payload.json;
  for (const auto slot : made.dropped_slots) payloads_.erase(slot);
  for (; events_told_ < record_.recent_size(); ++events_told_) {
    const auto& event = record_.recent(events_told_);
    story_.push_back({since_start(event.at_unix_ms()), event, {}});
    took_ms_ = since_start(event.at_unix_ms());
  }
  if (made.forget_asked) {
    evaluating_.clear();
    tickets_.clear();
  }
  alerts_.insert(alerts_.end(), made.alerts.begin(), made.alerts.end());
  for (const auto& one : made.performs) hand_over(one.message);
  for (auto& one : made.evaluations) ask_worker(std::move(one));
  for (const auto& one : made.children) {
    if (one.begins)
      begin_child(one);
    else
      obey(one);
  }
}

void virtual_run::hand_over(const v1::Perform& message) {
  const auto& of = record_.steps(static_cast<int>(message.step()));
  rehearsed_attempt attempt;
  attempt.at_ms = since_start(now_ms_);
  attempt.step = message.step_path();
  attempt.agent = definition_->step_definition(of.definition()).agent();
  attempt.call = message.call();
  attempt.direction = message.direction();
  attempt.attempt = message.attempt();
  attempt.input = message.input();
  attempts_.push_back(attempt);
  auto answer = agents_.answer(attempt);
  if (!answer) {
    if (!broken_) broken_ = answer.failure();
    return;
  }
  const auto answered_ms = now_ms_ + answer->after_ms;
  if (!answer->never) {
    core::attempt_ended ended;
    ended.step = message.step();
    ended.direction = message.direction();
    ended.attempt = message.attempt();
    ended.tries = 1;
    ended.fault = answer->fault;
    ended.verdict = answer->verdict;
    if (!answer->fault) ended.output = core::minify_json(answer->output);
    at(answered_ms, std::move(ended));
    if (message.heartbeat_ms() > 0) {
      const auto every = std::max<std::int64_t>(message.heartbeat_ms() / 2, 1);
      at(now_ms_ + every, heartbeat_due{message.step(), message.direction(), message.attempt(), 1, every, answered_ms});
    }
  }
  if (!answer->callback) return;
  callback_due callback;
  callback.step = message.step_path();
  auto& action = callback.what.action;
  action.set_verb(v1::OPERATOR_VERB_CALLBACK);
  action.set_who("service");
  if (answer->callback->fault)
    *action.mutable_fault() = *answer->callback->fault;
  else
    action.set_json(answer->callback->output);
  callback.what.content_hash = action.SerializeAsString();
  callback.what.called_back = {message.step(), of.generation()};
  at(answered_ms + answer->callback->after_ms, std::move(callback));
}

void virtual_run::ask_worker(v1::EvaluateRequest request) {
  const auto key = core::evaluation_key(request.step(), request.part());
  const auto ticket = next_ticket_++;
  request.set_ticket(ticket);
  evaluating_.insert(key);
  tickets_[key] = ticket;
  auto reply = evaluate_(request);
  evaluated out;
  out.ticket = ticket;
  out.what.step = request.step();
  out.what.part = request.part();
  if (reply.has_error() && reply.error().code() != v1::ERROR_CODE_OK) {
    out.what.failure = error::from_proto(reply.error());
    // The task would ask again and again.
    if (out.what.failure->code == v1::ERROR_CODE_UNAVAILABLE && !broken_) broken_ = out.what.failure;
  }
  for (auto& text : *reply.mutable_results()) out.what.results.push_back(std::move(text));
  at(now_ms_, std::move(out));
}

// ---- children ----

bool virtual_run::was_cancelled(std::string_view step) const {
  return std::any_of(children_.begin(), children_.end(), [&](const auto& one) {
    return one.second.cancelled && record_.steps(static_cast<int>(one.second.step)).path() == step;
  });
}

void virtual_run::begin_child(const core::child_order& what) {
  const auto& step = record_.steps(static_cast<int>(what.step));
  rehearsed_attempt attempt;
  attempt.at_ms = since_start(now_ms_);
  attempt.step = step.path();
  attempt.call = what.workflow;
  attempt.attempt = step.attempt();
  attempt.input = what.input;
  attempts_.push_back(attempt);
  auto& one = children_[what.id];
  one.script = agents_.child(attempt);
  one.step = what.step;
  at(now_ms_ + one.script.after_ms, child_due{what.id, one.script.parked ? child_turn::park : child_turn::end});
  if (what.deadline_unix_ms != 0) at(what.deadline_unix_ms, child_due{what.id, child_turn::deadline});
}

void virtual_run::obey(const core::child_order& what) {
  const auto found = children_.find(what.id);
  if (found == children_.end()) return;
  auto& one = found->second;
  const auto lives = one.state == v1::TASK_STATE_RUNNING;
  const auto path = record_.steps(static_cast<int>(what.step)).path();
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
      attempt.direction = v1::DIRECTION_UNDO;
      attempts_.push_back(std::move(attempt));
      if (!one.script.refuses_undo) return change_child(what.id, v1::TASK_STATE_UNDONE, "undone");
      say("the undo of task " + what.id + " is refused");
      at(now_ms_,
         core::child_refused{what.step, what.id, std::string{core::child_pivot_code}, "task " + what.id + " cannot be undone any more"});
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
  core::child_changed told;
  told.step = one.step;
  told.id = id;
  told.state = state;
  told.stands = state == v1::TASK_STATE_FAILED && one.script.stands;
  told.reason = reason;
  if (state == v1::TASK_STATE_COMPLETED) told.output = core::minify_json(one.script.output);
  at(now_ms_, std::move(told));
}

void virtual_run::park_child(const std::string& id, const std::string& reason) {
  auto& one = children_.at(id);
  one.parked = true;
  core::child_changed told;
  told.step = one.step;
  told.id = id;
  told.state = one.state;
  told.parked = true;
  told.reason = reason;
  at(now_ms_, std::move(told));
}

// ---- what happens ----

void virtual_run::happen(const core::attempt_ended& what) {
  const auto path = record_.steps(static_cast<int>(what.step)).path();
  if (!apply(what).accepted && !broken_)
    say("the answer of step " + path + ", " + word_of(what.direction) + " attempt " + std::to_string(what.attempt) +
        ", comes too late and does not count");
}

void virtual_run::happen(const evaluated& what) {
  const auto key = core::evaluation_key(what.what.step, what.what.part);
  const auto asked = tickets_.find(key);
  if (asked == tickets_.end() || asked->second != what.ticket) return;
  tickets_.erase(asked);
  evaluating_.erase(key);
  apply(what.what);
}

void virtual_run::happen(const heartbeat_due& what) {
  if (now_ms_ >= what.last_ms) return;
  core::attempt_heartbeat beat;
  beat.step = what.step;
  beat.direction = what.direction;
  beat.attempt = what.attempt;
  beat.sequence = what.sequence;
  if (!apply(beat).accepted) return;
  auto next = what;
  ++next.sequence;
  at(now_ms_ + what.every_ms, next);
}

void virtual_run::happen(const action_due& what) {
  --actions_left_;
  auto& planned = planned_[what.index];
  planned.given = true;
  auto made = apply(core::operated{planned.action});
  if (made.refused) say("refused: " + made.refused->sentence);
  planned.refused = std::move(made.refused);
}

void virtual_run::happen(const child_due& what) {
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

void virtual_run::happen(const callback_due& what) {
  if (const auto made = apply(what.what); made.refused) say("the callback of step " + what.step + " is refused: " + made.refused->sentence);
}

}  // namespace fairlead::app
