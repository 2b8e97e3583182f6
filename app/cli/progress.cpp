#include "app/cli/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace fairlead::app {

namespace {

constexpr std::chrono::milliseconds terminal_every{100};
constexpr std::chrono::seconds plain_every{2};
constexpr int bar_width = 30;

}  // namespace

std::string progress_text(const batch_progress& progress) {
  auto out = "submitted " + std::to_string(progress.acknowledged);
  if (progress.lines != 0) out += " of " + std::to_string(progress.lines);
  if (progress.waiting) out += ", ended " + std::to_string(progress.ended);
  if (progress.refused != 0) out += ", refused " + std::to_string(progress.refused);
  auto done = progress.waiting ? progress.ended : progress.acknowledged;
  if (progress.seconds > 0) out += ", " + std::to_string(static_cast<std::uint64_t>(static_cast<double>(done) / progress.seconds)) + "/s";
  return out;
}

std::string progress_bar(const batch_progress& progress, int width) {
  if (progress.lines == 0) return progress_text(progress);
  auto done = progress.refused + (progress.waiting ? progress.ended : progress.acknowledged);
  auto filled = static_cast<std::size_t>(std::min(progress.lines, done) * static_cast<std::uint64_t>(width) / progress.lines);
  return "[" + std::string(filled, '#') + std::string(static_cast<std::size_t>(width) - filled, '.') + "] " + progress_text(progress);
}

progress_line::progress_line(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {
  if (!terminal_) next_ = std::chrono::steady_clock::now() + plain_every;
}

bool progress_line::is_due() const { return !quiet_ && std::chrono::steady_clock::now() >= next_; }

void progress_line::show(const std::string& text) {
  if (quiet_) return;
  using duration = std::chrono::steady_clock::duration;
  next_ = std::chrono::steady_clock::now() + (terminal_ ? duration{terminal_every} : duration{plain_every});
  std::fputs((terminal_ ? "\r\x1b[K" + text : text + "\n").c_str(), stderr);
  std::fflush(stderr);
  drawn_ = terminal_;
}

void progress_line::end() {
  if (std::exchange(drawn_, false)) std::fputc('\n', stderr);
}

void progress_display::show(const batch_progress& progress) {
  if (line_.is_due()) draw(progress);
}

void progress_display::finish(const batch_progress& progress) {
  draw(progress);
  line_.end();
}

void progress_display::draw(const batch_progress& progress) {
  line_.show(line_.on_terminal() ? progress_bar(progress, bar_width) : progress_text(progress));
}

}  // namespace fairlead::app
