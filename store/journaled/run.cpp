#include "store/journaled/run.hpp"

#include <algorithm>
#include <utility>

namespace fairlead::store {

namespace {

bool same_key(const operation& a, const operation& b) { return a.where == b.where && a.key == b.key; }

}  // namespace

std::shared_ptr<const run> run::make(std::shared_ptr<const std::string> bytes, std::vector<operation> operations) {
  std::shared_ptr<run> out(new run);
  // Stable: operations on one key stay in their order, and the last one counts.
  std::stable_sort(operations.begin(), operations.end(), operation_order{});
  std::size_t kept = 0;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (i + 1 < operations.size() && same_key(operations[i], operations[i + 1])) continue;
    operations[kept++] = operations[i];
  }
  operations.resize(kept);
  out->operations_ = std::move(operations);
  out->bytes_ = bytes->size() + kept * sizeof(operation);
  out->sources_.push_back(std::move(bytes));
  return out;
}

std::shared_ptr<const run> run::merge(const run& older, const run& newer) {
  std::shared_ptr<run> out(new run);
  const operation_order less;
  out->operations_.reserve(older.operations_.size() + newer.operations_.size());
  auto a = older.operations_.begin();
  for (const auto& b : newer.operations_) {
    for (; a != older.operations_.end() && less(*a, b); ++a) out->operations_.push_back(*a);
    if (a != older.operations_.end() && same_key(*a, b)) ++a;
    out->operations_.push_back(b);
  }
  out->operations_.insert(out->operations_.end(), a, older.operations_.end());
  out->sources_ = older.sources_;
  out->sources_.insert(out->sources_.end(), newer.sources_.begin(), newer.sources_.end());
  out->bytes_ = older.bytes_ + newer.bytes_;
  out->rank_ = std::max(older.rank_, newer.rank_) + 1;
  return out;
}

std::vector<operation>::const_iterator run::from(table where, std::string_view key) const {
  operation wanted;
  wanted.where = where;
  wanted.key = key;
  return std::lower_bound(operations_.begin(), operations_.end(), wanted, operation_order{});
}

const operation* run::find(table where, std::string_view key) const {
  const auto at = from(where, key);
  return at != operations_.end() && at->where == where && at->key == key ? &*at : nullptr;
}

}  // namespace fairlead::store
