#pragma once
// A run: operations in the order of tables and keys, only the last one of each key, and the bytes that they point into. Immutable, so any
// thread may read it at any time.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/batch.hpp"

namespace fairlead::store {

/// Orders by table, then by key.
struct operation_order {
  bool operator()(const operation& a, const operation& b) const { return a.where != b.where ? a.where < b.where : a.key < b.key; }
};

class run {
 public:
  /// The operations in the order in which they were made; their views point into `sources`.
  static std::shared_ptr<const run> make(std::vector<std::shared_ptr<const std::string>> sources, std::vector<operation> operations);
  /// The operations of a batch.
  static std::shared_ptr<const run> of(const batch& what);
  /// Both as one; of the same key the newer operation counts.
  static std::shared_ptr<const run> merge(const run& older, const run& newer);

  /// The operations of all runs, oldest first, as those of one run. Their views are valid while the runs live.
  static std::vector<operation> merged(const std::vector<std::shared_ptr<const run>>& oldest_first);

  const std::vector<operation>& operations() const noexcept { return operations_; }
  /// Bytes that the operations keep in memory.
  std::size_t bytes() const noexcept { return bytes_; }
  /// How often runs were merged into this one: runs of equal rank are merged, as digits of a counter carry.
  int rank() const noexcept { return rank_; }

  /// nullptr: the run says nothing of the key.
  const operation* find(table where, std::string_view key) const;
  /// The first operation of the table with a key not less than `key`, or of a later table, or the end.
  std::vector<operation>::const_iterator from(table where, std::string_view key) const;

 private:
  run() = default;
  std::vector<operation> operations_;
  std::vector<std::shared_ptr<const std::string>> sources_;
  std::size_t bytes_ = 0;
  int rank_ = 0;
};

}  // namespace fairlead::store
