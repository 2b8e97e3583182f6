#pragma once
// What clients may read of jobs and their launches: committed states only, straight from a snapshot. Pure over the snapshot; bounded in work.

#include "actors/core/job/job.hpp"
#include "messages/job.pb.h"
#include "messages/time.hpp"
#include "store/store.hpp"

namespace fairlead {

/// One page, by name. Looks at no more than a fixed number of jobs, so a page may be short, or empty, and still go on.
v1::JobListReply list_jobs(const v1::JobListRequest& what, const store::snapshot& from);

/// The job with the nominal times that come, paused or not, and its latest launches.
v1::JobShowReply show_job(const v1::JobShowRequest& what, const store::snapshot& from, const core::zone_source& zones, moment now);

/// One page of its launches and skips, newest first, each with the state its task has now; of an archived task with the state its row has.
v1::JobHistoryReply job_history(const v1::JobHistoryRequest& what, const store::snapshot& from);

}  // namespace fairlead
