#pragma once
// The counters that are stored with every batch: the only place that decides in which counters a task counts.
//
// A release that does not know a counter would leave it stale for ever. So a release that keeps all counters seals each batch with its
// sequence. The seal may differ from the stored sequence: an earlier release has made the store, or has written to it in between. Then the
// counters are counted anew when the shard is opened, before any decision.

#include "messages/task.pb.h"
#include "store/batch.hpp"
#include "store/rows/task_rows.hpp"
#include "store/store.hpp"

namespace fairlead::store {

/// Takes a task's stored version out of the counters and its next one in. Both states must be those of the indexes: `after` once put_task
/// has set the record's due entry. A default-made value: no task.
void move_counters(v1::ShardState& shard, const task_index_state& before, const task_index_state& after);

/// So many tasks that have ended in `state` leave the store for an archive.
void move_to_archive(v1::ShardState& shard, v1::TaskState state, std::uint64_t tasks);

/// Writes the counters to the batch, whose sequence is set already, and seals them.
void seal_counters(batch& out, v1::ShardState& shard);

/// Whether the last writer kept all counters. There are two seals, because one release keeps the counters of tasks but does not know those
/// of jobs; it passes the seal of the latter on unchanged.
bool counters_are_kept(const progress& stored);

/// Counts everything that can be counted. Raises the numbers given last, and the latest mark, to those in use. Reads the row of each task
/// and job. `archived` stays: its tasks have only tombstones here, and every release has kept it. `launches` and `launches_skipped` stay,
/// too: their records are trimmed in time, and a release that does not know these counters makes no launches.
status recount(const snapshot& from, v1::ShardState& shard);

}  // namespace fairlead::store
