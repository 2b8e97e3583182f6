#include "app/cli/words.hpp"

#include <array>
#include <ctime>
#include <utility>

#include "actors/core/task/task.hpp"
#include "app/cli/screen/screen.hpp"
#include "app/cli/screen/table.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

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
  if (shown_on().moments != screen::times::local) return utc_words(unix_ms);
  auto [text, zone] = local_parts(unix_ms);
  text[10] = ' ';
  return text + zone;
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
