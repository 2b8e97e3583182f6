#pragma once
// Changes a task's record for a restore: the shard goes on from a backup, and nobody knows what happened to the task since then.

#include <cstdint>
#include <optional>

#include "actors/core/planted_faults.hpp"
#include "messages/task.pb.h"
#include "messages/time.hpp"

namespace fairlead::core {

/// How much numbers rise with a restore, so that no number given out since the backup is given out again: neither by the lost shard, nor by
/// a shard restored earlier from the same backup. The older the backup, the larger the rise.
struct restored_rise {
  restored_rise(std::int64_t backup_unix_ms, moment now);

  std::uint64_t numbers;          // of tasks, alerts, positions of status events, and starts of the shard
  std::uint64_t status_sequence;  // of a task; a multiple of 1,000
  std::uint32_t attempts;         // of a step; as many are excused, so the step keeps the attempts that it had left
};

/// Changes the record of a live task and notes it in the history; false: the task is over and unchanged.
///
/// Attempts in progress have ended in doubt. A step that has not completed may have been performed since the backup, or undone if the task
/// is being undone. It is looked up, or sent again under its key in the backup (fault `restored`, task_machine::settled_since_backup).
///
/// `counted_until_unix_ms`: what was written later may never have counted, because the other replicas may have gone on without it. A task
/// that was to perform nothing more by such a write may have performed steps all the same: it is undone with these in doubt, also if it had
/// been undone already, and one that had failed names them.
///
/// `definition`: the task's version, which says what its steps of the end are: they are performed also while it is undone or is to fail. Null:
/// it has none.
bool restore_task(v1::TaskRecord& record, std::int64_t backup_unix_ms, moment now, const planted_faults& planted = {},
                  std::optional<std::int64_t> counted_until_unix_ms = std::nullopt, const v1::WorkflowDefinition* definition = nullptr);

/// Of a new child, whose parent was restored from a backup of that moment: it may have begun since, under the same id.
void may_have_begun(v1::TaskRecord& record, std::int64_t backup_unix_ms);

/// Of a step that a restored task gets by another version: it may have gone by that in the lost time.
void may_have_begun(v1::StepRecord& step, const v1::TaskRecord& of);

/// Of a child that was over at a backup of that moment, when its parent is restored from it: its undo may have begun since. `first_unix_ms`:
/// of the first backup that its parent was restored from; 0: that one.
void may_have_been_undone(v1::TaskRecord& record, std::int64_t backup_unix_ms, std::int64_t first_unix_ms);

}  // namespace fairlead::core
