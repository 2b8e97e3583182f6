#pragma once
// Queries of clients about tasks and workflows: committed states only, from a snapshot, without the Scheduler. Pure over the snapshot;
// bounded in work.

#include "messages/api.pb.h"
#include "messages/time.hpp"
#include "store/lmdb/archive.hpp"
#include "store/store.hpp"

namespace fairlead {

/// One page, newest first (only finished tasks: latest end first; by an id: last id first). Reads at most a fixed number of rows, so a page
/// may be short or empty and still have a cursor. For another gateway (the request has a shard) each task has the cursor that continues
/// after it.
v1::TaskListReply list_tasks(const v1::TaskListRequest& what, const store::snapshot& from, moment now);

/// Whether the list has only finished tasks and is ordered by their end.
bool lists_by_end(const v1::TaskListRequest& what);
/// Whether the list is ordered by the ids, the last one first.
bool lists_by_id(const v1::TaskListRequest& what);

/// The task with its whole history and all payloads in place; finished tasks may be in an archive.
v1::TaskShowReply show_task(const v1::TaskShowRequest& what, const store::snapshot& from, store::archive& archives);

/// At most 1,000 ids.
v1::StatesReply states_of(const v1::StatesRequest& what, const store::snapshot& from);

}  // namespace fairlead
