#pragma once
// Queries of clients about jobs and their launches: committed states only, straight from a snapshot. Pure over the snapshot; bounded in
// work.

#include "actors/core/job/job.hpp"
#include "messages/job.pb.h"
#include "messages/time.hpp"
#include "store/store.hpp"

namespace fairlead {

/// One page, by name. Reads at most a fixed number of jobs, so a page may be short or empty and still have a next one.
v1::JobListReply list_jobs(const v1::JobListRequest& what, const store::snapshot& from);

/// The job with its next nominal times, paused or not, and its latest launches.
v1::JobShowReply show_job(const v1::JobShowRequest& what, const store::snapshot& from, const core::zone_source& zones, moment now);

/// One page of a job's launches and skips, newest first, each with the present state of its task; for an archived task the state in its
/// row.
v1::JobHistoryReply job_history(const v1::JobHistoryRequest& what, const store::snapshot& from);

}  // namespace fairlead
