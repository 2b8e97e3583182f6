#pragma once
// Jobs and launches for the tests of the store.

#include <algorithm>
#include <string>
#include <utility>

#include "store/rows/job_rows.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::store::testing {

/// Each minute; the mark stands at 60,000, so that it is due at 120,000.
inline v1::JobRecord minutely_job(const std::string& name, std::int32_t priority = 0) {
  v1::JobRecord out;
  auto& spec = *out.mutable_spec();
  spec.set_name(name);
  spec.set_schedule("* * * * *");
  spec.set_workflow("order");
  spec.set_priority(priority);
  out.set_mark_unix_ms(60'000);
  out.set_decided_until_unix_ms(60'000);
  out.set_next_unix_ms(120'000);
  out.set_due_indexed_unix_ms(120'000);
  return out;
}

inline v1::OpenLaunch waiting_launch(std::int64_t nominal_unix_ms, v1::LaunchWait waits_for) {
  v1::OpenLaunch out;
  out.set_nominal_unix_ms(nominal_unix_ms);
  out.set_state(v1::LAUNCH_STATE_WAITING);
  out.set_waits_for(waits_for);
  return out;
}

inline v1::OpenLaunch started_launch(std::int64_t nominal_unix_ms, std::uint64_t task_number) {
  v1::OpenLaunch out;
  out.set_nominal_unix_ms(nominal_unix_ms);
  out.set_state(v1::LAUNCH_STATE_STARTED);
  out.set_task_number(task_number);
  return out;
}

/// The row of an open launch.
inline v1::LaunchRecord row_of(const std::string& job, const v1::OpenLaunch& launch) {
  v1::LaunchRecord out;
  out.set_job(job);
  out.set_nominal_unix_ms(launch.nominal_unix_ms());
  out.set_state(launch.state());
  out.set_waits_for(launch.waits_for());
  out.set_task_number(launch.task_number());
  return out;
}

inline v1::LaunchRecord ended_launch(const std::string& job, std::int64_t nominal_unix_ms, v1::LaunchState state) {
  v1::LaunchRecord out;
  out.set_job(job);
  out.set_nominal_unix_ms(nominal_unix_ms);
  out.set_state(state);
  if (state == v1::LAUNCH_STATE_SKIPPED) out.set_skip(v1::SKIP_REASON_OVERLAP);
  return out;
}

/// A task that is the launch of a job.
inline v1::TaskRecord launched_order(std::uint64_t number, const std::string& job, std::int64_t nominal_unix_ms) {
  auto out = running_order(number, job + "@" + std::to_string(nominal_unix_ms));
  out.mutable_launch()->set_job(job);
  out.mutable_launch()->set_nominal_unix_ms(nominal_unix_ms);
  return out;
}

/// Writes a job as a shard does: with its entries, counters and the latest mark.
inline void store_job(test_shard& shard, batch& out, const job_index_state& before, const v1::JobRecord& after) {
  put_job(out, before, after);
  move_job_counters(shard.state(), before, index_state_of(after));
  shard.state().set_latest_mark_unix_ms(std::max(shard.state().latest_mark_unix_ms(), after.mark_unix_ms()));
}

}  // namespace fairlead::store::testing
