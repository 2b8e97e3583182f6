#pragma once
// What the output of commands is shown on: a terminal with a width and colours, or a pipe without both.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fairlead::app {

struct screen {
  enum class times { utc, local, age };
  std::size_t width = 0;  // characters of a line; 0: lines may have any length
  bool colours = false;
  times moments = times::utc;                 // in tables; text outside of tables has no ages
  std::function<std::int64_t()> now_unix_ms;  // for ages
  std::vector<std::string> columns;           // of tables, in this order; empty: all
  std::string sort;                           // column that tables are sorted by, with `-` in front: the last first; empty: as they come

  /// That of stdout. A terminal has its width (COLUMNS goes before what it says), ages, and colours unless NO_COLOR is set or TERM is dumb.
  static screen of_stdout();
};

/// The screen of this thread's commands. A thread that was given none has a pipe.
screen& shown_on();
/// Until the end of the command lines may have any length: text is shown as it was written.
void show_as_written();

/// During its lifetime the commands of this thread are shown on `what`.
class show_on {
 public:
  explicit show_on(screen what);
  ~show_on();
  show_on(const show_on&) = delete;
  show_on& operator=(const show_on&) = delete;

 private:
  screen before_;
};

/// Breaks lines that are longer than the screen is wide at blanks. What follows stands below the beginning of the text: behind the key of
/// `key   text`, else below the first word. A word that is longer than a line stays whole.
std::string fitted(const std::string& text);

/// The text in the colour of what a state means: red for what needs somebody, yellow for what is not as usual, green for what is well.
/// Without colours the text as it is.
std::string coloured(const std::string& text, const std::string& state);

}  // namespace fairlead::app
