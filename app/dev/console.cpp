#include "app/dev/console.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "actors/workers/workers.hpp"
#include "app/cli/screen/table.hpp"

namespace fairlead::app {

namespace {

std::string time_of_day() {
  const auto now = std::chrono::system_clock::now();
  const auto seconds = std::chrono::system_clock::to_time_t(now);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm local{};
  ::localtime_r(&seconds, &local);
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%02d:%02d:%02d.%03d", local.tm_hour, local.tm_min, local.tm_sec, static_cast<int>(ms));
  return out.data();
}

}  // namespace

std::string transition_text(const transition& what) {
  std::string out{what.task_id};
  if (!what.step.empty()) out += "  " + std::string{what.step};
  out += "  ";
  if (!what.from.empty()) out += std::string{what.from} + " -> ";
  out += what.to;
  if (what.attempt > 1) out += ", attempt " + std::to_string(what.attempt);
  if (!what.detail.empty()) out += ", " + std::string{what.detail};
  return printable(out);
}

void dev_console::say(const std::string& line) {
  const std::lock_guard lock{mutex_};
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

void dev_console::on_transition(const transition& what) { say(time_of_day() + "  " + transition_text(what)); }

void dev_console::on_note(note_level level, std::string_view component, std::string_view sentence) {
  if (component == stand_in_component) return say(time_of_day() + "  " + printable(std::string{sentence}));
  if (level != note_level::warning && level != note_level::error) return;
  say(time_of_day() + "  " + (level == note_level::error ? "error: " : "warning: ") +
      printable(std::string{component} + ": " + std::string{sentence}));
}

}  // namespace fairlead::app
