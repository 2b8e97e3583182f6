#pragma once
// The part of a check that verifies jobs: their rows, their index entries, and the records of their launches.

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "messages/job.pb.h"
#include "store/check/scan.hpp"

namespace fairlead::store {

class job_check {
 public:
  explicit job_check(check_scan& all) : all_(all) {}

  void run();

  /// Counts jobs, paused jobs, and entries of ready launches; also the latest mark of all jobs.
  const v1::ShardState& counted() const noexcept { return counted_; }

 private:
  void check_launches();
  void check_launch(std::string_view key, std::string_view payload);
  void check_against_job(std::string_view key, const v1::LaunchRecord& row);
  void check_jobs();
  void check_marks(std::string_view key, const v1::JobRecord& job);
  void check_wake_up(std::string_view key, const v1::JobRecord& job);
  void check_entries(std::string_view key, const v1::JobRecord& job);
  void check_open(std::string_view key, const v1::JobRecord& job);
  void check_row_of(std::string_view key, const v1::JobRecord& job, const v1::OpenLaunch& launch);
  void check_task_of(std::string_view key, const v1::JobRecord& job, const v1::OpenLaunch& launch);
  void check_alert(std::string_view key, const v1::JobRecord& job);
  void check_due_index();
  void check_ready_index();
  void check_kept(std::string_view key, const v1::JobRecord& job);
  const v1::JobRecord* job_named(std::string_view name);

  check_scan& all_;
  v1::ShardState counted_;
  std::uint64_t due_entries_ = 0;                            // required entries
  std::unordered_map<std::string, std::uint64_t> launches_;  // records by job
  // The job found last: launches of one job are neighbours.
  std::optional<v1::JobRecord> last_job_;
  std::string last_name_;
  bool last_is_there_ = false;
};

}  // namespace fairlead::store
