#include "actors/scheduler/books/undo_brake.hpp"

#include <algorithm>

namespace fairlead {

undo_brake::slice& undo_brake::current(moment now) {
  while (!slices_.empty() && slices_.front().from + policy_.window <= now) slices_.pop_front();
  const auto length = std::max(policy_.window / 60, duration{1});
  // If the clock has gone back, the newest slice counts.
  if (slices_.empty() || slices_.back().from + length <= now) slices_.push_back({now, 0, 0});
  return slices_.back();
}

undo_brake::slice undo_brake::total() const {
  slice out;
  for (const auto& one : slices_) {
    out.completed += one.completed;
    out.failed += one.failed;
  }
  return out;
}

void undo_brake::completed(moment now) {
  if (policy_.on) ++current(now).completed;
}

bool undo_brake::failed(moment now) {
  if (!policy_.on) return false;
  ++current(now).failed;
  const auto sum = total();
  return sum.failed >= policy_.at_least && sum.failed * 100 > policy_.share_percent * (sum.failed + sum.completed);
}

std::string undo_brake::sentence() const {
  const auto sum = total();
  return std::to_string(sum.failed) + " of " + std::to_string(sum.failed + sum.completed) + " tasks that ended within " +
         format_duration(policy_.window.count()) + " failed";
}

}  // namespace fairlead
