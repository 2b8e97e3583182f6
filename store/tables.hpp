#pragma once
// The tables of a shard below its journal: the only thing that writes to them is the applier.

#include <memory>
#include <vector>

#include "messages/error.hpp"
#include "store/batch.hpp"
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
};

}  // namespace fairlead::store
