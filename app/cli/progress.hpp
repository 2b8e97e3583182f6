#pragma once
// Progress of a batch: a bar on a terminal, elsewhere a plain line from time to time. The progress
// goes to stderr, because stdout belongs to programs.

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

/// Shows progress at a limited rate.
class progress_display {
 public:
  /// With `quiet` nothing is shown.
  explicit progress_display(bool quiet);
  ~progress_display();
  progress_display(const progress_display&) = delete;
  progress_display& operator=(const progress_display&) = delete;

  void show(const batch_progress& progress);
  /// Shows the last state regardless of the rate, and ends the bar's line.
  void finish(const batch_progress& progress);

 private:
  void draw(const batch_progress& progress);

  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace fairlead::app
