#pragma once
// Jobs and their launches as JSON.

#include <cstdint>
#include <set>
#include <string>

#include "app/json/writer.hpp"
#include "messages/job.pb.h"

namespace fairlead::app {

std::string job_list_json(const v1::JobListReply& reply);

/// The nominal times of open launches whose tasks are parked, in milliseconds since 1970.
using parked_launches = std::set<std::int64_t>;

std::string job_show_json(const v1::JobShowReply& reply, const parked_launches& parked = {});
std::string job_history_json(const v1::JobHistoryReply& reply);

// ---- parts of these ----

/// The next launch of a JobSummary or a JobRecord. 0: none. The times of a paused job are skipped.
template <class Job>
std::int64_t next_of(const Job& job) {
  return job.paused() ? 0 : std::int64_t{job.next_unix_ms()};
}

/// `2026-03-29T03:00:00+02:00`: local time in the job's zone.
std::string nominal_local(const v1::LaunchRecord& launch);

void write_job_summary(json_writer& out, const v1::JobSummary& job);
void write_launch_entry(json_writer& out, const v1::LaunchEntry& entry);
/// null for an absent launch.
void write_launch(json_writer& out, const v1::LaunchRecord& launch);

}  // namespace fairlead::app
