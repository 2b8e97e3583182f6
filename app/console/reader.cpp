#include "app/console/reader.hpp"

#include <fcntl.h>
#include <histedit.h>
#include <langinfo.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <cwchar>

#include "app/cli/screen/table.hpp"
#include "app/console/line.hpp"
#include "app/console/screen.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t most_shown = 100;
constexpr wchar_t interrupt_key = L'\x03';

std::atomic<bool> was_interrupted{false};
std::atomic<bool> is_ending{false};
std::atomic<bool> was_resized{false};
std::array<int, 2> wake{-1, -1};
std::array<struct sigaction, 5> before;
constexpr std::array<int, 5> handled{SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP};

/// Any thread of the process may get the signal, so a pipe wakes the reader's thread.
void on_signal(int number) {
  const auto kept = errno;
  (number == SIGINT ? was_interrupted : number == SIGWINCH ? was_resized : is_ending) = true;
  const char one = 1;
  if (::write(wake[1], &one, 1) < 0) {
    // A full pipe wakes the reader as well.
  }
  errno = kept;
}

}  // namespace

console_signals::console_signals() {
  if (::pipe2(wake.data(), O_CLOEXEC | O_NONBLOCK) != 0) wake = {-1, -1};
  for (std::size_t i = 0; i < handled.size(); ++i) {
    struct sigaction action {};
    // SIGTSTP is ignored: a stopped console would leave the shell a terminal without echo.
    action.sa_handler = handled[i] == SIGTSTP ? SIG_IGN : on_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(handled[i], &action, &before[i]);
  }
}

console_signals::~console_signals() {
  for (std::size_t i = 0; i < handled.size(); ++i) ::sigaction(handled[i], &before[i], nullptr);
  for (auto& end : wake) {
    if (end >= 0) ::close(end);
    end = -1;
  }
}

bool console_signals::interrupted() { return was_interrupted.exchange(false); }
bool console_signals::ending() { return is_ending.load(); }
bool console_signals::resized() { return was_resized.exchange(false); }
int console_signals::fd() { return wake[0]; }
void console_signals::drain() {
  std::array<char, 64> bin{};
  while (::read(wake[0], bin.data(), bin.size()) > 0) {
  }
}

struct console_reader::editor {
  EditLine* line = nullptr;
  History* history = nullptr;
  completer complete;
  std::string prompt;
  bool interrupted = false;

  static editor& of(EditLine* line) {
    void* out = nullptr;
    el_get(line, EL_CLIENTDATA, &out);
    return *static_cast<editor*>(out);
  }

  static char* show_prompt(EditLine* line) { return of(line).prompt.data(); }

