#include "app/console/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "app/cli/screen/table.hpp"

namespace fairlead::app {

bool console_output::say(const std::string& text) {
  if (shared_->abandoned) return false;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return true;
  complain("fairlead: The output cannot be written.\n");
  return false;
}

void console_output::complain(const std::string& text) {
  if (shared_->abandoned) return;
  std::fflush(stdout);
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

std::string watch_picture(const std::string& title, const std::string& text, std::size_t columns, std::size_t rows) {
  // The cursor goes home and each line is overwritten. Clearing the screen first would flicker.
  std::string out = "\x1b[H";
  std::size_t drawn = 0;
  std::size_t left_out = 0;
  const auto draw = [&](std::string_view line) {
    out += shortened(line, columns) + "\x1b[K\n";
    ++drawn;
  };
  draw(title);
  for (std::size_t from = 0; from < text.size();) {
    const auto end = std::min(text.find('\n', from), text.size());
    // One row is left for the cursor, and one for the note that lines are missing.
    if (drawn + 2 < rows)
      draw(std::string_view{text}.substr(from, end - from));
    else
      ++left_out;
    from = end + 1;
  }
  if (left_out > 0) draw("... " + std::to_string(left_out) + " lines more");
  return out + "\x1b[J";
}

terminal_size size_of_terminal() {
  terminal_size out;
  winsize told{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &told) != 0) return out;
  if (told.ws_col > 0) out.columns = told.ws_col;
  if (told.ws_row > 2) out.rows = told.ws_row;
  return out;
}

}  // namespace fairlead::app
