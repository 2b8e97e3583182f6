#pragma once
// What a restore does to the record of a task: the shard goes on from a backup, and nobody knows what became of the task since that was made.

#include <cstdint>

#include "actors/core/planted_faults.hpp"
#include "messages/task.pb.h"
#include "messages/time.hpp"

namespace fairlead::core {

/// By how much numbers rise with a restore, so that none given out since the backup is given out again: neither by the shard that was lost, nor
/// by one that was restored from the same backup before. It is the more, the longer ago the backup was made.
struct restored_rise {
  restored_rise(std::int64_t backup_unix_ms, moment now);

  std::uint64_t numbers;          // of tasks, alerts, positions of status events, and starts of the shard
  std::uint64_t status_sequence;  // of a task; a multiple of 1,000
  std::uint32_t attempts;         // of a step; as many are excused, so that the attempts that are left stay as many as they were
};

/// Changes the record of a live task, and says so in its history; false: it is over, and stays as it is.
///
/// What is out has ended in doubt. A step that has not completed may have been performed since the backup, or undone where the task is being
/// undone: it is looked up, or sent again under the key that it had then (fault `restored`, task_machine::settled_since_backup).
bool restore_task(v1::TaskRecord& record, std::int64_t backup_unix_ms, moment now, const planted_faults& planted = {});

}  // namespace fairlead::core
