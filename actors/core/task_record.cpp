#include "actors/core/task_record.hpp"

#include <algorithm>

#include "actors/core/task.hpp"

namespace fairlead::core {

const char* state_word(v1::TaskState state) {
  switch (state) {
    case v1::TASK_STATE_PENDING: return "pending";
    case v1::TASK_STATE_RUNNING: return "running";
    case v1::TASK_STATE_COMPLETED: return "completed";
    case v1::TASK_STATE_UNDOING: return "undoing";
    case v1::TASK_STATE_UNDONE: return "undone";
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

void add_event(v1::TaskRecord& record, v1::EventKind kind, std::uint32_t step_plus_one, std::uint32_t attempt, moment now,
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
}

void move_step(v1::TaskRecord& record, std::uint32_t step, v1::StepState to, decision& out, std::string detail) {
  auto* target = record.mutable_steps(static_cast<int>(step));
  out.transitions.push_back({step + 1, state_word(target->state()), state_word(to), target->attempt(), std::move(detail)});
  target->set_state(to);
  out.changed = true;
}

void move_task(v1::TaskRecord& record, v1::TaskState to, decision& out, std::string detail) {
  out.transitions.push_back({0, state_word(record.state()), state_word(to), 0, std::move(detail)});
  record.set_state(to);
  out.changed = true;
}

void park(v1::TaskRecord& record, std::string reason, moment now, decision& out) {
  if (record.parked()) return;
  out.transitions.push_back({0, state_word(record.state()), "parked", 0, reason});
  record.set_parked(true);
  add_event(record, v1::EVENT_KIND_TASK_PARKED, 0, 0, now, reason);
  record.set_parked_reason(std::move(reason));
  out.changed = true;
  out.parked = true;
}

std::int64_t next_due(const v1::TaskRecord& record, const context& ctx, bool waiting) {
  if (record.state() != v1::TASK_STATE_RUNNING) return 0;
  const bool stopped = record.parked() || record.paused();
  std::int64_t due = 0;
  const auto consider = [&due](std::int64_t at) {
    if (due == 0 || at < due) due = at;
  };
  bool underway = false;
  for (const auto& step : record.steps()) {
    if (step.state() == v1::STEP_STATE_RUNNING) {
      consider(step.complete_by_unix_ms());
      underway = true;
    } else if (!stopped && (step.state() == v1::STEP_STATE_FAILED || step.state() == v1::STEP_STATE_IN_DOUBT)) {
      consider(step.not_before_unix_ms());
      underway = true;
    }
  }
  if (stopped) return due;
  // With nothing under way some ready step waits for a slot or for its input.
  if (waiting || !underway) consider(to_unix_ms(ctx.now) + waiting_recheck_ms);
  const auto limit = ctx.definition->definition().timeout_ms();
  if (limit > 0) consider(record.created_at_unix_ms() + limit);
  return due;
}

}  // namespace fairlead::core
