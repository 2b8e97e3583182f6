#pragma once
// What a restore does to the record of a task: the shard goes on from a backup, and nobody knows what became of the task since that was made.

#include <cstdint>

#include "actors/core/planted_faults.hpp"
#include "messages/task.pb.h"
#include "messages/time.hpp"

namespace fairlead::core {

/// Numbers of attempts rise by this with each restore, so that none given out since the backup is given out again. As many are excused: the
/// attempts that are left stay as many as they were.
inline constexpr std::uint32_t restored_attempts = 1'000;
/// And starts of the shard by this.
inline constexpr std::uint64_t restored_epochs = std::uint64_t{1} << 24;
/// What numbers of tasks, alerts and status events rise by at a restore `age_ms` after its backup was made. More with each millisecond than can be given
/// out in one: a backup may be restored a second time, and nobody knows then what the first lineage has given out.
constexpr std::uint64_t restored_numbers(std::int64_t age_ms) {
  constexpr std::uint64_t a_millisecond = 64;
  return (std::uint64_t{1} << 24) + a_millisecond * static_cast<std::uint64_t>(age_ms < 0 ? 0 : age_ms);
}

/// Changes the record of a live task, and says so in its history; false: it is over, and stays as it is.
///
/// What is out has ended in doubt. A step that has not completed may have been performed since the backup, or undone where the task is being
/// undone: it is looked up, or sent again under the key that it had then (fault `restored`, task_machine::settled_since_backup).
bool restore_task(v1::TaskRecord& record, std::int64_t backup_unix_ms, moment now, const planted_faults& planted = {});

}  // namespace fairlead::core
