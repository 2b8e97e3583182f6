#pragma once
// Prepares the store of a backup for further use: a new lineage of its shard, numbers beyond those that the lost time may have given out,
// and all steps in doubt that may have been done since. Offline: the store must not be open elsewhere.

#include <cstdint>
#include <string>

#include "actors/core/planted_faults.hpp"
#include "messages/common.pb.h"
#include "messages/error.hpp"
#include "store/restorable.hpp"

namespace fairlead {

struct restore_options {
  std::int64_t now_unix_ms = 0;
  std::uint64_t bits = 0;  // random, of the new lineage
  bool relaunch = false;   // times missed since the backup are left to the jobs' catch-up; else they are skipped
  bool recovered = false;  // it is no backup, but one of several copies that goes on without the others
  core::planted_faults planted = {};
};

struct restore_report {
  v1::Lineage lineage;
  std::int64_t backup_unix_ms = 0;  // last write to the backup
  std::uint64_t tasks = 0;          // tasks that go on
  std::uint64_t steps = 0;          // their steps that may have been performed or undone since
  std::uint64_t jobs = 0;           // jobs with nominal times since
  std::uint64_t alert = 0;          // number of the alert, as the cluster numbers it
};

/// May be repeated after an interruption: work already done is repeated, which changes only numbers. After an error no node takes the store
/// until a restore has completed.
result<restore_report> restore_shard(store::restorable& in, const restore_options& how);

}  // namespace fairlead
