#pragma once
// The operations of a group of batches in the order that suits LMDB: table by table in key order, and only the last operation of each key.
// Neighbours then fall on the same page, which a cursor finds without a walk from the root; a row written by several batches of a group is
// written once. Measured on the order workload: a quarter to a half more tasks a second than with one mdb_put for each operation.

#include <array>
#include <vector>

#include "store/batch.hpp"

namespace fairlead::store {

class group_operations {
 public:
  /// Replaces the contents; the views stay valid as long as the group.
  void gather(const std::vector<batch>& group);

  const std::vector<operation>& of(int where) const { return tables_[static_cast<std::size_t>(where)]; }

 private:
  std::array<std::vector<operation>, table_count> tables_;  // keep their capacity from group to group
};

}  // namespace fairlead::store
