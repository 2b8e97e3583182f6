#include "store/lmdb/group_operations.hpp"

#include <algorithm>

namespace fairlead::store {

void group_operations::gather(const std::vector<batch>& group) {
  for (auto& one : tables_) one.clear();
  operation op;
  for (const auto& one : group) {
    std::string_view rest = one.bytes();
    while (batch::next(rest, op)) tables_[static_cast<std::size_t>(op.where)].push_back(op);
  }
  for (auto& one : tables_) {
    const auto by_key = [](const operation& a, const operation& b) { return a.key < b.key; };
    // Stable: operations on one key stay in the order of the batches, and the last one counts.
    if (!std::is_sorted(one.begin(), one.end(), by_key)) std::stable_sort(one.begin(), one.end(), by_key);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
      if (i + 1 < one.size() && one[i + 1].key == one[i].key) continue;
      one[kept++] = one[i];
    }
    one.resize(kept);
  }
}

}  // namespace fairlead::store
