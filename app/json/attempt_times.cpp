#include "app/json/attempt_times.hpp"

#include <algorithm>

#include "app/json/words.hpp"

namespace fairlead::app {

namespace {

/// Empty: the event ends no attempt.
const char* end_word(v1::EventKind kind) {
  switch (kind) {
    case v1::EVENT_KIND_STEP_REPEATED:
    case v1::EVENT_KIND_STEP_COMPLETED: return "completed";
    case v1::EVENT_KIND_STEP_ACCEPTED: return "accepted";
    case v1::EVENT_KIND_STEP_FAILED: return "failed";
    case v1::EVENT_KIND_STEP_IN_DOUBT: return "in_doubt";
    case v1::EVENT_KIND_STEP_EXPIRED: return "expired";
    case v1::EVENT_KIND_STEP_UNDONE: return "undone";
    case v1::EVENT_KIND_STEP_SETTLED: return "settled";
    default: return "";
  }
}

}  // namespace

std::vector<attempt_time> attempt_times(const v1::TaskRecord& record) {
  std::vector<attempt_time> out;
  for (const auto& event : record.recent()) {
    if (event.step() == 0 || event.step() > static_cast<std::uint32_t>(record.steps_size())) continue;
    const auto step = event.step() - 1;
    if (event.kind() == v1::EVENT_KIND_STEP_STARTED) {
      out.push_back({step, event.attempt(), event.direction(), event.at_unix_ms(), 0, {}});
      continue;
    }
    const std::string end = end_word(event.kind());
    if (end.empty()) continue;
    // A step has one attempt at a time.
    const auto open = std::find_if(out.rbegin(), out.rend(), [&](const auto& one) { return one.step == step; });
    if (open == out.rend() || !open->end.empty()) continue;
    open->ended_unix_ms = event.at_unix_ms();
    open->end = end;
  }
  return out;
}

std::string attempt_word(std::uint32_t attempt, v1::Direction direction) {
  auto out = std::to_string(attempt);
  if (direction != v1::DIRECTION_PERFORM) out += std::string{" "} + direction_word(direction);
  return out;
}

}  // namespace fairlead::app
