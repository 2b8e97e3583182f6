#include "store/lmdb/archive.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "messages/holds.hpp"
#include "store/directory.hpp"
#include "store/failpoint.hpp"
#include "store/keys.hpp"
#include "store/lmdb/snapshot.hpp"
#include "store/meta_rows.hpp"
#include "store/rows/archive_rows.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead::store {

namespace {

namespace fs = std::filesystem;

error archive_error(const std::string& directory, const std::error_code& why) {
  return {v1::ERROR_CODE_DISK, "The archive " + directory + " cannot be read or changed: " + why.message() + ".",
          "Check the permissions of the directory, and the disk."};
}

/// Calls `visit(name)` for each name in a directory; a missing directory is empty.
template <class Visitor>
status for_each_name(const std::string& directory, Visitor&& visit) {
  std::error_code failed;
  for (fs::directory_iterator it(directory, failed), end; !failed && it != end; it.increment(failed)) visit(it->path().filename().string());
  if (failed && failed != std::errc::no_such_file_or_directory) return archive_error(directory, failed);
  return nothing{};
}

/// Adds the rows of an ended task to `copies`, and their erasures to `out`.
status take_task(const v1::TaskRecord& record, const snapshot& from, batch& copies, batch& out) {
  if (!has_ended(record.state())) {
    return error{v1::ERROR_CODE_INTERNAL, "Task " + std::to_string(record.number()) + " cannot be archived because it has not ended.",
                 "This is a bug; report it."};
  }
  const auto copy = [&](table where, std::string_view key, std::string_view payload) { copies.put(where, key, payload); };
  return erase_task(out, record, from, copy);
}

}  // namespace

archive::archive(std::string directory, std::uint64_t max_day_bytes) : directory_(std::move(directory)), max_day_bytes_(max_day_bytes) {
  std::error_code ignored;
  adding_ = fs::exists(adding_mark(), ignored);
}

std::string archive::class_directory(std::uint32_t keep_days) const {
  auto out = directory_ + "/" + class_name(keep_days);
  out.pop_back();
  return out;
}

std::string archive::path_of(const archive_day& which) const { return directory_ + "/" + which.name(); }

status archive::write(const archive_day& which, batch copies) {
  if (auto ready = prepare_directory(directory_, false); !ready) return ready;
  if (auto ready = prepare_directory(class_directory(which.keep_days), false); !ready) return ready;
  auto opened = env::open({path_of(which), max_day_bytes_, false});
  if (!opened) return opened.failure();
  auto txn = (*opened)->write();
  if (!txn) return txn.failure();
  std::vector<batch> group;
  group.push_back(std::move(copies));
  group_operations gathered;
  gathered.gather(group);
  if (auto applied = txn->apply(gathered); !applied) return applied;
  return txn->commit();
}

status archive::carry_out(const snapshot& state, batch& out) {
  std::map<archive_day, batch> copies;
  const auto write_copies = [&](const archive_day& to, batch& what) -> status {
    what.put(table::meta, keys::meta(meta::schema_row), meta::encode_u32(schema_version));
    const std::lock_guard lock(guard_);
    return write(to, std::exchange(what, {}));
  };
  std::vector<task_move> moves;
  if (auto found = for_each_move(state, [&](const task_move& one) { moves.push_back(one); }); !found) return found;
  for (const auto& one : moves) {
    const auto record = load_task(state, one.number);
    if (!record) return record.failure();
    erase_move(out, one.number);
    if (!*record) continue;  // the store check reports an entry without a task
    if (failpoint("plant.move_loses_copy")) {
      batch nowhere;
      if (auto taken = take_task(**record, state, nowhere, out); !taken) return taken;
      continue;
    }
    auto& to = copies[one.to];
    if (auto taken = take_task(**record, state, to, out); !taken) return taken;
    if (to.bytes().size() < bytes_at_once) continue;
    if (auto written = write_copies(one.to, to); !written) return written;
  }
  for (auto& [to, what] : copies) {
    if (what.empty()) continue;
    if (auto written = write_copies(to, what); !written) return written;
  }
  return nothing{};
}

