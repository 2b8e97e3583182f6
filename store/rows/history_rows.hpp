#pragma once
// The history of a task. The newest events are in the task's row, older ones in chunks; beyond a limit the events of attempts are folded.

#include <cstdint>
#include <vector>

#include "messages/task.pb.h"
#include "store/batch.hpp"
#include "store/store.hpp"

namespace fairlead::store {

/// Events stay in the row until there are more than this many; then all but the newest move to a chunk of their own.
inline constexpr int recent_events_limit = 32;
inline constexpr int recent_events_kept = 8;

/// The newest events of a task are never folded. Older events that only say how attempts went are folded into one event (HISTORY_FOLDED),
/// which comes first in `recent`. Submission, operators' actions, doubt, the task's end and ends of steps are kept.
inline constexpr std::uint64_t history_limit = 10'000;

/// Moves events out of `after.recent` if it holds too many.
void move_events(batch& out, v1::TaskRecord& after);

/// Whether there are events to fold.
bool history_is_long(const v1::TaskRecord& record);

/// Folds the oldest events beyond the limit, a few chunks at a time, so that the cost does not depend on the length of the history. `from`
/// must hold the version from which `record` was made; chunks that are missing there are left to the next time.
status fold_history(batch& out, v1::TaskRecord& record, const snapshot& from);

/// The events with a greater sequence, in order: stored chunks, the event for folded ones, then the record's recent events. Reads only the
/// chunks that hold some of them.
result<std::vector<v1::HistoryEvent>> load_history(const snapshot& from, const v1::TaskRecord& record, std::uint64_t after_sequence = 0);

/// The event that stands for the task's folded events; null: none are folded. Its sequence is that of the last event that was considered.
const v1::HistoryEvent* folded_events(const v1::TaskRecord& record);

/// Number of events that `folded` stands for.
std::uint64_t folded_count(const v1::HistoryEvent& folded);

}  // namespace fairlead::store
