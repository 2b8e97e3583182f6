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
      now_ms_(settings.start_unix_ms) {
  tasks_.push_back(std::make_unique<live_task>());
  tasks_.front()->definition = definition_;
}

// ---- the world, as a decision sees it ----

core::slot_answer virtual_run::claim(const core::slot_request& what) { return {core::agent_instance{what.agent, 1}, 0}; }

result<std::string_view> virtual_run::load(const v1::TaskRecord& record, std::uint32_t slot) const {
  const auto item = items_.find(record.id());
  const auto& payloads = tasks_[item == items_.end() ? 0 : item->second]->payloads;
  const auto found = payloads.find(slot);
  if (found == payloads.end()) return error{v1::ERROR_CODE_CORRUPT, "payload " + std::to_string(slot) + " is missing", ""};
  return std::string_view{found->second};
}

core::context virtual_run::context(std::size_t task) {
  core::context out;
  out.now = from_unix_ms(now_ms_);
  out.epoch = 1;
  out.definition = tasks_[task]->definition.get();
  out.engine = &engine_;
  out.agents = this;
  out.payloads = this;
  if (task != 0) out.parent = &parent_;
  out.evaluating = &tasks_[task]->evaluating;
  return out;
}

std::string virtual_run::text_of(const v1::Payload& payload, std::size_t task) const {
  if (payload.slot() == 0) return payload.json().empty() ? "null" : payload.json();
  const auto& payloads = tasks_.at(task)->payloads;
  const auto found = payloads.find(payload.slot());
  return found == payloads.end() ? "null" : found->second;
}

const char* virtual_run::state_word() const {
  const auto& task = record();
  if (core::has_ended(task)) return core::state_word(task.state());
  if (task.parked()) return "parked";
  if (task.paused()) return "paused";
  return core::state_word(task.state());
}

/// `charge`, or `charge[2]` of an item.
std::string virtual_run::name_of(std::size_t task, const std::string& path) const {
  return task == 0 ? path : path + "[" + std::to_string(tasks_[task]->record.parent().item() - 1) + "]";
}

// ---- the run ----

void virtual_run::at(std::int64_t unix_ms, happening what, std::size_t task) {
  queue_.push({unix_ms, next_order_++, task, std::move(what)});
}

void virtual_run::plan(std::int64_t at_ms, v1::OperatorAction action, std::optional<std::uint32_t> item) {
  planned_.push_back({at_ms, std::move(action), item, false, std::nullopt});
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
  tasks_.front()->record = core::create_task(std::move(source), context(0), made);
  keep(0, made);
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
  // An operator may still undo what is completed.
  if (core::has_ended(record()) && actions_left_ == 0) return false;
  const auto due = dues_.empty() ? 0 : dues_.begin()->first;
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
    apply(core::task_due{}, dues_.begin()->second);
    return true;
  }
  const auto what = queue_.top();
  queue_.pop();
  std::visit([&](const auto& one) { happen(one, what.task); }, what.what);
  return true;
}