result<bool> archive::erase(const archive_day& which, const std::vector<std::uint64_t>& numbers) {
  batch erasures;
  status failed = nothing{};
  const auto looked = visit(which, [&](const snapshot& in) {
    for (const auto number : numbers) {
      const auto first = keys::task(default_namespace, number);
      for (const auto where : {table::task, table::history, table::payload}) {
        const auto scanned = in.scan(where, first, keys::after(first), [&](std::string_view key, std::string_view) {
          erasures.erase(where, key);
          return true;
        });
        if (!scanned.ok()) failed = scanned;
      }
    }
  });
  // The day was dropped since it was listed, or its writer ended before the first commit.
  if (!looked.ok() && looked.failure().code == v1::ERROR_CODE_NOT_FOUND) return false;
  if (!looked.ok()) return looked.failure();
  if (!failed.ok()) return failed.failure();
  if (erasures.empty()) return false;
  std::lock_guard lock(guard_);
  // Dropped since: writing would make the day anew.
  if (!is_kept(which)) return false;
  if (auto written = write(which, std::move(erasures)); !written) return written.failure();
  return true;
}

bool archive::is_kept(const archive_day& which) const {
  std::error_code failed;
  return fs::exists(path_of(which) + "/data.mdb", failed);
}

status archive::erase(const std::vector<std::uint64_t>& numbers) {
  status first = nothing{};
  const auto kept = all();
  if (!kept) return kept.failure();
  for (const auto& which : *kept)
    if (auto erased = erase(which, numbers); !erased && first.ok()) first = erased.failure();
  return first;
}

result<std::vector<archive_day>> archive::all() const {
  auto retentions = classes();
  if (!retentions) return retentions.failure();
  retentions->insert(retentions->begin(), 0);
  std::vector<archive_day> out;
  for (const auto keep_days : *retentions) {
    const auto kept = days(keep_days);
    if (!kept) return kept.failure();
    for (const auto day : *kept) out.push_back({day, keep_days});
  }
  return out;
}

result<std::optional<v1::TaskRecord>> archive::load(std::int64_t day, task_number number, std::uint32_t keep_days) {
  const archive_day which{day, keep_days};
  std::error_code failed;
  if (!fs::exists(path_of(which) + "/data.mdb", failed)) {
    if (failed && failed != std::errc::no_such_file_or_directory) return archive_error(path_of(which), failed);
    return std::optional<v1::TaskRecord>{};
  }
  result<std::optional<v1::TaskRecord>> record = std::optional<v1::TaskRecord>{};
  const auto looked = visit(which, [&](const snapshot& from) {
    record = load_task(from, number.get());
    if (!record || !record->has_value()) return;
    if (auto whole = load_whole(from, **record); !whole) record = whole.failure();
  });
  if (!looked) return looked.failure();
  return record;
}

status archive::visit(const archive_day& which, const std::function<void(const snapshot&)>& look) {
  std::lock_guard lock(guard_);
  auto opened = env::open({path_of(which), max_day_bytes_, true});
  if (!opened) return opened.failure();
  const lmdb_snapshot from((*opened)->read());
  look(from);
  return nothing{};
}

result<std::vector<std::int64_t>> archive::days(std::uint32_t keep_days) const {
  std::vector<std::int64_t> out;
  const auto listed = for_each_name(class_directory(keep_days), [&](const std::string& name) {
    if (auto day = parse_day(name)) out.push_back(*day);
  });
  if (!listed) return listed.failure();
  std::sort(out.begin(), out.end());
  return out;
}

result<std::vector<std::uint32_t>> archive::classes() const {
  std::vector<std::uint32_t> out;
  const auto listed = for_each_name(directory_, [&](const std::string& name) {
    if (auto keep_days = parse_class(name)) out.push_back(*keep_days);
  });
  if (!listed) return listed.failure();
  std::sort(out.begin(), out.end());
  return out;
}

status archive::drop_before(std::int64_t day, std::uint32_t keep_days) {
  std::lock_guard lock(guard_);
  auto kept = days(keep_days);
  if (!kept) return kept.failure();
  const auto parent = class_directory(keep_days);
  bool dropped = false;
  for (auto one : *kept) {
    if (one >= day) break;
    const auto path = path_of({one, keep_days});
    std::error_code failed;
    fs::remove_all(path, failed);
    if (failed) return archive_error(path, failed);
    dropped = true;
  }
  return dropped ? sync_directory(parent) : status(nothing{});
}

}  // namespace fairlead::store
