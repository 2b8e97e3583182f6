#pragma once
// Progress of what takes long, and of a batch as a bar. It goes to stderr, because stdout belongs to programs.

#include <chrono>
#include <cstdint>
#include <string>

namespace fairlead::app {

struct batch_progress {
  std::uint64_t lines = 0;         // in the file; 0: unknown
  std::uint64_t acknowledged = 0;  // submitted, or already there
  std::uint64_t refused = 0;
  std::uint64_t ended = 0;  // counted only while waiting
  bool waiting = false;     // the command waits for the ends of the tasks
  double seconds = 0;
};

/// `submitted 420 of 1000, ended 300, refused 1, 812/s`.
std::string progress_text(const batch_progress& progress);

/// The text behind a bar of `width` characters. No bar if the number of lines is unknown.
std::string progress_bar(const batch_progress& progress, int width);

/// A line that changes on a terminal, and elsewhere a line of its own from time to time.
class progress_line {
 public:
  /// With `quiet` nothing is shown.
  explicit progress_line(bool quiet);
  ~progress_line() { end(); }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  bool on_terminal() const { return terminal_; }
  /// True if the last line is old enough for another.
  bool is_due() const;
  void show(const std::string& text);
  /// What follows begins on a line of its own.
  void end();

 private:
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_{};
};

/// Shows the progress of a batch at a limited rate.
class progress_display {
 public:
  /// With `quiet` nothing is shown.
  explicit progress_display(bool quiet) : line_(quiet) {}

  void show(const batch_progress& progress);
  /// Shows the last state regardless of the rate, and ends the bar's line.
  void finish(const batch_progress& progress);

 private:
  void draw(const batch_progress& progress);

  progress_line line_;
};

}  // namespace fairlead::app