core::decision virtual_run::apply(const core::event& what, std::size_t task) {
  core::decision made;
  try {
    made = core::decide(tasks_[task]->record, what, context(task));
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
  keep(task, made);
  return made;
}

void virtual_run::keep(std::size_t task, core::decision& made) {
  auto& one = *tasks_[task];
  for (auto& payload : made.payloads) one.payloads[payload.slot] = payload.json;
  for (const auto slot : made.dropped_slots) one.payloads.erase(slot);
  for (; one.events_told < one.record.recent_size(); ++one.events_told) {
    const auto& event = one.record.recent(one.events_told);
    story_.push_back({since_start(event.at_unix_ms()), event, {}, task});
    if (task == 0) took_ms_ = since_start(event.at_unix_ms());
  }
  if (made.forget_asked) {
    one.evaluating.clear();
    one.tickets.clear();
  }
  look_again(task);
  // The alert of an item is about its own task.
  if (task == 0) alerts_.insert(alerts_.end(), made.alerts.begin(), made.alerts.end());
  for (const auto& perform : made.performs) hand_over(task, perform.message);
  for (auto& evaluation : made.evaluations) ask_worker(task, std::move(evaluation));
  for (auto& order : made.children) carry_out(order);
  if (task != 0 && (made.ended || made.parked || made.unparked)) tell_of_item(task);
}

/// When the task is due may have changed.
void virtual_run::look_again(std::size_t task) {
  auto& one = *tasks_[task];
  const auto due = core::has_ended(one.record) ? 0 : one.record.due_unix_ms();
  if (due == one.due_ms) return;
  dues_.erase({one.due_ms, task});
  if (due != 0) dues_.insert({due, task});
  one.due_ms = due;
}

void virtual_run::hand_over(std::size_t task, const v1::Perform& message) {
  const auto& record = tasks_[task]->record;
  const auto& of = record.steps(static_cast<int>(message.step()));
  rehearsed_attempt attempt;
  attempt.at_ms = since_start(now_ms_);
  attempt.step = message.step_path();
  if (task != 0) attempt.item = record.parent().item() - 1;
  attempt.agent = tasks_[task]->definition->step_definition(of.definition()).agent();
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
    at(answered_ms, std::move(ended), task);
    if (message.heartbeat_ms() > 0) {
      const auto every = std::max<std::int64_t>(message.heartbeat_ms() / 2, 1);
      at(now_ms_ + every, heartbeat_due{message.step(), message.direction(), message.attempt(), 1, every, answered_ms}, task);
    }
  }
  if (!answer->callback) return;
  callback_due callback;
  callback.step = name_of(task, message.step_path());
  auto& action = callback.what.action;
  action.set_verb(v1::OPERATOR_VERB_CALLBACK);
  action.set_who("service");
  if (answer->callback->fault)
    *action.mutable_fault() = *answer->callback->fault;
  else
    action.set_json(answer->callback->output);
  callback.what.content_hash = action.SerializeAsString();
  callback.what.called_back = {message.step(), of.generation()};
  at(answered_ms + answer->callback->after_ms, std::move(callback), task);
}

void virtual_run::ask_worker(std::size_t task, v1::EvaluateRequest request) {
  const auto key = core::evaluation_key(request.step(), request.part());
  const auto ticket = next_ticket_++;
  request.set_ticket(ticket);
  tasks_[task]->evaluating.insert(key);
  tasks_[task]->tickets[key] = ticket;
  auto reply = evaluate_(request);
  evaluated out;
  out.ticket = ticket;
  out.what.step = request.step();
  out.what.part = request.part();
  out.what.item = request.item();
  if (reply.has_error() && reply.error().code() != v1::ERROR_CODE_OK) {
    out.what.failure = error::from_proto(reply.error());
    // The task would ask again and again.
    if (out.what.failure->code == v1::ERROR_CODE_UNAVAILABLE && !broken_) broken_ = out.what.failure;
  }
  for (auto& text : *reply.mutable_results()) out.what.results.push_back(std::move(text));
  at(now_ms_, std::move(out), task);
}

// ---- what happens ----

void virtual_run::happen(const core::attempt_ended& what, std::size_t task) {
  const auto name = name_of(task, tasks_[task]->record.steps(static_cast<int>(what.step)).path());
  if (!apply(what, task).accepted && !broken_)
    say("the answer of step " + name + ", " + word_of(what.direction) + " attempt " + std::to_string(what.attempt) +
        ", comes too late and does not count");
}

void virtual_run::happen(const evaluated& what, std::size_t task) {
  const auto key = core::evaluation_key(what.what.step, what.what.part);
  auto& one = *tasks_[task];
  const auto asked = one.tickets.find(key);
  if (asked == one.tickets.end() || asked->second != what.ticket) return;
  one.tickets.erase(asked);
  one.evaluating.erase(key);
  apply(what.what, task);
}

void virtual_run::happen(const heartbeat_due& what, std::size_t task) {
  if (now_ms_ >= what.last_ms) return;
  core::attempt_heartbeat beat;
  beat.step = what.step;
  beat.direction = what.direction;
  beat.attempt = what.attempt;
  beat.sequence = what.sequence;
  if (!apply(beat, task).accepted) return;
  auto next = what;
  ++next.sequence;
  at(now_ms_ + what.every_ms, next, task);
}

void virtual_run::happen(const action_due& what, std::size_t task) {
  --actions_left_;
  auto& planned = planned_[what.index];
  planned.given = true;
  if (planned.item) {
    const auto item = task_of_item(planned);
    if (item)
      task = *item;
    else
      planned.refused = item.failure();
  }
  if (!planned.refused) planned.refused = std::move(apply(core::operated{planned.action}, task).refused);
  if (planned.refused) say("refused: " + planned.refused->sentence);
}

void virtual_run::happen(const callback_due& what, std::size_t task) {
  if (const auto made = apply(what.what, task); made.refused)
    say("the callback of step " + what.step + " is refused: " + made.refused->sentence);
}

}  // namespace fairlead::app
