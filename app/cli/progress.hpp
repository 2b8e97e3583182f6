#pragma once
// Progress of a batch, for people: a bar on a terminal, a plain line now and then elsewhere. On stderr, so that stdout stays a program's.

#include <chrono>
#include <cstdint>
#include <string>

namespace fairlead::app {

struct batch_progress {
  std::uint64_t lines = 0;         // in the file; 0: not known
  std::uint64_t acknowledged = 0;  // submitted or there already
  std::uint64_t refused = 0;
  std::uint64_t ended = 0;  // only when waiting
  bool waiting = false;     // for the tasks' ends
  double seconds = 0;
};

/// `submitted 420 of 1000, ended 300, refused 1, 812/s`.
std::string progress_text(const batch_progress& progress);

/// The text behind a bar of `width` characters; without a bar when the number of lines is not known.
std::string progress_bar(const batch_progress& progress, int width);

/// Shows progress at a bearable rate.
class progress_display {
 public:
  /// `quiet` shows nothing.
  explicit progress_display(bool quiet);
  ~progress_display();
  progress_display(const progress_display&) = delete;
  progress_display& operator=(const progress_display&) = delete;

  void show(const batch_progress& progress);
  /// Shows the last state whatever the rate, and ends the bar's line.
  void finish(const batch_progress& progress);

 private:
  void draw(const batch_progress& progress);

  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace fairlead::app
