#pragma once
// What holds a task that runs or is undone: nothing starts under a hold, attempts that are out still end. One row a hold; several may hold at once,
// and the state beside them stays what it was. Who sets and lifts each: docs/architecture.md#states.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "messages/task.pb.h"

namespace fairlead {

struct hold {
  const char* word;
  char index;   // its byte in the keys of the index of held tasks, for ever; 0: it has no entries there
  bool sleeps;  // the task needs no wake-up until it is lifted
  bool (v1::TaskRecord::*is_set)() const;
  std::uint64_t (v1::ShardState::*counted)() const;
  void (v1::ShardState::*set_count)(std::uint64_t);

  bool on(const v1::TaskRecord& task) const { return (task.*is_set)(); }
  std::uint64_t count(const v1::ShardState& shard) const { return (shard.*counted)(); }
  void count(v1::ShardState& shard, std::uint64_t tasks) const { (shard.*set_count)(tasks); }
};

inline const hold holds[] = {
    // It waits for an operator, with a reason and an alert.
    {"parked", 'k', true, &v1::TaskRecord::parked, &v1::ShardState::parked, &v1::ShardState::set_parked},
    // An operator wants nothing new to start.
    {"paused", 'p', true, &v1::TaskRecord::paused, &v1::ShardState::paused, &v1::ShardState::set_paused},
    // It would be undone, and the brake on mass undo is on.
    {"undo_held", 0, false, &v1::TaskRecord::undo_held, &v1::ShardState::undo_held, &v1::ShardState::set_undo_held},
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

/// Nothing starts.
inline bool is_held(const v1::TaskRecord& task) { return holds_of(task) != 0; }

/// It needs no wake-up, but for leases that are out.
inline bool sleeps(const v1::TaskRecord& task) {
  return std::any_of(std::begin(holds), std::end(holds), [&](const hold& one) { return one.sleeps && one.on(task); });
}

/// Calls `f` with each row that `set` has and that a task counts under: of holds that let it sleep it counts under the first alone.
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
