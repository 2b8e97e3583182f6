#pragma once
// Lists of ended tasks, archives included.

#include "messages/api.pb.h"
#include "messages/time.hpp"
#include "store/lmdb/archive.hpp"
#include "store/store.hpp"

namespace fairlead {

/// Whether the request is for such a list.
bool lists_ended(const v1::TaskListRequest& what);

/// One page: first the tasks of the store, latest end first, then those of the archives, latest day first and within a day the latest
/// submission first. A page may be short or empty and still have a cursor. With `ended_until` the archives of the asked days come before
/// others, so a day among thousands is found as fast as one alone.
v1::TaskListReply list_ended_tasks(const v1::TaskListRequest& what, const store::snapshot& from, store::archive& archives, moment now);

}  // namespace fairlead
