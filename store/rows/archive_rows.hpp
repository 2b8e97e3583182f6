#pragma once
// What a batch says about archives, as rows of the meta table. Whoever applies the batch to the tables does it (store/tables.hpp), so it is
// done alike on every copy of a shard.
//
// A task that moves is in the store until that is done, and its tombstone names the archive from the commit on. It is in the store and in
// the archive after a crash in between, and never in neither.

#include <cstdint>
#include <functional>
#include <optional>

#include "messages/task.pb.h"
#include "store/archive_day.hpp"
#include "store/batch.hpp"
#include "store/store.hpp"

namespace fairlead::store {

/// An ended task is to move to an archive.
struct task_move {
  std::uint64_t number = 0;
  archive_day to;
};

/// Adds the row, and the id's tombstone that names the archive. Nothing may be written about the task afterwards.
void put_move(batch& out, const v1::TaskRecord& record, const archive_day& to);
void erase_move(batch& out, std::uint64_t number);
/// Whether a move of the task is committed and not done yet.
result<bool> is_moving(const snapshot& from, std::uint64_t number);
/// In ascending order of the tasks' numbers.
status for_each_move(const snapshot& from, const std::function<void(const task_move&)>& visit);

/// Archives of this retention before `day` are not kept any more.
void put_drop(batch& out, std::uint32_t keep_days, std::int64_t day);
/// The day that was said last; 0: none was.
result<std::int64_t> dropped_before(const snapshot& from, std::uint32_t keep_days);
status for_each_drop(const snapshot& from, const std::function<void(std::uint32_t keep_days, std::int64_t before_day)>& visit);

}  // namespace fairlead::store
