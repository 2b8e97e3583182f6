#pragma once
// The counters that travel with every batch: the one place that says which task counts where.
//
// A release that does not know one of them neither keeps it nor loses it, so it would stand wrong for ever after. Hence the rule: who keeps
// all of them seals each batch with its sequence; where the seal is not the stored sequence (a store of an earlier release, or one that such
// a release wrote to in between), they are counted anew when the shard is opened, before anything is decided.

#include "messages/task.pb.h"
#include "store/batch.hpp"
#include "store/rows/task_rows.hpp"
#include "store/store.hpp"

namespace fairlead::store {

/// Takes a task's stored version out of the counters and its next one in. Give states as they stand in the indexes: `after` once put_task
/// has set the record's due entry. A default-made value: there is none.
void move_counters(v1::ShardState& shard, const task_index_state& before, const task_index_state& after);

/// Writes the counters to the batch, which has its sequence already, and seals them.
void seal_counters(batch& out, v1::ShardState& shard);

/// True when whoever wrote last kept all counters. There are two seals, because there is a release that keeps the counters of tasks and does
/// not know those of jobs; it passes the seal of the latter on as it found it.
bool counters_are_kept(const progress& stored);

/// Counts everything that can be counted and raises the numbers given last, and the latest mark, to those in use. Reads the row of each task
/// and job. `archived` stays: its tasks have only tombstones here, and every release has kept it. So do `launches` and `launches_skipped`,
/// whose records are let go of in time; a release that does not know them makes none.
status recount(const snapshot& from, v1::ShardState& shard);

}  // namespace fairlead::store
