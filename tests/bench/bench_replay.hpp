#pragma once
// The floor: what LMDB and the disk cost alone, with the very batches of a run.

#include <string>
#include <vector>

#include "store/batch.hpp"

namespace fairlead::bench {

struct replay_result {
  double tasks_per_s = 0;
  double p50_us = 0;  // of one task's commits one after the other, when replayed from a run with one task in flight
};

/// Applies recorded groups by a bare loop over LMDB: a transaction and a sync for each group, mdb_put and mdb_del for each operation and one
/// mdb_put for the sequence and counters of the group; no checks. `groups_a_task` is how many groups make one task (for p50; 0 when groups hold many tasks).
replay_result replay(const std::vector<std::vector<store::batch>>& groups, std::uint64_t tasks, std::size_t groups_a_task,
                     const std::string& directory);

/// p50 of writing 4 KiB and fdatasync, in microseconds.
double fdatasync_p50_us(const std::string& directory);

}  // namespace fairlead::bench