  /// Reads one character from the terminal; returns 0 at the end.
  static int get(EditLine* line, wchar_t* out) {
    std::mbstate_t state{};
    for (;;) {
      std::array<pollfd, 2> ready{{{STDIN_FILENO, POLLIN, 0}, {console_signals::fd(), POLLIN, 0}}};
      if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) return -1;
      if (console_signals::ending()) return 0;
      if (ready[1].revents != 0) console_signals::drain();
      if (console_signals::resized()) el_resize(line);
      if (console_signals::interrupted()) {
        *out = interrupt_key;
        return 1;
      }
      if (ready[0].revents == 0) continue;
      char byte = 0;
      const auto got = ::read(STDIN_FILENO, &byte, 1);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got <= 0) return 0;
      const auto used = std::mbrtowc(out, &byte, 1, &state);
      if (used == static_cast<std::size_t>(-2)) continue;  // the character has more bytes
      if (used == static_cast<std::size_t>(-1)) *out = L'?';
      return 1;
    }
  }

  static unsigned char interrupt(EditLine* line, int) {
    of(line).interrupted = true;
    return CC_NEWLINE;
  }

  static unsigned char complete_word(EditLine* line, int) {
    auto& me = of(line);
    const auto* shown = el_line(line);
    const std::string text{shown->buffer, static_cast<std::size_t>(shown->cursor - shown->buffer)};
    auto found = me.complete(text);
    if (found.words.empty() || found.start > text.size()) return CC_REFRESH_BEEP;
    const bool only = found.words.size() == 1;
    const auto typed = text.substr(found.start);
    // A unique candidate gets a blank behind it. Otherwise an open quote stays open.
    auto fresh = quoted_word(common_beginning(found.words), found.quote);
    if (!only && found.quote != 0) fresh.pop_back();
    if (common_beginning(found.words).empty()) fresh.clear();
    if (only) fresh += " ";
    const bool gains = only || text_width(fresh) > text_width(typed);
    if (gains && fresh != typed) {
      el_deletestr(line, static_cast<int>(text_width(typed)));
      return el_insertstr(line, fresh.c_str()) == 0 ? CC_REFRESH : CC_REFRESH_BEEP;
    }
    list(found.words);
    return CC_REDISPLAY;
  }

  static void list(const std::vector<std::string>& words) {
    std::size_t width = 0;
    const auto count = std::min(words.size(), most_shown);
    for (std::size_t i = 0; i < count; ++i) width = std::max(width, text_width(words[i]) + 2);
    const auto columns = std::max<std::size_t>(1, size_of_terminal().columns / width);
    std::string out = "\n";
    for (std::size_t i = 0; i < count; ++i) {
      out += words[i];
      const bool last = (i + 1) % columns == 0 || i + 1 == count;
      out += last ? "\n" : std::string(width - text_width(words[i]), ' ');
    }
    if (words.size() > count) out += "and " + std::to_string(words.size() - count) + " more\n";
    std::fputs(out.c_str(), stdout);
    std::fflush(stdout);
  }
};

console_reader::console_reader(completer complete, const std::vector<std::string>& history) : editor_(std::make_unique<editor>()) {
  // Sets only the character encoding: the format of numbers and times must not depend on the
  // locale.
  std::setlocale(LC_CTYPE, "");
  if (std::strcmp(::nl_langinfo(CODESET), "UTF-8") != 0) std::setlocale(LC_CTYPE, "C.UTF-8");
  editor_->complete = std::move(complete);
  editor_->history = history_init();
  HistEvent event{};
  ::history(editor_->history, &event, H_SETSIZE, 1'000);
  for (const auto& line : history) ::history(editor_->history, &event, H_ENTER, line.c_str());
  auto* line = editor_->line = el_init("fairlead", stdin, stdout, stderr);
  el_set(line, EL_CLIENTDATA, editor_.get());
  el_set(line, EL_PROMPT, &editor::show_prompt);
  el_set(line, EL_SIGNAL, 0);
  el_set(line, EL_HIST, ::history, editor_->history);
  el_set(line, EL_EDITOR, "emacs");
  el_set(line, EL_GETCFN, &editor::get);
  el_set(line, EL_ADDFN, "fairlead-complete", "Complete the word", &editor::complete_word);
  el_set(line, EL_ADDFN, "fairlead-interrupt", "Clear the line", &editor::interrupt);
  el_set(line, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_source(line, nullptr);  // the operator's ~/.editrc, before the bindings that the console needs
  el_set(line, EL_BIND, "^I", "fairlead-complete", nullptr);
  el_set(line, EL_BIND, "^C", "fairlead-interrupt", nullptr);
}

console_reader::~console_reader() {
  el_end(editor_->line);
  history_end(editor_->history);
}

reader_end console_reader::next(const std::string& prompt, std::string& line) {
  editor_->prompt = prompt;
  editor_->interrupted = false;
  int count = 0;
  const char* read = el_gets(editor_->line, &count);
  if (editor_->interrupted) {
    std::fputs("^C\n", stdout);
    std::fflush(stdout);
    return reader_end::interrupted;
  }
  if (read == nullptr || count <= 0) {
    std::fputs("\n", stdout);
    std::fflush(stdout);
    return reader_end::end;
  }
  line.assign(read, static_cast<std::size_t>(count));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  return reader_end::line;
}

void console_reader::remember(const std::string& line) {
  HistEvent event{};
  ::history(editor_->history, &event, H_ENTER, line.c_str());
}

}  // namespace fairlead::app
