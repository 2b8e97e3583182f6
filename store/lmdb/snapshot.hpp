#pragma once
// A snapshot over a read transaction of an environment: the store's own, or an archive's.

#include <utility>

#include "store/lmdb/env.hpp"

namespace fairlead::store {

class lmdb_snapshot final : public snapshot {
 public:
  explicit lmdb_snapshot(read_txn txn) : txn_(std::move(txn)) {}

  result<std::optional<std::string_view>> get(table where, std::string_view key) const override;
  status scan(table where, std::string_view from, std::string_view to, const visitor& visit) const override;
  status scan_reverse(table where, std::string_view from, std::string_view to, const visitor& visit) const override;
  status scan_all(table where, const inspector& visit) const override;
  std::uint64_t count(table where) const override { return txn_.count(where); }
  progress get_progress() const override;

 private:
  read_txn txn_;
};

}  // namespace fairlead::store
