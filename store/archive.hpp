#pragma once
// Finished tasks, out of the way: one LMDB environment for each day, in `DIRECTORY/YYYY-MM-DD/`. A task's row, history chunks and payloads
// stand there under the same tables and keys as in the store; indexes do not. The id's tombstone stays in the store and says the day.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "messages/task.pb.h"
#include "store/env.hpp"
#include "store/store.hpp"

namespace fairlead::store {

/// Days are counted from 1970-01-01, which is day 0 and stands for none.
std::string format_day(std::int64_t day);
std::optional<std::int64_t> parse_day(const std::string& text);
std::int64_t day_of(std::int64_t unix_ms);

/// From any thread; one operation at a time. The process must hold the lock of the store that the archive belongs to.
class archive {
 public:
  /// `directory` is created with the first move. `max_day_bytes` bounds the file of one day.
  explicit archive(std::string directory, std::uint64_t max_day_bytes = std::uint64_t{256} << 30);

  /// Copies finished tasks to the archive of `day`, durably, then adds to `out` what takes them out of the store: erasures and the new
  /// tombstones. A number without a row is passed over. A crash before `out` is committed leaves a copy that the next move overwrites.
  status move(const std::vector<task_number>& numbers, const snapshot& from, std::int64_t day, batch& out);

  /// The record with its whole history in `recent` and its payloads in place; nullopt when that day is not (or no longer) kept or has no such task.
  result<std::optional<v1::TaskRecord>> load(std::int64_t day, task_number number);

  /// Unlinks the archives of all days before `day`.
  status drop_before(std::int64_t day);

  /// The days that are kept, oldest first.
  result<std::vector<std::int64_t>> days() const;

 private:
  std::string path_of(std::int64_t day) const;
  status write(std::int64_t day, const batch& copies);

  mutable std::mutex guard_;
  std::string directory_;
  std::uint64_t max_day_bytes_;
};

}  // namespace fairlead::store
