#pragma once
// Jobs, their launches and the indexes of both. A job's row, due entry and entries of ready launches always change in one batch.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "messages/error.hpp"
#include "messages/job.pb.h"
#include "messages/task.pb.h"
#include "store/batch.hpp"
#include "store/keys.hpp"
#include "store/store.hpp"

namespace fairlead::store {

/// The index entries and counters of a job; taken from a row before a change, to know what the change moves.
struct job_index_state {
  bool exists = false;
  bool paused = false;
  std::int64_t due_indexed_unix_ms = 0;  // 0: no entry
  std::uint32_t order = 0;               // launch_order of its priority
  std::set<std::pair<ready_for, std::int64_t>> ready;

  friend bool operator==(const job_index_state&, const job_index_state&) = default;
};

job_index_state index_state_of(const v1::JobRecord& record);

/// Writes the row of a job and moves its index entries. `record.due_indexed_unix_ms` says when it is due.
void put_job(batch& out, const job_index_state& before, const v1::JobRecord& record);
/// Erases the row and its index entries; the caller erases the launches.
void erase_job(batch& out, const job_index_state& before, std::string_view name);
/// Moves jobs, jobs_paused and the counters of ready launches.
void move_job_counters(v1::ShardState& shard, const job_index_state& before, const job_index_state& after);

void put_launch(batch& out, const v1::LaunchRecord& record);
void erase_launch(batch& out, std::string_view job, std::int64_t nominal_unix_ms);

/// nullopt: there is no such row.
result<std::optional<v1::JobRecord>> load_job(const snapshot& view, std::string_view name);
result<std::optional<v1::LaunchRecord>> load_launch(const snapshot& view, std::string_view job, std::int64_t nominal_unix_ms);

/// Jobs by name, from the first name after `after`; ends when `visit` returns false.
status for_each_job(const snapshot& view, std::string_view after, const std::function<bool(const v1::JobRecord&)>& visit);
/// Launches of a job, oldest first, from `from_unix_ms` on; ends when `visit` returns false.
status for_each_launch(const snapshot& view, std::string_view job, std::int64_t from_unix_ms,
                       const std::function<bool(const v1::LaunchRecord&)>& visit);

}  // namespace fairlead::store
