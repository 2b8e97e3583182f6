#include "actors/core/alert_words.hpp"

#include <algorithm>
#include <iterator>

namespace fairlead::core {

namespace {

struct kind_row {
  v1::AlertKind kind;
  const char* word;
  bool only_reports = false;
};
constexpr kind_row kinds[] = {
    {v1::ALERT_KIND_TASK_PARKED, "task_parked"},
    {v1::ALERT_KIND_TASK_TIMED_OUT, "task_timed_out"},
    {v1::ALERT_KIND_STEP_COOLING_OFF, "step_cooling_off"},
    {v1::ALERT_KIND_UNDO_BRAKE, "undo_brake"},
    {v1::ALERT_KIND_RECEIVER_GIVEN_UP, "receiver_given_up", true},
    {v1::ALERT_KIND_WAKE_UP_LOST, "wake_up_lost", true},
    {v1::ALERT_KIND_BREAKER_OPEN, "breaker_open"},
    {v1::ALERT_KIND_AGENT_ABSENT, "agent_absent"},
    {v1::ALERT_KIND_JOB_FAILING, "job_failing"},
    {v1::ALERT_KIND_CLOCK_BEHIND, "clock_behind"},
    {v1::ALERT_KIND_RESTORED, "restored", true},
    {v1::ALERT_KIND_STALLED, "stalled", true},
    {v1::ALERT_KIND_STORE_FULL, "store_full"},
    {v1::ALERT_KIND_JOB_MISSED, "job_missed", true},
    {v1::ALERT_KIND_STEP_FAILING, "step_failing"},
};

const kind_row* row_of(v1::AlertKind kind) {
  const auto* found = std::find_if(std::begin(kinds), std::end(kinds), [kind](const kind_row& one) { return one.kind == kind; });
  return found == std::end(kinds) ? nullptr : found;
}

}  // namespace

const char* alert_kind_word(v1::AlertKind kind) {
  const auto* row = row_of(kind);
  return row == nullptr ? "unknown" : row->word;
}

bool only_reports(v1::AlertKind kind) {
  const auto* row = row_of(kind);
  return row != nullptr && row->only_reports;
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
