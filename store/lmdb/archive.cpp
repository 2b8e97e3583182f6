#include "store/lmdb/archive.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <set>
#include <system_error>

#include "messages/holds.hpp"
#include "store/directory.hpp"
#include "store/keys.hpp"
#include "store/lmdb/snapshot.hpp"
#include "store/meta_rows.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead::store {

namespace {

namespace fs = std::filesystem;

error archive_error(const std::string& directory, const std::error_code& why) {
  return {v1::ERROR_CODE_DISK, "The archive " + directory + " cannot be read or changed: " + why.message() + ".",
          "Check the permissions of the directory, and the disk."};
}

constexpr char class_prefix[] = "keep-";

/// The part of a path before the day: nothing, or `keep-90d/`.
std::string class_name(std::uint32_t keep_days) { return keep_days == 0 ? "" : class_prefix + std::to_string(keep_days) + "d/"; }

std::optional<std::uint32_t> parse_class(const std::string& name) {
  constexpr auto prefix = sizeof class_prefix - 1;
  std::uint32_t out = 0;
  if (name.size() <= prefix) return std::nullopt;
  std::from_chars(name.data() + prefix, name.data() + name.size(), out);
  // Another spelling of the same number would be another directory.
  return out != 0 && class_name(out) == name + "/" ? std::optional(out) : std::nullopt;
}

/// Calls `visit(name)` for each name in a directory; a missing directory is empty.
template <class Visitor>
status for_each_name(const std::string& directory, Visitor&& visit) {
  std::error_code failed;
  for (fs::directory_iterator it(directory, failed), end; !failed && it != end; it.increment(failed)) visit(it->path().filename().string());
  if (failed && failed != std::errc::no_such_file_or_directory) return archive_error(directory, failed);
  return nothing{};
}

status take_task(const v1::TaskRecord& record, const snapshot& from, const archive_day& to, batch& copies, batch& out) {
  if (!has_ended(record.state())) {
    return error{v1::ERROR_CODE_INTERNAL, "Task " + std::to_string(record.number()) + " cannot be archived because it has not ended.",
                 "This is a bug; report it."};
  }
  const auto copy = [&](table where, std::string_view key, std::string_view payload) { copies.put(where, key, payload); };
  if (auto erased = erase_task(out, record, from, copy); !erased.ok()) return erased;
  auto tombstone = tombstone_of(record);
  tombstone.set_archived_day(to.day);
  tombstone.set_archive_keep_days(to.keep_days);
  put_tombstone(out, record.id(), tombstone);
  return nothing{};
}

}  // namespace

std::string format_day(std::int64_t day) {
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day}}};
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()));
  return text;
}

std::optional<std::int64_t> parse_day(const std::string& text) {
  int year = 0;
  unsigned month = 0, day = 0;
  int length = 0;
  if (text.size() != 10 || text.find_first_not_of("0123456789-") != std::string::npos || text[0] == '-') return std::nullopt;
  if (std::sscanf(text.c_str(), "%4d-%2u-%2u%n", &year, &month, &day, &length) != 3 || length != 10) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{day}};
  if (!date.ok()) return std::nullopt;
  const std::int64_t out = std::chrono::sys_days{date}.time_since_epoch().count();
  return format_day(out) == text ? std::optional(out) : std::nullopt;
}

std::int64_t day_of(std::int64_t unix_ms) { return std::chrono::floor<std::chrono::days>(std::chrono::milliseconds{unix_ms}).count(); }

archive::archive(std::string directory, std::uint64_t max_day_bytes) : directory_(std::move(directory)), max_day_bytes_(max_day_bytes) {}

std::string archive_day::name() const { return class_name(keep_days) + format_day(day); }

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

result<std::size_t> archive::move(const std::vector<task_number>& numbers, const snapshot& from, std::int64_t day, batch& out,
                                  std::uint32_t keep_days) {
  // Before a machine's clock is set it may read 1970.
  const archive_day to{std::max<std::int64_t>(day, 1), keep_days};
  // The same number twice would erase twice, which a check of the batch could not distinguish from a fault.
  std::set<task_number> seen;
  std::size_t dealt_with = 0;
  batch copies, removal;
  copies.put(table::meta, keys::meta(meta::schema_row), meta::encode_u32(schema_version));
  for (const auto& number : numbers) {
    if (copies.bytes().size() >= bytes_a_move) break;
    ++dealt_with;
    if (!seen.insert(number).second) continue;
    auto record = load_task(from, number.get());
    if (!record) return record.failure();
    if (!record->has_value()) continue;
    if (auto taken = take_task(**record, from, to, copies, removal); !taken) return taken.failure();
  }
  if (removal.empty()) return dealt_with;
  {
    std::lock_guard lock(guard_);
    if (auto written = write(to, std::move(copies)); !written) return written.failure();
  }
  out.append(removal);
  return dealt_with;
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
  if (auto written = write(which, std::move(erasures)); !written) return written.failure();
  return true;
}

status archive::erase(const std::vector<std::uint64_t>& numbers) {
  status first = nothing{};
  auto all = classes();
  if (!all) return all.failure();
  all->push_back(0);
  for (const auto keep_days : *all) {
    const auto kept = days(keep_days);
    if (!kept) return kept.failure();
    for (const auto day : *kept)
      if (auto erased = erase({day, keep_days}, numbers); !erased && first.ok()) first = erased.failure();
  }
  return first;
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
