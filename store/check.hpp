#pragma once
// Verifies a store whole. Works on a snapshot, so beside a running node or, with `fairlead store check`, on a store that none runs on.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace fairlead::store {

struct check_report {
  std::vector<std::string> findings;    // sentences that name table and key
  std::uint64_t findings_left_out = 0;  // beyond the limit
  std::uint64_t values = 0;             // looked at
  std::uint64_t tasks = 0;

  bool clean() const noexcept { return findings.empty(); }
};

/// Called now and then with the table at work, the values of it done, and those it has.
using check_progress = std::function<void(table where, std::uint64_t done, std::uint64_t total)>;

/// What is verified: every value's checksum; that every key decodes and every value parses; that each task and its entries in task_id, due,
/// pending, held, finished, by_workflow and by_label agree both ways; that each live task that is not pending, parked or paused has a due entry
/// not later than its wake-up; history without gaps; payloads present and of the stated size; the definition of each live task; the
/// progress row's counters against the counted tasks.
check_report check(const snapshot& of, const check_progress& progress = {}, std::size_t max_findings = 100);

}  // namespace fairlead::store
