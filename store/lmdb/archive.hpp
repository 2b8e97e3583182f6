#pragma once
// Finished tasks, out of the way: one LMDB environment for each day, in `DIRECTORY/YYYY-MM-DD/`, or in `DIRECTORY/keep-90d/YYYY-MM-DD/` for
// those whose workflow has a retention of its own (here 90 days), so that whole environments can still be unlinked. A task's row, history
// chunks and payloads stand there under the same tables and keys as in the store; indexes do not. The id's tombstone stays in the store and
// says which archive it is.

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

/// Days are counted from 1970-01-01, which is day 0 and stands for none.
std::string format_day(std::int64_t day);
std::optional<std::int64_t> parse_day(const std::string& text);
std::int64_t day_of(std::int64_t unix_ms);

/// One archive: what ended on one day and is kept equally long.
struct archive_day {
  std::int64_t day = 0;
  std::uint32_t keep_days = 0;  // 0: as long as the node's file says

  /// `2024-10-04`, `keep-90d/2024-10-04`.
  std::string name() const;
  friend auto operator<=>(const archive_day&, const archive_day&) = default;
};

/// From any thread; one operation at a time. The process must hold the lock of the store that the archive belongs to. What is moved and what
/// that takes out of the store is decided here alone; where the days stand may be elsewhere (memory_archive.hpp, the twin in memory).
class archive {
 public:
  /// `directory` is created with the first move. `max_day_bytes` bounds the file of one day.
  explicit archive(std::string directory, std::uint64_t max_day_bytes = std::uint64_t{256} << 30);
  virtual ~archive() = default;

  /// Once the tasks of one move have this many bytes, no further one is taken.
  static constexpr std::size_t bytes_a_move = std::size_t{8} << 20;

  /// Copies finished tasks to the archive of `day` (or of day 1, if that is none), durably, then adds to `out` what takes them out of the store: erasures
  /// and the new tombstones. A number without a row is passed over. A crash before `out` is committed leaves a copy that the next move overwrites.
  /// Gives how many of `numbers`, from the first on, it has dealt with: all, or less where their tasks are large.
  result<std::size_t> move(const std::vector<task_number>& numbers, const snapshot& from, std::int64_t day, batch& out,
                           std::uint32_t keep_days = 0);

  /// The record with its whole history in `recent` and its payloads in place; nullopt when that day is not (or no longer) kept or has no such task.
  virtual result<std::optional<v1::TaskRecord>> load(std::int64_t day, task_number number, std::uint32_t keep_days = 0);

  /// Unlinks the archives of all days before `day`, of those that are kept for `keep_days`.
  virtual status drop_before(std::int64_t day, std::uint32_t keep_days = 0);

  /// The days that are there of those kept for `keep_days`, oldest first.
  virtual result<std::vector<std::int64_t>> days(std::uint32_t keep_days = 0) const;

  /// The retentions that have a directory of their own, in ascending order; never 0.
  virtual result<std::vector<std::uint32_t>> classes() const;

  /// Opens one archive for reading and calls `look` with what is there.
  virtual status visit(const archive_day& which, const std::function<void(const snapshot&)>& look);

 private:
  /// Durable on return, or an error.
  virtual status write(const archive_day& which, batch copies);
  std::string class_directory(std::uint32_t keep_days) const;
  std::string path_of(const archive_day& which) const;

  mutable std::mutex guard_;
  std::string directory_;
  std::uint64_t max_day_bytes_;
};

}  // namespace fairlead::store
