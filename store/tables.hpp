#pragma once
// The tables of a shard below its journal: the only thing that writes to them is the applier.

#include <memory>
#include <vector>

#include "messages/error.hpp"
#include "store/batch.hpp"
#include "store/copies.hpp"
#include "store/store.hpp"

namespace fairlead::store {

class tables {
 public:
  virtual ~tables() = default;

  /// Writes all operations in one transaction; on return they are durable. They are in the order of tables and keys, one for each key. After
  /// an error the process must stop and never retry.
  virtual status apply(const std::vector<operation>& sorted) = 0;

  /// The state after the last transaction. From any thread.
  virtual std::unique_ptr<snapshot> read_tables() const = 0;
  virtual usage tables_usage() const = 0;

  /// A copy as of the last transaction. Takes as long as writing all of it; meanwhile others read and write. Errors: disk, corrupt.
  virtual result<std::unique_ptr<tables_copy>> copy() = 0;
  /// Room for a copy of another node's, of so many bytes; one at a time. Errors: disk; store_full, these tables may not become so large.
  virtual result<std::unique_ptr<incoming_copy>> receive(std::uint64_t bytes) = 0;
};

/// The archives of a shard follow its journal as the tables do: what a batch says about them is done by whoever applies it, before the
/// tables are written. After a crash in between the same is done again.
class archives_below {
 public:
  virtual ~archives_below() = default;

  /// Copies each task that `state` says is to move (rows/archive_rows.hpp) to its archive, durably. Then adds to `out` what erases the tasks
  /// and these rows.
  virtual status carry_out(const snapshot& state, batch& out) = 0;

  /// Unlinks the archives of the retention `keep_days` before `day`. What could not be unlinked stays, and the archiver has it dropped again.
  virtual status drop_before(std::int64_t day, std::uint32_t keep_days) = 0;

  /// Erases the copies of these tasks from all archives. None of them may be there.
  virtual status erase(const std::vector<std::uint64_t>& numbers) = 0;
};

}  // namespace fairlead::store
