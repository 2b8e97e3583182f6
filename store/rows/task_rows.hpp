#pragma once
// Converts between tasks and rows: the only place that knows the indexes of a TaskRecord.
//
// A task of three steps costs nine operations in its whole life: row, id, by_workflow and due when it is created running; the row with each
// change; row, due erased and finished when it ends. Each label adds one, a start from pending two.
//
// The due index is lazy: the entry of a live task may be earlier than its due_unix_ms, never later. So a later wake-up, which every step
// brings, writes no entry; a scan that meets an early entry reads the row and has the entry corrected (refresh_due).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "messages/holds.hpp"
#include "messages/task.pb.h"
#include "messages/task_states.hpp"
#include "store/batch.hpp"
#include "store/store.hpp"

namespace fairlead::store {

/// The index entries of a task's stored version. Taken from the record as it was read or last written, before a decision changes it. A
/// default-made value: the task is not stored yet.
struct task_index_state {
  bool exists = false;
  v1::TaskState state = v1::TASK_STATE_UNSPECIFIED;
  hold_set held = 0;
  bool launch = false;     // of a job
  bool scheduled = false;  // pending, and not in the index of pending tasks before its start
  std::int64_t due_indexed_unix_ms = 0;
  std::uint64_t pending_order = 0;
  std::int64_t finished_at_unix_ms = 0;
};

task_index_state index_state_of(const v1::TaskRecord& record);

/// Whether the task has an entry in the index of pending tasks.
inline bool waits_its_turn(const task_index_state& task) { return task.state == v1::TASK_STATE_PENDING && !task.scheduled; }

/// Adds the row and the changes of the indexes. Sets due_indexed_unix_ms in `after` and moves old events out of `after.recent`, so that
/// `after` is the stored version. Id, workflow and labels of a task never change. With `refresh_due` the due entry is made exact.
void put_task(batch& out, const task_index_state& before, v1::TaskRecord& after, bool refresh_due = false);

/// Erases an ended task: row, history, payloads and index entries; not the id. `each_row` gets the first three of these, before the erasure.
/// `from` must hold the record's version.
using row_visitor = std::function<void(table where, std::string_view key, std::string_view payload)>;
status erase_task(batch& out, const v1::TaskRecord& record, const snapshot& from, const row_visitor& each_row);

/// The id's entry of an ended task that is in no table any more. The caller says where it is, or that it was deleted.
v1::TaskTombstone tombstone_of(const v1::TaskRecord& record);
void put_tombstone(batch& out, std::string_view id, const v1::TaskTombstone& tombstone);

/// Stores JSON text too big for the row. A slot number of a task is never reused for another text.
void put_payload(batch& out, std::uint64_t number, std::uint32_t slot, std::string_view json);

/// nullopt: there is no such row (it may be in an archive).
result<std::optional<v1::TaskRecord>> load_task(const snapshot& from, std::uint64_t number);

/// The id's tombstone, which exists from the task's creation on, for ever.
result<std::optional<v1::TaskTombstone>> find_task(const snapshot& from, std::string_view id);

/// The JSON text, from the record or from its payload row. A missing row is an error (code corrupt).
result<std::string> load_payload(const snapshot& from, std::uint64_t number, const v1::Payload& payload);

/// Puts the whole history into `recent` and every payload into its place, for TaskShowReply. Never store such a record.
status load_whole(const snapshot& from, v1::TaskRecord& record);

}  // namespace fairlead::store
