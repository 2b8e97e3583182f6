#pragma once
// Archives of finished tasks: one LMDB environment for each day, in `DIRECTORY/YYYY-MM-DD/`. Tasks whose workflow has its own retention
// (here 90 days) are in `DIRECTORY/keep-90d/YYYY-MM-DD/`, so that whole environments can still be unlinked. An archive holds a task's row,
// history chunks and payloads under the same tables and keys as the store, and no indexes. The id's tombstone stays in the store and names
// the archive.

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "messages/task.pb.h"
#include "store/lmdb/env.hpp"
#include "store/store.hpp"

namespace fairlead::store {

/// Days are counted from 1970-01-01, which is day 0 and means none.
std::string format_day(std::int64_t day);
std::optional<std::int64_t> parse_day(const std::string& text);
std::int64_t day_of(std::int64_t unix_ms);

/// One archive: the tasks that ended on one day and have the same retention.
struct archive_day {
  std::int64_t day = 0;
  std::uint32_t keep_days = 0;  // 0: as the node file says

  /// `2024-10-04`, `keep-90d/2024-10-04`.
  std::string name() const;
  friend auto operator<=>(const archive_day&, const archive_day&) = default;  // NOLINT(modernize-use-nullptr)
};

/// From any thread; one operation at a time. The process must hold the lock of the archive's store. This class alone decides what a move
/// copies and erases; a subclass may keep the days elsewhere (memory_archive.hpp, the twin in memory).
class archive {
 public:
  /// `directory` is created with the first move. `max_day_bytes` bounds the file of one day.
  explicit archive(std::string directory, std::uint64_t max_day_bytes = std::uint64_t{256} << 30);
  virtual ~archive() = default;

  /// Once the tasks of one move have this many bytes, no further task is added.
  static constexpr std::size_t bytes_a_move = std::size_t{8} << 20;

  /// Copies finished tasks durably to the archive of `day` (or of day 1, if that is none). Then adds to `out` the erasures and the new
  /// tombstones for the store. A number without a row is passed over. After a crash before `out` is committed the next move overwrites the
  /// copy. Returns how many of `numbers`, from the first on, were handled: all, or fewer if the tasks are large.
  result<std::size_t> move(const std::vector<task_number>& numbers, const snapshot& from, std::int64_t day, batch& out,
                           std::uint32_t keep_days = 0);

  /// Erases all copies of these tasks durably, those of moves that were never committed included. LMDB keeps the bytes in free pages until
  /// they are written over or the day is dropped. An archive that cannot be read or written is passed over; the first such error is returned.
  status erase(const std::vector<std::uint64_t>& numbers);

  /// The record with its whole history in `recent` and its payloads in place; nullopt: that day is not (or no longer) kept, or lacks the
  /// task.
  virtual result<std::optional<v1::TaskRecord>> load(std::int64_t day, task_number number, std::uint32_t keep_days = 0);

  /// Unlinks the archives of all days before `day`, for the retention `keep_days`.
  virtual status drop_before(std::int64_t day, std::uint32_t keep_days = 0);

  /// The existing days of the retention `keep_days`, oldest first.
  virtual result<std::vector<std::int64_t>> days(std::uint32_t keep_days = 0) const;

  /// The retentions that have a directory of their own, in ascending order; never 0.
  virtual result<std::vector<std::uint32_t>> classes() const;

  /// Opens one archive for reading and calls `look` with its snapshot.
  virtual status visit(const archive_day& which, const std::function<void(const snapshot&)>& look);

 private:
  /// False: the archive has none of them.
  result<bool> erase(const archive_day& which, const std::vector<std::uint64_t>& numbers);
  /// Durable on return, or an error.
  virtual status write(const archive_day& which, batch copies);
  std::string class_directory(std::uint32_t keep_days) const;
  std::string path_of(const archive_day& which) const;

  mutable std::mutex guard_;
  std::string directory_;
  std::uint64_t max_day_bytes_;
};

}  // namespace fairlead::store
