#pragma once
// What the store costs alone: the very batches of a run, committed to LMDB at once and through the journal.

#include <string>
#include <vector>

#include "store/batch.hpp"

namespace fairlead::bench {

struct store_cost {
  double tasks_per_s = 0;
  double commit_p50_us = 0;
  double commit_p99_us = 0;
  double cpu_us_per_task = 0;
  double bytes_per_task = 0;  // written to the disk, without the zeros of new segments
};

struct journal_cost : store_cost {
  double group_bytes = 0;   // of the mean write to the journal
  double write_p50_us = 0;  // the floor: such a write alone, to a file of the journal
  double apply_p50_us = 0;  // a transaction of the applier
  double apply_p99_us = 0;
  double most_unapplied_bytes = 0;  // durable in the journal and not yet in the tables; kept in memory
  double recovery_s = 0;            // without the applier: of a start that finds all that is not applied
  double recovered_bytes = 0;
};

/// Commits the recorded groups to a new store in `directory`, one after the other.
store_cost commit_to_lmdb(std::vector<std::vector<store::batch>> groups, std::uint64_t tasks, const std::string& directory);
/// The same through a journal. With its applier, what is not applied at the end is applied before the time is taken; without it nothing is
/// applied, which shows what the applier costs the commits.
journal_cost commit_to_journal(std::vector<std::vector<store::batch>> groups, std::uint64_t tasks, const std::string& directory,
                               bool applied = true);

}  // namespace fairlead::bench
