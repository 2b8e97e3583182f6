#include "app/cli/screen/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "app/cli/screen/table.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t narrowest = 40;
constexpr std::size_t longest_key = 30;

screen& of_this_thread() {
  thread_local screen one;
  return one;
}

std::size_t width_of_terminal() {
  if (const char* said = std::getenv("COLUMNS")) {
    const auto width = std::strtoul(said, nullptr, 10);
    if (width >= narrowest && width < 10'000) return width;
  }
  winsize told{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &told) == 0 && told.ws_col >= narrowest) return told.ws_col;
  return 80;
}

bool wants_colours() {
  const char* no = std::getenv("NO_COLOR");  // https://no-color.org: any value but an empty one
  const char* term = std::getenv("TERM");
  return (no == nullptr || *no == '\0') && (term == nullptr || std::string_view{term} != "dumb");
}

/// Where the text of a line begins: behind its indentation and, if it has one, its key, which two blanks end.
std::size_t begin_of_text(const std::string& line) {
  const auto indent = std::min(line.find_first_not_of(' '), line.size());
  const auto gap = line.find("  ", indent);
  if (gap == std::string::npos || gap - indent > longest_key) return indent;
  const auto text = line.find_first_not_of(' ', gap);
  return text == std::string::npos ? indent : text;
}

void add_fitted(std::string& out, const std::string& line, std::size_t width) {
  if (text_width(line) <= width || line.find('\x1b') != std::string::npos) {
    out += line;
    return;
  }
  auto begin = begin_of_text(line);
  if (begin + narrowest / 2 > width) begin = 0;
  std::string rest = line;
  for (bool first = true; text_width(rest) > width; first = false) {
    // The last blank in front of the width, but not one of the indentation or behind the key.
    auto at = std::string::npos;
    std::size_t characters = 0;
    const auto from = first ? begin : begin + 1;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      if ((static_cast<unsigned char>(rest[i]) & 0xC0U) != 0x80U && ++characters > width + 1) {
        if (at != std::string::npos) break;
      }
      if (rest[i] == ' ' && i >= from) at = i;
    }
    if (at == std::string::npos) break;
    const auto next = rest.find_first_not_of(' ', at);
    if (next == std::string::npos) break;
    out += rest.substr(0, rest.find_last_not_of(' ', at) + 1) + "\n";
    rest = std::string(begin, ' ') + rest.substr(next);
  }
  out += rest;
}

enum class mood { well, unusual, bad };

struct state_mood {
  std::string_view word;
  mood means;
};
/// The first that the state begins with or, behind a comma, has. What is not here has no colour.
constexpr std::array moods{
    state_mood{"failed", mood::bad},      state_mood{"parked", mood::bad},
    state_mood{"open", mood::bad},        state_mood{"away", mood::bad},
    state_mood{"sick", mood::bad},        state_mood{"failing", mood::bad},
    state_mood{"given up", mood::bad},    state_mood{"given_up", mood::bad},
    state_mood{"in_doubt", mood::bad},    state_mood{"down", mood::bad},
    state_mood{"could not", mood::bad},   state_mood{"undone", mood::unusual},
    state_mood{"undoing", mood::unusual}, state_mood{"retrying", mood::unusual},
    state_mood{"paused", mood::unusual},  state_mood{"draining", mood::unusual},
    state_mood{"drained", mood::unusual}, state_mood{"cooling", mood::unusual},
    state_mood{"silent", mood::unusual},  state_mood{"half", mood::unusual},
    state_mood{"skipped", mood::unusual}, state_mood{"acknowledged", mood::unusual},
    state_mood{"expired", mood::unusual}, state_mood{"restarting", mood::unusual},
    state_mood{"completed", mood::well},  state_mood{"ok", mood::well},
    state_mood{"running", mood::well},    state_mood{"active", mood::well},
    state_mood{"closed", mood::well},     state_mood{"resolved", mood::well},
    state_mood{"settled", mood::well},    state_mood{"timed", mood::unusual},
};

}  // namespace

screen screen::of_stdout() {
  screen out;
  out.now_unix_ms = &fairlead::now_unix_ms;
  if (::isatty(STDOUT_FILENO) != 1) return out;
  out.width = width_of_terminal();
  out.colours = wants_colours();
  out.moments = times::age;
  return out;
}

screen& shown_on() { return of_this_thread(); }

void show_as_written() { shown_on().width = 0; }

show_on::show_on(screen what) : before_(std::exchange(of_this_thread(), std::move(what))) {}
show_on::~show_on() { of_this_thread() = std::move(before_); }

std::string fitted(const std::string& text) {
  const auto width = shown_on().width;
  if (width == 0) return text;
  std::string out;
  for (std::size_t from = 0; from < text.size();) {
    const auto end = std::min(text.find('\n', from), text.size());
    add_fitted(out, text.substr(from, end - from), width);
    if (end < text.size()) out += '\n';
    from = end + 1;
  }
  return out;
}

std::string coloured(const std::string& text, const std::string& state) {
  if (!shown_on().colours) return text;
  const auto worst = std::find_if(moods.begin(), moods.end(), [&](const state_mood& one) {
    return state.starts_with(one.word) || state.find(", " + std::string{one.word}) != std::string::npos;
  });
  if (worst == moods.end()) return text;
  const auto* code = worst->means == mood::bad ? "\x1b[31m" : worst->means == mood::unusual ? "\x1b[33m" : "\x1b[32m";
  return code + text + "\x1b[0m";
}

}  // namespace fairlead::app
