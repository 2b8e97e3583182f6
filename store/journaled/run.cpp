#include "store/journaled/run.hpp"

#include <algorithm>
#include <utility>

namespace fairlead::store {

namespace {

bool same_key(const operation& a, const operation& b) { return a.where == b.where && a.key == b.key; }

std::vector<operation> merged_two(const std::vector<operation>& older, const std::vector<operation>& newer) {
  std::vector<operation> out;
  out.reserve(older.size() + newer.size());
  const operation_order less;
  auto a = older.begin();
  for (const auto& b : newer) {
    for (; a != older.end() && less(*a, b); ++a) out.push_back(*a);
    if (a != older.end() && same_key(*a, b)) ++a;
    out.push_back(b);
  }
  out.insert(out.end(), a, older.end());
  return out;
}

}  // namespace

std::shared_ptr<const run> run::of(const batch& what) {
  auto bytes = std::make_shared<const std::string>(what.bytes());
  auto operations = operations_of(*bytes);
  return make({std::move(bytes)}, std::move(operations));
}

std::shared_ptr<const run> run::make(std::vector<std::shared_ptr<const std::string>> sources, std::vector<operation> operations) {
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
  out->bytes_ = kept * sizeof(operation);
  for (const auto& one : sources) out->bytes_ += one->size();
  out->sources_ = std::move(sources);
  return out;
}

std::shared_ptr<const run> run::merge(const run& older, const run& newer) {
  std::shared_ptr<run> out(new run);
  out->operations_ = merged_two(older.operations_, newer.operations_);
  out->sources_ = older.sources_;
  out->sources_.insert(out->sources_.end(), newer.sources_.begin(), newer.sources_.end());
  out->bytes_ = older.bytes_ + newer.bytes_;
  out->rank_ = std::max(older.rank_, newer.rank_) + 1;
  return out;
}

std::vector<operation> run::merged(const std::vector<std::shared_ptr<const run>>& oldest_first) {
  if (oldest_first.empty()) return {};
  // Neighbours in rounds: each operation is moved as often as there are rounds, and not as there are runs.
  std::vector<std::vector<operation>> round;
  for (std::size_t i = 0; i < oldest_first.size(); i += 2) {
    const auto& one = oldest_first[i]->operations_;
    round.push_back(i + 1 < oldest_first.size() ? merged_two(one, oldest_first[i + 1]->operations_) : one);
  }
  while (round.size() > 1) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < round.size(); i += 2, ++kept) {
      round[kept] = i + 1 < round.size() ? merged_two(round[i], round[i + 1]) : std::move(round[i]);
    }
    round.resize(kept);
  }
  return std::move(round.front());
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
