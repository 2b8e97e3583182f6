#include "app/json/words.hpp"

#include "actors/core/task/task.hpp"
#include "messages/task_states.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

const char* fault_kind_word(v1::FaultKind kind) {
  switch (kind) {
    case v1::FAULT_KIND_TRANSIENT: return "transient";
    case v1::FAULT_KIND_PERMANENT: return "permanent";
    case v1::FAULT_KIND_IN_DOUBT: return "in_doubt";
    default: return "unknown";
  }
}

const char* event_word(v1::EventKind kind) {
  switch (kind) {
    case v1::EVENT_KIND_TASK_SUBMITTED: return "task_submitted";
    case v1::EVENT_KIND_TASK_STARTED: return "task_started";
    case v1::EVENT_KIND_TASK_COMPLETED: return "task_completed";
    case v1::EVENT_KIND_TASK_PARKED: return "task_parked";
    case v1::EVENT_KIND_TASK_UNDOING: return "task_undoing";
    case v1::EVENT_KIND_TASK_UNDONE: return "task_undone";
    case v1::EVENT_KIND_TASK_FAILING: return "task_failing";
    case v1::EVENT_KIND_TASK_FAILED: return "task_failed";
    case v1::EVENT_KIND_TASK_UNPARKED: return "task_unparked";
    case v1::EVENT_KIND_TASK_TIMED_OUT: return "task_timed_out";
    case v1::EVENT_KIND_TASK_UNDO_HELD: return "task_undo_held";
    case v1::EVENT_KIND_STEP_STARTED: return "step_started";
    case v1::EVENT_KIND_STEP_COMPLETED: return "step_completed";
    case v1::EVENT_KIND_STEP_FAILED: return "step_failed";
    case v1::EVENT_KIND_STEP_IN_DOUBT: return "step_in_doubt";
    case v1::EVENT_KIND_STEP_EXPIRED: return "step_expired";
    case v1::EVENT_KIND_STEP_RETRIED: return "step_retried";
    case v1::EVENT_KIND_STEP_UNDONE: return "step_undone";
    case v1::EVENT_KIND_STEP_SETTLED: return "step_settled";
    case v1::EVENT_KIND_STEP_GIVEN_UP: return "step_given_up";
    case v1::EVENT_KIND_STEP_PASSED_OVER: return "step_passed_over";
    case v1::EVENT_KIND_STEP_DROPPED: return "step_dropped";
    case v1::EVENT_KIND_STEP_SKIPPED: return "step_skipped";
    case v1::EVENT_KIND_STEP_WAITING: return "step_waiting";
    case v1::EVENT_KIND_STEP_TIMED_OUT: return "step_timed_out";
    case v1::EVENT_KIND_STEP_REPEATED: return "step_repeated";
    case v1::EVENT_KIND_STEP_ACCEPTED: return "step_accepted";
    case v1::EVENT_KIND_STEP_ANSWERED: return "step_answered";
    case v1::EVENT_KIND_STEP_COOLING_OFF: return "step_cooling_off";
    case v1::EVENT_KIND_STEP_KEY_EXPIRED: return "step_key_expired";
    case v1::EVENT_KIND_TASK_RESTORED: return "task_restored";
    case v1::EVENT_KIND_TASK_SIGNALED: return "task_signaled";
    case v1::EVENT_KIND_HISTORY_FOLDED: return "history_folded";
    case v1::EVENT_KIND_OPERATOR_RETRY: return "operator_retry";
    case v1::EVENT_KIND_OPERATOR_SKIP: return "operator_skip";
    case v1::EVENT_KIND_OPERATOR_SETTLE: return "operator_settle";
    case v1::EVENT_KIND_OPERATOR_UNDO: return "operator_undo";
    case v1::EVENT_KIND_OPERATOR_CANCEL: return "operator_cancel";
    case v1::EVENT_KIND_OPERATOR_PAUSE: return "operator_pause";
    case v1::EVENT_KIND_OPERATOR_RESUME: return "operator_resume";
    case v1::EVENT_KIND_OPERATOR_TERMINATE: return "operator_terminate";
    case v1::EVENT_KIND_OPERATOR_MIGRATE: return "operator_migrate";
    default: return "unknown";
  }
}

const char* direction_word(v1::Direction direction) {
  switch (direction) {
    case v1::DIRECTION_PERFORM: return "perform";
    case v1::DIRECTION_UNDO: return "undo";
    case v1::DIRECTION_LOOKUP: return "lookup";
    default: return "unknown";
  }
}

const char* on_failure_word(v1::OnFailure what) {
  switch (what) {
    case v1::ON_FAILURE_UNDO: return "undo";
    case v1::ON_FAILURE_COOL_OFF: return "cool_off";
    case v1::ON_FAILURE_FAIL: return "fail";
    case v1::ON_FAILURE_CONTINUE: return "continue";
    default: return "park";
  }
}

const char* step_kind_word(v1::StepKind kind) {
  switch (kind) {
    case v1::STEP_KIND_CALL: return "call";
    case v1::STEP_KIND_VALUE: return "value";
    case v1::STEP_KIND_WAIT: return "wait";
    case v1::STEP_KIND_SIGNAL: return "signal";
    case v1::STEP_KIND_WORKFLOW: return "workflow";
    default: return "unknown";
  }
}

const char* in_doubt_word(v1::InDoubt what) {
  switch (what) {
    case v1::IN_DOUBT_PARK: return "park";
    case v1::IN_DOUBT_FAIL: return "fail";
    default: return "retry";
  }
}

const char* failures_word(bool collect) { return collect ? "collect" : "stop"; }

const char* finally_word(v1::Finally what) { return what == v1::FINALLY_AFTER_FAILURE ? "after_failure" : "always"; }

std::string task_state_words() {
  std::string out;
  for (const auto& one : task_states) out += (out.empty() ? "" : ", ") + std::string{core::state_word(one.state)};
  return out;
}

std::optional<v1::TaskState> task_state_from_word(std::string_view word) {
  for (const auto& one : task_states)
    if (word == core::state_word(one.state)) return one.state;
  return std::nullopt;
}

std::string utc_words(std::int64_t unix_ms) {
  auto out = format_utc(unix_ms).substr(0, 19) + "Z";
  out[10] = ' ';
  return out;
}

std::string as_remedy(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z' && text.rfind("fairlead ", 0) != 0)
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

}  // namespace fairlead::app
