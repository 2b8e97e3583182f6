#pragma once
// The history of a task: its newest events stand in the row, older ones in chunks, and of those beyond a limit what attempts did is folded.

#include <cstdint>
#include <vector>

#include "messages/task.pb.h"
#include "store/batch.hpp"
#include "store/store.hpp"

namespace fairlead::store {

/// History events stand in the row until there are more than this many; then all but the newest move to a chunk of their own.
inline constexpr int recent_events_limit = 32;
inline constexpr int recent_events_kept = 8;

/// The newest events of a task that are never folded. Of older ones those that only say how attempts went are folded into one event
/// (HISTORY_FOLDED), which stands first in `recent`. What was submitted, what operators did, doubt, how it ended and ends of steps are kept.
inline constexpr std::uint64_t history_limit = 10'000;

/// Moves events out of `after.recent` where it holds too many.
void move_events(batch& out, v1::TaskRecord& after);

/// There is something to fold.
bool history_is_long(const v1::TaskRecord& record);

/// Folds the oldest events beyond the limit, a few chunks at a time, so that it costs the same however long the history is. `from` must hold the
/// version that `record` was made from; chunks that are not in it are left to the next time.
status fold_history(batch& out, v1::TaskRecord& record, const snapshot& from);

/// The events with a greater sequence, in order: stored chunks, what stands for folded events, then the record's recent ones. Reads the chunks that
/// hold some of them and no others.
result<std::vector<v1::HistoryEvent>> load_history(const snapshot& from, const v1::TaskRecord& record, std::uint64_t after_sequence = 0);

/// What stands for the folded events of the task; null: none are. Its sequence is that of the last event that was looked at.
const v1::HistoryEvent* folded_events(const v1::TaskRecord& record);

/// How many events it stands for.
std::uint64_t folded_count(const v1::HistoryEvent& folded);

}  // namespace fairlead::store
