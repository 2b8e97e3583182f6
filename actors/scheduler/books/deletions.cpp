#include "actors/scheduler/books/deletions.hpp"

#include <utility>

#include "store/rows/counters.hpp"
#include "store/rows/deletion_rows.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead {

status deletion::of_stored(const v1::TaskRecord& record, const store::snapshot& from, v1::ShardState& counts, store::batch& out) const {
  if (auto erased = store::erase_task(out, record, from, {}); !erased.ok()) return erased;
  store::move_counters(counts, store::index_state_of(record), {});
  leave(record.id(), store::tombstone_of(record), out);
  return nothing{};
}

void deletion::of_archived(const std::string& id, v1::TaskTombstone tombstone, v1::ShardState& counts, store::batch& out) const {
  counts.set_archived(counts.archived() - 1);
  tombstone.clear_archived_day();
  tombstone.clear_archive_keep_days();
  leave(id, std::move(tombstone), out);
}

void deletion::leave(const std::string& id, v1::TaskTombstone tombstone, store::batch& out) const {
  tombstone.set_deleted_at_unix_ms(to_unix_ms(now_));
  tombstone.set_deleted_by(who_);
  store::put_tombstone(out, id, tombstone);
  store::put_deletion(out, tombstone.number());
}

}  // namespace fairlead
