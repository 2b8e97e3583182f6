#pragma once
// Verifies a store whole. Works on a snapshot, so beside a running node or, with `fairlead store check`, on a store that none runs on.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "store/lmdb/archive.hpp"
#include "store/store.hpp"

namespace fairlead::store {

struct check_report {
  std::vector<std::string> findings;    // sentences that name table and key
  std::uint64_t findings_left_out = 0;  // beyond the limit
  std::uint64_t values = 0;             // looked at
  std::uint64_t tasks = 0;
  std::uint64_t archived_tasks = 0;  // looked at in archives

  bool clean() const noexcept { return findings.empty(); }
};

/// Called now and then with the table at work, the values of it done, and those it has.
using check_progress = std::function<void(table where, std::uint64_t done, std::uint64_t total)>;

/// What is verified: every value's checksum; that every key decodes and every value parses; that each task and its entries in task_id, due,
/// pending, held, finished, by_workflow and by_label agree both ways; that each live task that is not pending, parked or paused has a due entry
/// not later than its wake-up; history without gaps; payloads present and of the stated size; the definition of each live task; alerts and the
/// index of those that are not resolved; that each status event stands in the outbox of its address, each task's in order without gaps; that
/// each job has its entries in job_due and launch_ready and no others, is due by the time that anything of it comes, and agrees with the
/// records of its open launches both ways and with their tasks; the progress row's counters against what was counted (those that an earlier
/// release does not keep only where it did not write last, see counters.hpp). With `archives` also what stands there: rows, history and payloads as above, and that every task whose tombstone names an
/// archive that is there is in it. An archive that is not there was let go of by the retention, and a copy of a task that is still in the
/// store, or in another archive, was left by a crash: neither is a finding.
check_report check(const snapshot& of, const check_progress& progress = {}, std::size_t max_findings = 100, archive* archives = nullptr);

}  // namespace fairlead::store
