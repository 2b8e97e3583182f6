#include "app/cli/words.hpp"

#include <array>
#include <ctime>
#include <utility>

#include "actors/core/task/task.hpp"
#include "app/cli/screen/screen.hpp"
#include "app/cli/screen/table.hpp"
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
    case v1::EVENT_KIND_STEP_COOLING_OFF: return "step_cooling_off";
    case v1::EVENT_KIND_STEP_KEY_EXPIRED: return "step_key_expired";
    case v1::EVENT_KIND_TASK_RESTORED: return "task_restored";
    case v1::EVENT_KIND_HISTORY_FOLDED: return "history_folded";
    case v1::EVENT_KIND_OPERATOR_RETRY: return "operator_retry";
    case v1::EVENT_KIND_OPERATOR_SKIP: return "operator_skip";
    case v1::EVENT_KIND_OPERATOR_SETTLE: return "operator_settle";
    case v1::EVENT_KIND_OPERATOR_UNDO: return "operator_undo";
    case v1::EVENT_KIND_OPERATOR_CANCEL: return "operator_cancel";
    case v1::EVENT_KIND_OPERATOR_PAUSE: return "operator_pause";
    case v1::EVENT_KIND_OPERATOR_RESUME: return "operator_resume";
    case v1::EVENT_KIND_OPERATOR_TERMINATE: return "operator_terminate";
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
    default: return "park";
  }
}

const char* in_doubt_word(v1::InDoubt what) {
  switch (what) {
    case v1::IN_DOUBT_PARK: return "park";
    case v1::IN_DOUBT_FAIL: return "fail";
    default: return "retry";
  }
}

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

std::string as_sentence(const std::string& text) {
  auto out = printable(text);
  if (!out.empty() && out.back() != '.' && out.back() != '!' && out.back() != '?') out += '.';
  return out;
}

namespace {

/// By the clock of this machine: `2026-03-29T03:00:00`, and `+0200`.
std::pair<std::string, std::string> local_parts(std::int64_t unix_ms) {
  const auto seconds = static_cast<std::time_t>(unix_ms >= 0 ? unix_ms / 1'000 : (unix_ms - 999) / 1'000);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::array<char, 8> offset{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::strftime(offset.data(), offset.size(), "%z", &parts);
  return {text.data(), offset.data()};
}

/// Of two units the larger: an age needs no seconds once it has hours.
std::string short_age(std::int64_t ms) {
  constexpr std::int64_t minute = 60'000;
  constexpr std::int64_t hour = 60 * minute;
  constexpr std::int64_t day = 24 * hour;
  if (ms >= 2 * day) return std::to_string(ms / day) + "d";
  if (ms >= 2 * hour) return std::to_string(ms / hour) + "h";
  if (ms >= 2 * minute) return std::to_string(ms / minute) + "m";
  return std::to_string(ms / 1'000) + "s";
}

}  // namespace

std::string time_text(std::int64_t unix_ms) {
  if (unix_ms == 0) return "-";
  const auto local = shown_on().moments == screen::times::local;
  auto [text, zone] = local ? local_parts(unix_ms) : std::pair{format_utc(unix_ms), std::string{"Z"}};  // 2026-03-29T01:00:00.250Z
  text[10] = ' ';
  return text.substr(0, 19) + zone;
}

std::string exact_time_text(std::int64_t unix_ms) {
  auto utc = format_utc(unix_ms);
  if (shown_on().moments != screen::times::local) return utc;
  const auto [text, zone] = local_parts(unix_ms);
  return text + utc.substr(19, 4) + zone;
}

cell time_cell(std::int64_t unix_ms) {
  const auto& on = shown_on();
  if (unix_ms == 0 || on.moments != screen::times::age || !on.now_unix_ms) return {time_text(unix_ms), unix_ms};
  const auto ago_ms = on.now_unix_ms() - unix_ms;
  return {ago_ms >= 0 ? short_age(ago_ms) + " ago" : "in " + short_age(-ago_ms), unix_ms};
}

std::string progress_text(const v1::Progress& told) {
  std::string out;
  if (told.has_percent()) out = std::to_string(told.percent()) + " %";
  if (!told.note().empty()) out += (out.empty() ? "" : "  ") + printable(told.note());
  return out;
}

std::string age_text(std::int64_t ms) { return ms < 1'000 ? "0s" : format_duration(ms / 1'000 * 1'000); }

}  // namespace fairlead::app
