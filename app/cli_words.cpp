#include "app/cli_words.hpp"

#include <array>
#include <cstdio>

#include "actors/core/task.hpp"
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
    case v1::EVENT_KIND_STEP_STARTED: return "step_started";
    case v1::EVENT_KIND_STEP_COMPLETED: return "step_completed";
    case v1::EVENT_KIND_STEP_FAILED: return "step_failed";
    case v1::EVENT_KIND_STEP_IN_DOUBT: return "step_in_doubt";
    case v1::EVENT_KIND_STEP_EXPIRED: return "step_expired";
    case v1::EVENT_KIND_STEP_RETRIED: return "step_retried";
    default: return "unknown";
  }
}

std::optional<v1::TaskState> task_state_from_word(std::string_view word) {
  for (auto state :
       {v1::TASK_STATE_PENDING, v1::TASK_STATE_RUNNING, v1::TASK_STATE_COMPLETED, v1::TASK_STATE_UNDOING, v1::TASK_STATE_UNDONE})
    if (word == core::state_word(state)) return state;
  return std::nullopt;
}

std::string task_state_text(v1::TaskState state, bool parked, bool paused) {
  std::string out = core::state_word(state);
  if (parked) out += ", parked";
  if (paused) out += ", paused";
  return out;
}

std::string labels_text(const google::protobuf::RepeatedPtrField<v1::Label>& labels) {
  std::string out;
  for (const auto& label : labels) {
    if (!out.empty()) out += ' ';
    out += label.key() + "=" + label.value();
  }
  return out;
}

bool task_ended(v1::TaskState state) { return state == v1::TASK_STATE_COMPLETED || state == v1::TASK_STATE_UNDONE; }

std::string bytes_text(std::uint64_t bytes) {
  static constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

std::string time_text(std::int64_t unix_ms) {
  if (unix_ms == 0) return "-";
  auto text = format_utc(unix_ms);  // 2026-03-29T01:00:00.250Z
  text[10] = ' ';
  return text.substr(0, 19) + "Z";
}

}  // namespace fairlead::app
