#pragma once
// Verifies a whole store. Works on a snapshot: beside a running node or, with `fairlead store check`, on a store without a node.

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
  std::uint64_t values = 0;             // verified
  std::uint64_t tasks = 0;
  std::uint64_t archived_tasks = 0;  // verified in archives

  bool clean() const noexcept { return findings.empty(); }
};

/// Called now and then with the current table, its values done, and its values in total.
using check_progress = std::function<void(table where, std::uint64_t done, std::uint64_t total)>;

/// Verifies:
/// - the checksum of every value; every key decodes, and every value parses
/// - each task and its entries in task_id, due, pending, held, finished, by_workflow and by_label agree both ways
/// - each live task that is not pending, parked or paused has a due entry not later than its wake-up
/// - history without gaps; payloads present and of the stated size; the definition of each live task
/// - alerts, and the index of those not resolved; each status event is in the outbox of its address, each task's in order without gaps
/// - each job has its entries in job_due and launch_ready and no others, is due no later than its next event, and agrees both ways with the
///   records of its open launches and with their tasks
/// - the counters of the progress row against the count (those that an earlier release does not keep only if it did not write last, see
///   counters.hpp)
/// - with `archives`: rows, history and payloads there, as above; every task whose tombstone names an existing archive is in it
///
/// Not a finding: a missing archive (the retention has dropped it), and a copy of a task that is still in the store or in another archive
/// (left by a crash, or of a move that is not done yet).
check_report check(const snapshot& of, const check_progress& progress = {}, std::size_t max_findings = 100, archive* archives = nullptr);

}  // namespace fairlead::store
