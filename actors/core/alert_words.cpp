#include "actors/core/alert_words.hpp"

namespace fairlead::core {

const char* alert_kind_word(v1::AlertKind kind) {
  switch (kind) {
    case v1::ALERT_KIND_TASK_PARKED: return "task_parked";
    case v1::ALERT_KIND_TASK_TIMED_OUT: return "task_timed_out";
    case v1::ALERT_KIND_STEP_COOLING_OFF: return "step_cooling_off";
    case v1::ALERT_KIND_UNDO_BRAKE: return "undo_brake";
    case v1::ALERT_KIND_RECEIVER_GIVEN_UP: return "receiver_given_up";
    case v1::ALERT_KIND_WAKE_UP_LOST: return "wake_up_lost";
    case v1::ALERT_KIND_BREAKER_OPEN: return "breaker_open";
    case v1::ALERT_KIND_AGENT_ABSENT: return "agent_absent";
    case v1::ALERT_KIND_JOB_FAILING: return "job_failing";
    case v1::ALERT_KIND_CLOCK_BEHIND: return "clock_behind";
    case v1::ALERT_KIND_RESTORED: return "restored";
    case v1::ALERT_KIND_STALLED: return "stalled";
    case v1::ALERT_KIND_STORE_FULL: return "store_full";
    case v1::ALERT_KIND_JOB_MISSED: return "job_missed";
    case v1::ALERT_KIND_STEP_FAILING: return "step_failing";
    default: return "unknown";
  }
}

const char* alert_state_word(v1::AlertState state) {
  switch (state) {
    case v1::ALERT_STATE_OPEN: return "open";
    case v1::ALERT_STATE_ACKNOWLEDGED: return "acknowledged";
    case v1::ALERT_STATE_RESOLVED: return "resolved";
    default: return "unknown";
  }
}

std::optional<v1::AlertState> alert_state_from_word(std::string_view word) {
  for (const auto state : {v1::ALERT_STATE_OPEN, v1::ALERT_STATE_ACKNOWLEDGED, v1::ALERT_STATE_RESOLVED})
    if (word == alert_state_word(state)) return state;
  return std::nullopt;
}

}  // namespace fairlead::core
