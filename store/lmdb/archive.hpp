#pragma once
// Archives of finished tasks: one LMDB environment for each day, in `DIRECTORY/YYYY-MM-DD/`. Tasks whose workflow has its own retention
// (here 90 days) are in `DIRECTORY/keep-90d/YYYY-MM-DD/`, so that whole environments can still be unlinked. An archive holds a task's row,
// history chunks and payloads under the same tables and keys as the store, and no indexes. The id's tombstone stays in the store and names
// the archive.

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
#include "store/archive_day.hpp"
#include "store/lmdb/env.hpp"
#include "store/store.hpp"
#include "store/tables.hpp"

namespace fairlead::store {

/// From any thread; one operation at a time. The process must hold the lock of the archive's store. This class alone decides what a move
/// copies and erases; a subclass may keep the days elsewhere (memory_archive.hpp, the twin in memory).
class archive : public archives_below {
 public:
  /// `directory` is created with the first move. `max_day_bytes` bounds the file of one day.
  explicit archive(std::string directory, std::uint64_t max_day_bytes = std::uint64_t{256} << 30);
  ~archive() override = default;

  /// Copies with so many bytes are written before more are gathered.
  static constexpr std::size_t bytes_at_once = std::size_t{8} << 20;

  status carry_out(const snapshot& state, batch& out) override;

  /// Erases all copies of these tasks durably, those of moves that were cut short included. LMDB keeps the bytes in free pages until
  /// they are written over or the day is dropped. An archive that cannot be read or written is passed over; the first such error is returned.
  status erase(const std::vector<std::uint64_t>& numbers) override;

  /// The record with its whole history in `recent` and its payloads in place; nullopt: that day is not (or no longer) kept, or lacks the
  /// task.
  virtual result<std::optional<v1::TaskRecord>> load(std::int64_t day, task_number number, std::uint32_t keep_days = 0);

  /// Unlinks the archives of all days before `day`, for the retention `keep_days`.
  status drop_before(std::int64_t day, std::uint32_t keep_days = 0) override;

  /// The existing days of the retention `keep_days`, oldest first.
  virtual result<std::vector<std::int64_t>> days(std::uint32_t keep_days = 0) const;

  /// The retentions that have a directory of their own, in ascending order; never 0.
  virtual result<std::vector<std::uint32_t>> classes() const;

  /// All existing archives: those without a retention of their own first, then by retention; oldest days first.
  result<std::vector<archive_day>> all() const;

  // For a copy of another replica's archives. archive_parts.cpp

  /// What one archive has, to be compared with another replica's.
  struct summary {
    archive_day which;
    std::uint64_t rows = 0;
    std::uint64_t sum = 0;  // of a hash of each row's key: a part that came of a task is not taken for all of it
    friend bool operator==(const summary&, const summary&) = default;
  };
  /// Of all archives that can be read; reads all of their rows. `unreadable` gets a sentence for each of the others.
  result<std::vector<summary>> summaries(std::vector<std::string>* unreadable = nullptr);
  result<std::vector<std::uint64_t>> numbers(const archive_day& which);
  struct part {
    std::string rows;  // puts of a batch
    std::string next;  // where the next part begins; empty: there is none
  };
  /// A part of one archive, of about `most` bytes. `from`: empty, or as the part before has said.
  result<part> read(const archive_day& which, const std::string& from, std::size_t most);
  /// Adds the rows of a part, durably. Error: corrupt, they are none.
  status add(const archive_day& which, std::string_view rows);
  /// Rows of another replica are added, or were when a process ended. Until follow() of the own tables it may have what was deleted here meanwhile.
  bool is_adding() const noexcept { return adding_; }
  /// Durable on return.
  virtual status note_adding(bool on);
  /// Erases what these tables say was deleted, and drops what they say is kept no more. What they do not speak of stays.
  status follow(const snapshot& tables);

  /// Opens one archive for reading and calls `look` with its snapshot.
  virtual status visit(const archive_day& which, const std::function<void(const snapshot&)>& look);

 protected:
  void set_adding(bool on) noexcept { adding_ = on; }

 private:
  /// False: the archive has none of them.
  result<bool> erase(const archive_day& which, const std::vector<std::uint64_t>& numbers);
  /// Durable on return, or an error.
  virtual status write(const archive_day& which, batch copies);
  virtual bool is_kept(const archive_day& which) const;
  std::string class_directory(std::uint32_t keep_days) const;
  std::string path_of(const archive_day& which) const;

  std::string adding_mark() const;

  mutable std::mutex guard_;
  bool adding_ = false;
  std::string directory_;
  std::uint64_t max_day_bytes_;
};

}  // namespace fairlead::store
