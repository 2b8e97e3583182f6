#pragma once
// What clients may read: committed states only, straight from a snapshot, without the Scheduler. Pure over the snapshot; bounded in work.

#include "messages/api.pb.h"
#include "messages/time.hpp"
#include "store/lmdb/archive.hpp"
#include "store/store.hpp"

namespace fairlead {

/// One page, newest first (finished ones alone: latest end first). Looks at no more than a fixed number of rows, so a page may be short, or
/// empty, and still have a cursor that goes on.
/// To another gateway (the request has a shard) each task comes with the cursor that goes on behind it.
v1::TaskListReply list_tasks(const v1::TaskListRequest& what, const store::snapshot& from, moment now);

/// Whether the list is one of finished tasks alone, which goes by their end.
bool lists_by_end(const v1::TaskListRequest& what);

/// The task with its whole history and all payloads in place; finished tasks are found in their archive.
v1::TaskShowReply show_task(const v1::TaskShowRequest& what, const store::snapshot& from, store::archive& archives);

/// At most 1,000 ids.
v1::StatesReply states_of(const v1::StatesRequest& what, const store::snapshot& from);

v1::WorkflowListReply list_workflows(const store::snapshot& from);
v1::WorkflowShowReply show_workflow(const v1::WorkflowShowRequest& what, const store::snapshot& from);

}  // namespace fairlead
