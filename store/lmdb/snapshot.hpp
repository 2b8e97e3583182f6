#pragma once
// A snapshot over a read transaction of an environment: the store's own, or an archive's.

#include <functional>
#include <utility>

#include "store/lmdb/env.hpp"

namespace fairlead::store {

class lmdb_snapshot final : public snapshot {
 public:
  /// `on_damage` is told of each damage that a read meets, but for scan_all, whose visitor sees it. It outlives the snapshot; null: nobody is told.
  explicit lmdb_snapshot(read_txn txn, const std::function<void(const error&)>* on_damage = nullptr)
      : txn_(std::move(txn)), on_damage_(on_damage) {}

  result<std::optional<std::string_view>> get(table where, std::string_view key) const override;
  status scan(table where, std::string_view from, std::string_view to, const visitor& visit) const override;
  status scan_reverse(table where, std::string_view from, std::string_view to, const visitor& visit) const override;
  status scan_all(table where, const inspector& visit) const override;
  std::uint64_t count(table where) const override { return txn_.count(where); }
  progress get_progress() const override;

 private:
  error told(error why) const;
  template <class Scan>
  status scan_verified(table where, const visitor& visit, Scan&& scan) const;

  read_txn txn_;
  const std::function<void(const error&)>* on_damage_;
};

}  // namespace fairlead::store
