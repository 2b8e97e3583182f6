#pragma once
// Jobs and their launches as tables for operators. As JSON: app/json/job/jobs.hpp.

#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/screen/table.hpp"
#include "app/json/job/jobs.hpp"
#include "app/json/remedies.hpp"
#include "messages/job.pb.h"

namespace fairlead::app {

/// `filtered`: only part of the jobs was requested.
std::string job_list_text(const v1::JobListReply& reply, bool filtered = false);

/// `now_unix_ms` separates past from coming times. `can_cancel`: whether the task of
/// `launch_in_the_way` can be cancelled.
std::string job_show_text(const v1::JobShowReply& reply, std::int64_t now_unix_ms, const parked_launches& parked = {},
                          bool can_cancel = false);
/// The job as a file for `job deploy`, which would create the same job.
std::string job_show_yaml(const v1::JobShowReply& reply);

std::string job_history_text(const v1::JobHistoryReply& reply);

/// The commands that an operator can use in the job's current state. Empty: nothing needs to be
/// done.
std::vector<remedy> job_remedies(const v1::JobShowReply& reply, std::int64_t now_unix_ms, const parked_launches& parked = {},
                                 bool can_cancel = false);

/// The id of the task that blocks later launches or waits for an operator; empty if there is none.
std::string launch_in_the_way(const v1::JobRecord& job, const parked_launches& parked);

// ---- parts of these ----

/// `completed`, `skipped (overlap)`.
std::string launch_text(const v1::LaunchRecord& launch);
/// What an open launch waits for, and its time limit.
std::string wait_text(const v1::JobSpec& job, const v1::OpenLaunch& launch);
/// `reports 2 (region=eu), mail 1`.
std::string needs_text(const google::protobuf::RepeatedPtrField<v1::AgentNeed>& needs);

text_table launch_table();
void add_launch_row(text_table& table, const v1::LaunchEntry& entry);
/// A history entry for a record that has none.
v1::LaunchEntry entry_of(const v1::LaunchRecord& launch);

}  // namespace fairlead::app
