#pragma once
// A person at a terminal: lines with editing, history and completion, by libedit.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/console/completion.hpp"

namespace fairlead::app {

/// Ctrl-C, and the end that the system asks for, while a console runs: from the beginning of its life to the end.
class console_signals {
 public:
  console_signals();
  ~console_signals();
  console_signals(const console_signals&) = delete;
  console_signals& operator=(const console_signals&) = delete;

  /// Whether Ctrl-C was pressed since it was last asked.
  static bool interrupted();
  /// SIGTERM or SIGHUP: the console should end.
  static bool ending();
  /// Becomes readable with every signal.
  static int fd();
  static void drain();
  /// Whether the terminal has another size since it was last asked.
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
