#pragma once
// The brake on mass undo counts, over a sliding window, how many of the tasks that ended have failed. It reports when the share is too
// large to be the tasks' own fault. Counts are in memory only; whether the brake is on is stored in ShardState. One thread.

#include <cstdint>
#include <deque>
#include <string>

#include "messages/time.hpp"

namespace fairlead {

struct undo_brake_policy {
  bool on = true;
  std::uint32_t share_percent = 50;            // brake on above this share of failures among tasks that ended
  duration window = std::chrono::minutes{10};  // length of the sliding window
  std::uint64_t at_least = 50;                 // at least so many failures
};

class undo_brake {
 public:
  explicit undo_brake(undo_brake_policy policy) : policy_(policy) {}

  void completed(moment now);
  /// A task has failed and would be undone; true: the brake must be put on.
  bool failed(moment now);
  /// Starts counting anew.
  void reset() { slices_.clear(); }

  /// `60 of 80 tasks that ended within 10m failed`.
  std::string sentence() const;

 private:
  struct slice {
    moment from;
    std::uint64_t completed = 0;
    std::uint64_t failed = 0;
  };
  slice& current(moment now);
  slice total() const;

  undo_brake_policy policy_;
  std::deque<slice> slices_;  // oldest first, a sixtieth of the window each
};

}  // namespace fairlead
