#include "store/check/archive.hpp"

#include "store/check/task.hpp"
#include "store/meta_rows.hpp"
#include "store/rows/archive_rows.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead::store {

namespace {

bool names(const v1::TaskTombstone& tombstone, const archive_day& which) {
  return tombstone.archived_day() == which.day && tombstone.archive_keep_days() == which.keep_days;
}

}  // namespace

void archive_check::run() {
  const auto all = archives_.all();
  if (!all) return all_.add(all.failure().sentence);
  for (const auto& which : *all) {
    const auto looked = archives_.visit(which, [&](const snapshot& in) { check_one(which, in); });
    // The process that made the day's directory ended before writing to it. That is sound if no tombstone names the day.
    const auto never_written = !looked && looked.failure().code == v1::ERROR_CODE_NOT_FOUND && tombstones_.count(which) == 0;
    if (!looked && !never_written) all_.add("Archive " + which.name() + " cannot be read: " + looked.failure().sentence);
  }
}

void archive_check::check_one(const archive_day& which, const snapshot& in) {
  static const check_progress silent;
  check_scan here(in, silent, all_.report(), all_.max_findings(), "Archive " + which.name() + ": ");
  task_check tasks(in, [&](std::string sentence) { here.add(std::move(sentence)); });
  std::uint64_t named = 0;
  here.scan(table::task, [&](std::string_view key, std::string_view payload) {
    ++all_.report().archived_tasks;
    const auto record = tasks.look_at_archived(*keys::decode_task(key), payload);
    if (!record) return;
    auto tombstone = find_task(all_.of(), record->id());
    if (!tombstone) return;  // the scan of table task_id reports it
    if (!tombstone->has_value() || (*tombstone)->number() != record->number()) {
      return here.add(table::task, key, "the store does not know it as task `" + record->id() + "`");
    }
    if ((*tombstone)->deleted_at_unix_ms() != 0) {
      const auto row = keys::meta(meta::numbered_row(meta::deletion_rows, record->number()));
      if (const auto ordered = all_.of().get(table::meta, row); ordered && !ordered->has_value())
        here.add(table::task, key, "the task is deleted, and nothing will erase this copy");
      return;
    }
    if (!names(**tombstone, which)) return;
    // Its move is not done yet: it is not expected here.
    if (const auto moving = is_moving(all_.of(), record->number()); !moving || *moving) return;
    ++named;
    if ((*tombstone)->final_state() != record->state()) here.add(table::task, key, "the store says that it ended in another state");
    if ((*tombstone)->content_hash() != record->content_hash()) here.add(table::task, key, "the store has another content hash");
  });
  here.check_parts(table::history);
  here.check_parts(table::payload);
  here.scan(table::meta, [](std::string_view, std::string_view) {});
  const auto expected = tombstones_.find(which);
  if (expected != tombstones_.end() && named < expected->second) name_missing(which, in);
}

// Called only if the numbers show that tasks are missing: reads all ids.
void archive_check::name_missing(const archive_day& which, const snapshot& in) {
  const auto scanned = all_.of().scan(table::task_id, {}, {}, [&](std::string_view key, std::string_view payload) {
    v1::TaskTombstone tombstone;
    if (!tombstone.ParseFromArray(payload.data(), static_cast<int>(payload.size())) || !names(tombstone, which)) return true;
    auto row = in.get(table::task, keys::task(default_namespace, tombstone.number()));
    if (row && !row->has_value()) all_.add(table::task_id, key, "the task is not in archive " + which.name());
    return true;
  });
  if (!scanned) all_.add("Archive " + which.name() + ": the ids cannot be compared: " + scanned.failure().sentence);
}

}  // namespace fairlead::store
