#pragma once
// Makes the store of a backup fit to go on from: a new lineage of its shard, numbers that the lost time cannot have given out, and everything in
// doubt that may have been done since. Offline: nobody else may have the store open.

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
  bool relaunch = false;   // what jobs missed since the backup is left to their catch-up; else it is skipped
  core::planted_faults planted = {};
};

struct restore_report {
  v1::Lineage lineage;
  std::int64_t backup_unix_ms = 0;  // the last moment at which the backup was written to
  std::uint64_t tasks = 0;          // that go on
  std::uint64_t steps = 0;          // of theirs, that may have been performed or undone since
  std::uint64_t jobs = 0;           // with nominal times since
  std::uint64_t alert = 0;          // its number
};

/// Begun anew after it was cut short, it goes on: what it has done already it does once more, which changes only numbers. An error leaves a store
/// that no node takes until this has come to its end.
result<restore_report> restore_shard(store::restorable& in, const restore_options& how);

}  // namespace fairlead
