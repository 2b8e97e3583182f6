#include "actors/core/alert_words.hpp"

#include <algorithm>
#include <iterator>

namespace fairlead::core {

namespace {

struct kind_row {
  const char* word;
  v1::AlertKind kind;
  bool only_reports = false;
};
constexpr kind_row kinds[] = {
    {"task_parked", v1::ALERT_KIND_TASK_PARKED},
    {"task_timed_out", v1::ALERT_KIND_TASK_TIMED_OUT},
    {"step_cooling_off", v1::ALERT_KIND_STEP_COOLING_OFF},
    {"undo_brake", v1::ALERT_KIND_UNDO_BRAKE},
    {"receiver_given_up", v1::ALERT_KIND_RECEIVER_GIVEN_UP, true},
    {"wake_up_lost", v1::ALERT_KIND_WAKE_UP_LOST, true},
    {"breaker_open", v1::ALERT_KIND_BREAKER_OPEN},
    {"agent_absent", v1::ALERT_KIND_AGENT_ABSENT},
    {"job_failing", v1::ALERT_KIND_JOB_FAILING},
    {"clock_behind", v1::ALERT_KIND_CLOCK_BEHIND},
    {"restored", v1::ALERT_KIND_RESTORED, true},
    {"stalled", v1::ALERT_KIND_STALLED, true},
    {"store_full", v1::ALERT_KIND_STORE_FULL},
    {"job_missed", v1::ALERT_KIND_JOB_MISSED, true},
    {"step_failing", v1::ALERT_KIND_STEP_FAILING},
    {"replica_behind", v1::ALERT_KIND_REPLICA_BEHIND},
    {"store_damaged", v1::ALERT_KIND_STORE_DAMAGED, true},
    {"certificate_ends", v1::ALERT_KIND_CERTIFICATE_ENDS},
    {"finally_failed", v1::ALERT_KIND_FINALLY_FAILED, true},
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

std::optional<v1::AlertKind> alert_kind_from_word(std::string_view word) {
  const auto* found = std::find_if(std::begin(kinds), std::end(kinds), [word](const kind_row& one) { return one.word == word; });
  return found == std::end(kinds) ? std::nullopt : std::optional{found->kind};
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
