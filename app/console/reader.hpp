#pragma once
// Reads lines from a terminal with editing, history and completion, by libedit.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/console/completion.hpp"

namespace fairlead::app {

/// Handles Ctrl-C, SIGTERM, SIGHUP and changes of the terminal's size while the object lives.
class console_signals {
 public:
  console_signals();
  ~console_signals();
  console_signals(const console_signals&) = delete;
  console_signals& operator=(const console_signals&) = delete;

  /// Whether Ctrl-C was pressed since the last call.
  static bool interrupted();
  /// Whether SIGTERM or SIGHUP has arrived: the console should end.
  static bool ending();
  /// A descriptor that becomes readable at every signal.
  static int fd();
  static void drain();
  /// Whether the terminal's size has changed since the last call.
  static bool resized();
};

enum class reader_end { line, interrupted, end };

class console_reader {
 public:
  using completer = std::function<console_candidates(const std::string& before_cursor)>;

  console_reader(completer complete, const std::vector<std::string>& history);
  ~console_reader();
  console_reader(const console_reader&) = delete;
  console_reader& operator=(const console_reader&) = delete;

  reader_end next(const std::string& prompt, std::string& line);
  void remember(const std::string& line);

 private:
  struct editor;
  std::unique_ptr<editor> editor_;
};

}  // namespace fairlead::app
