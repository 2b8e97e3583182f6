#pragma once
// Holds on a task that runs or is undone: nothing starts under a hold, attempts in progress still end. One row a hold. Several holds may be
// on at once; the task's state stays as it was. Who sets and lifts each hold: docs/architecture.md#states.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "messages/task.pb.h"

namespace fairlead {

struct hold {
  const char* word;
  char index;   // byte in the keys of the index of held tasks, for ever; 0: not in that index
  bool sleeps;  // the task needs no wake-up until the hold is lifted
  bool (v1::TaskRecord::*is_set)() const;
  std::uint64_t (v1::ShardState::*counted)() const;
  void (v1::ShardState::*set_count)(std::uint64_t);

  bool on(const v1::TaskRecord& task) const { return (task.*is_set)(); }
  std::uint64_t count(const v1::ShardState& shard) const { return (shard.*counted)(); }
  void count(v1::ShardState& shard, std::uint64_t tasks) const { (shard.*set_count)(tasks); }
};

inline const hold holds[] = {
    // The task waits for an operator, with a reason and an alert.
    {"parked", 'k', true, &v1::TaskRecord::parked, &v1::ShardState::parked, &v1::ShardState::set_parked},
    // An operator wants nothing new to start.
    {"paused", 'p', true, &v1::TaskRecord::paused, &v1::ShardState::paused, &v1::ShardState::set_paused},
    // The task would be undone, and the brake on mass undo is on.
    {"undo_held", 0, false, &v1::TaskRecord::undo_held, &v1::ShardState::undo_held, &v1::ShardState::set_undo_held},
    // The task fails as soon as no attempt is in progress.
    {"failing", 0, false, &v1::TaskRecord::failing, &v1::ShardState::failing, &v1::ShardState::set_failing},
};

/// A bit for each row.
using hold_set = std::uint8_t;
inline constexpr hold_set parked_hold = 1U << 0U;

inline hold_set holds_of(const v1::TaskRecord& task) {
  hold_set out = 0;
  for (std::size_t i = 0; i < std::size(holds); ++i)
    if (holds[i].on(task)) out = static_cast<hold_set>(out | 1U << i);
  return out;
}

/// Whether the task has any hold, so that nothing starts.
inline bool is_held(const v1::TaskRecord& task) { return holds_of(task) != 0; }

/// Whether the task needs no wake-up, except for leases in progress.
inline bool sleeps(const v1::TaskRecord& task) {
  return std::any_of(std::begin(holds), std::end(holds), [&](const hold& one) { return one.sleeps && one.on(task); });
}

/// Calls `f` with each row of `set` under which a task is counted: of the holds that let it sleep only the first counts.
template <class F>
void for_each_counted(hold_set set, const F& f) {
  bool asleep = false;
  for (std::size_t i = 0; i < std::size(holds); ++i) {
    if ((set >> i & 1U) == 0 || (holds[i].sleeps && asleep)) continue;
    asleep = asleep || holds[i].sleeps;
    f(holds[i]);
  }
}

}  // namespace fairlead
