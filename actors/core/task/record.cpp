#include "actors/core/task/record.hpp"

#include <algorithm>
#include <stdexcept>

#include "actors/core/planted_faults.hpp"
#include "actors/core/task/task.hpp"
#include "messages/holds.hpp"

namespace fairlead::core {

const char* state_word(v1::TaskState state) {
  switch (state) {
    case v1::TASK_STATE_PENDING: return "pending";
    case v1::TASK_STATE_RUNNING: return "running";
    case v1::TASK_STATE_COMPLETED: return "completed";
    case v1::TASK_STATE_UNDOING: return "undoing";
    case v1::TASK_STATE_UNDONE: return "undone";
    case v1::TASK_STATE_FAILED: return "failed";
    default: return "unknown";
  }
}

const char* state_word(v1::StepState state) {
  switch (state) {
    case v1::STEP_STATE_PENDING: return "pending";
    case v1::STEP_STATE_RUNNING: return "running";
    case v1::STEP_STATE_COMPLETED: return "completed";
    case v1::STEP_STATE_FAILED: return "failed";
    case v1::STEP_STATE_IN_DOUBT: return "in_doubt";
    case v1::STEP_STATE_SKIPPED: return "skipped";
    case v1::STEP_STATE_UNDOING: return "undoing";
    case v1::STEP_STATE_UNDONE: return "undone";
    default: return "unknown";
  }
}

const char* shown_state(const v1::TaskRecord& task, const v1::StepRecord& step) {
  if (step.state() == v1::STEP_STATE_SKIPPED && step.timed_out()) return "timed_out";
  if ((waits_itself(step) || waits_for_callback(step)) && !has_ended(task)) return "waiting";
  const auto bad = step.state() == v1::STEP_STATE_FAILED || step.state() == v1::STEP_STATE_IN_DOUBT;
  // In a task that is being undone such a step waits for its turn, or for the end of an abandoned lease, unless it is one of the end.
  const auto tried = task.state() == v1::TASK_STATE_RUNNING || step.direction() == v1::DIRECTION_LOOKUP ||
                     (!has_ended(task) && step.held_until_unix_ms() == 0);
  return bad && tried && step.not_before_unix_ms() != 0 && !step.given_up() ? "retrying" : state_word(step.state());
}

std::uint32_t attempt_of(const v1::StepRecord& step, v1::Direction direction) {
  switch (direction) {
    case v1::DIRECTION_UNDO: return step.undo().made();
    case v1::DIRECTION_LOOKUP: return step.lookup().made();
    default: return step.attempt();
  }
}

std::uint32_t failures_of(const v1::StepRecord& step, v1::Direction direction) {
  switch (direction) {
    case v1::DIRECTION_UNDO: return step.undo().failed();
    case v1::DIRECTION_LOOKUP: return step.lookup().failed();
    default: return step.failure_count();
  }
}

std::uint32_t excused_of(const v1::StepRecord& step, v1::Direction direction) {
  switch (direction) {
    case v1::DIRECTION_UNDO: return step.undo().excused();
    case v1::DIRECTION_LOOKUP: return step.lookup().excused();
    default: return step.excused();
  }
}

bool key_is_gone(const v1::Fault& fault) { return fault.code() == key_expired_code || fault.code() == restored_key_code; }

bool is_own_code(std::string_view code) {
  return code == key_expired_code || code == restored_code || code == restored_key_code || code == restored_next_code;
}

std::int64_t times_out_at(const v1::TaskRecord& record, const v1::WorkflowDefinition& definition) {
  const auto limit = definition.timeout_ms() > 0 ? wanted_since_unix_ms(record) + definition.timeout_ms() : 0;
  const auto deadline = record.deadline_unix_ms();
  return limit == 0 || (deadline > 0 && deadline < limit) ? deadline : limit;
}

std::int64_t waited_of(const v1::StepRecord& step, v1::Direction direction) {
  switch (direction) {
    case v1::DIRECTION_UNDO: return step.undo().waited_ms();
    case v1::DIRECTION_LOOKUP: return step.lookup().waited_ms();
    default: return step.waited_ms();
  }
}

void set_attempt(v1::StepRecord& step, v1::Direction direction, std::uint32_t attempt) {
  switch (direction) {
    case v1::DIRECTION_UNDO: step.mutable_undo()->set_made(attempt); break;
    case v1::DIRECTION_LOOKUP: step.mutable_lookup()->set_made(attempt); break;
    default: step.set_attempt(attempt); break;
  }
}

void set_failures(v1::StepRecord& step, v1::Direction direction, std::uint32_t failures) {
  switch (direction) {
    case v1::DIRECTION_UNDO: step.mutable_undo()->set_failed(failures); break;
    case v1::DIRECTION_LOOKUP: step.mutable_lookup()->set_failed(failures); break;
    default: step.set_failure_count(failures); break;
  }
}

void set_excused(v1::StepRecord& step, v1::Direction direction, std::uint32_t excused) {
  if (excused == excused_of(step, direction)) return;
  switch (direction) {
    case v1::DIRECTION_UNDO: step.mutable_undo()->set_excused(excused); break;
    case v1::DIRECTION_LOOKUP: step.mutable_lookup()->set_excused(excused); break;
    default: step.set_excused(excused); break;
  }
}

void set_waited(v1::StepRecord& step, v1::Direction direction, std::int64_t waited_ms) {
  if (waited_ms == waited_of(step, direction)) return;
  switch (direction) {
    case v1::DIRECTION_UNDO: step.mutable_undo()->set_waited_ms(waited_ms); break;
    case v1::DIRECTION_LOOKUP: step.mutable_lookup()->set_waited_ms(waited_ms); break;
    default: step.set_waited_ms(waited_ms); break;
  }
}

void excuse(v1::StepRecord& step, v1::Direction direction) {
  set_excused(step, direction, attempt_of(step, direction));
  set_waited(step, direction, 0);
  if (direction == v1::DIRECTION_PERFORM) step.clear_retried();
  step.clear_failing_since_unix_ms();
}

void excuse_one(v1::StepRecord& step, v1::Direction direction) { set_excused(step, direction, excused_of(step, direction) + 1); }

void set_payload(v1::TaskRecord& record, v1::Payload& target, std::string json, decision& out) {
  target.Clear();
  if (json.size() <= inline_payload_bytes) {
    target.set_json(std::move(json));
    return;
  }
  const auto slot = std::max<std::uint32_t>(record.next_slot(), 1);
  record.set_next_slot(slot + 1);
  target.set_slot(slot);
  target.set_size(json.size());
  out.payloads.push_back({slot, std::move(json)});
}

void drop_payload(const v1::Payload& target, decision& out) {
  if (target.slot() == 0) return;
  // A payload made by this very decision has not been stored.
  const auto fresh =
      std::find_if(out.payloads.begin(), out.payloads.end(), [&](const stored_payload& one) { return one.slot == target.slot(); });
  if (fresh != out.payloads.end())
    out.payloads.erase(fresh);
  else
    out.dropped_slots.push_back(target.slot());
}

v1::HistoryEvent& add_event(v1::TaskRecord& record, v1::EventKind kind, std::uint32_t step_plus_one, std::uint32_t attempt, moment now,
                            std::string detail) {
  const auto sequence = record.history_size() + 1;
  record.set_history_size(sequence);
  auto* event = record.add_recent();
  event->set_sequence(sequence);
  event->set_at_unix_ms(to_unix_ms(now));
  event->set_kind(kind);
  event->set_step(step_plus_one);
  event->set_attempt(attempt);
  if (!detail.empty()) event->set_detail(std::move(detail));
  return *event;
}

namespace {

v1::StatusEvent& new_status(v1::TaskRecord& record, v1::StatusKind kind, moment now, decision& out) {
  auto& event = out.statuses.emplace_back();
  const auto sequence = record.status_sequence() + 1;
  record.set_status_sequence(sequence);
  event.set_task_id(record.id());
  event.set_sequence(sequence);
  event.set_at_unix_ms(to_unix_ms(now));
  event.set_kind(kind);
  event.set_state(record.state());
  return event;
}

v1::StatusKind status_of(v1::TaskState state) {
  switch (state) {
    case v1::TASK_STATE_COMPLETED: return v1::STATUS_KIND_COMPLETED;
    case v1::TASK_STATE_UNDOING: return v1::STATUS_KIND_UNDOING;
    case v1::TASK_STATE_UNDONE: return v1::STATUS_KIND_UNDONE;
    case v1::TASK_STATE_FAILED: return v1::STATUS_KIND_FAILED;
    default: return v1::STATUS_KIND_UNSPECIFIED;
  }
}

template <class State>
std::logic_error impossible(const std::string& who, State from, const char* transition) {
  return std::logic_error{who + " is " + state_word(from) + ", and no transition `" + transition + "` leads from there"};
}

}  // namespace

void move_step(v1::TaskRecord& record, std::uint32_t step, const step_transition& by, moment now, decision& out, std::string detail) {
  auto* target = record.mutable_steps(static_cast<int>(step));
  if (!by.may_leave(target->state())) throw impossible("step " + target->path(), target->state(), by.name);
  out.transitions.push_back(
      {step + 1, state_word(target->state()), state_word(by.to), attempt_of(*target, target->direction()), std::move(detail)});
  target->set_state(by.to);
  out.changed = true;
  if (!record.has_reply() || !record.reply().steps()) return;
  auto& told = new_status(record, v1::STATUS_KIND_STEP, now, out);
  told.set_step(target->path());
  told.set_step_state(by.to);
}

void move_task(v1::TaskRecord& record, const task_transition& by, moment now, decision& out, std::string detail) {
  if (!by.may_leave(record.state())) throw impossible("the task", record.state(), by.name);
  const auto* from = state_word(record.state());
  record.set_state(by.to);
  record.clear_scheduled();
  out.changed = true;
  if (const auto kind = status_of(by.to); kind != v1::STATUS_KIND_UNSPECIFIED) add_status(record, kind, now, out, detail);
  out.transitions.push_back({0, from, state_word(by.to), 0, std::move(detail)});
}

void add_status(v1::TaskRecord& record, v1::StatusKind kind, moment now, decision& out, const std::string& reason) {
  if (!record.has_reply()) return;
  auto& told = new_status(record, kind, now, out);
  if (!reason.empty()) told.set_reason(reason);
}

void add_alert(const v1::TaskRecord& record, v1::AlertKind kind, const std::string& step, std::string sentence, std::string remedy,
               std::vector<v1::AlertRecord>& to) {
  auto& alert = to.emplace_back();
  alert.set_kind(kind);
  alert.set_task_id(record.id());
  alert.set_workflow(record.workflow());
  alert.set_step(step);
  alert.set_sentence(std::move(sentence));
  alert.set_remedy(std::move(remedy));
}

void add_parked_alert(const v1::TaskRecord& record, std::vector<v1::AlertRecord>& to) {
  add_alert(record, v1::ALERT_KIND_TASK_PARKED, {}, "task " + record.id() + " is parked: " + record.parked_reason(),
            "fairlead task show " + record.id(), to);
}

void park(v1::TaskRecord& record, std::string reason, moment now, decision& out, bool for_child) {
  if (record.parked()) return;
  out.transitions.push_back({0, state_word(record.state()), "parked", 0, reason});
  record.set_parked(true);
  add_event(record, v1::EVENT_KIND_TASK_PARKED, 0, 0, now, reason);
  add_status(record, v1::STATUS_KIND_PARKED, now, out, reason);
  record.set_parked_reason(std::move(reason));
  record.set_parked_for_child(for_child);
  if (!for_child) add_parked_alert(record, out.alerts);
  out.changed = true;
  out.parked = true;
}

void unpark(v1::TaskRecord& record, moment now, decision& out) {
  if (!record.parked()) return;
  out.transitions.push_back({0, "parked", state_word(record.state()), 0, {}});
  record.set_parked(false);
  record.clear_parked_reason();
  record.clear_parked_for_child();
  add_event(record, v1::EVENT_KIND_TASK_UNPARKED, 0, 0, now);
  add_status(record, v1::STATUS_KIND_UNPARKED, now, out);
  out.changed = true;
  out.unparked = true;
}

std::int64_t next_due(const v1::TaskRecord& record, const context& ctx, bool waiting) {
  if (record.scheduled()) return ctx.planted != nullptr && ctx.planted->lose_start ? 0 : record.start_at_unix_ms();
  if (record.state() != v1::TASK_STATE_RUNNING && record.state() != v1::TASK_STATE_UNDOING) return 0;
  const bool stopped = sleeps(record);
  std::int64_t due = 0;
  const auto consider = [&due](std::int64_t at) {
    if (due == 0 || at < due) due = at;
  };
  bool underway = false;
  for (const auto& step : record.steps()) {
    if (attempt_out(step)) {
      consider(lease_end(step));
      underway = true;
    } else if (!stopped && !record.undo_held() && child_out(step)) {
      consider(step.not_before_unix_ms() != 0 ? step.not_before_unix_ms() : to_unix_ms(ctx.now) + child_recheck_ms);
      underway = true;
    } else if (!stopped && !record.undo_held() && step.not_before_unix_ms() != 0) {
      consider(step.not_before_unix_ms());
      underway = true;
    }
  }
  if (stopped) return due;
  // If nothing is in progress, some ready step waits for a slot or its input, or the brake on mass undo holds the task.
  if (waiting || !underway) consider(to_unix_ms(ctx.now) + waiting_recheck_ms);
  const auto limit = times_out_at(record, ctx.definition->definition());
  const auto decided = record.timed_out() || record.undo_held() || record.failing();
  if (limit > 0 && record.state() == v1::TASK_STATE_RUNNING && !decided) consider(limit);
  return due;
}

}  // namespace fairlead::core
