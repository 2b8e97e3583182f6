#pragma once
// Counts of values by size: durations, amounts, bytes. One series of bounds for all, so that the counts of any two shards can be added.

#include <array>
#include <cstddef>
#include <cstdint>

#include "messages/api.pb.h"

namespace fairlead::core {

/// Upper bounds, inclusive: 1, 2, 5, 10, … 500,000,000. Messages carry one count for each bound, and a last one for larger values.
inline constexpr std::array<std::uint64_t, 27> distribution_bounds = [] {
  std::array<std::uint64_t, 27> out{};
  std::uint64_t power = 1;
  for (std::size_t i = 0; i < out.size(); i += 3, power *= 10) {
    out[i] = power;
    out[i + 1] = 2 * power;
    out[i + 2] = 5 * power;
  }
  return out;
}();

class distribution {
 public:
  void add(std::uint64_t value) {
    std::size_t at = 0;
    while (at < distribution_bounds.size() && value > distribution_bounds[at]) ++at;
    ++counts_[at];
    sum_ += static_cast<double>(value);
  }

  v1::Distribution to_proto() const {
    v1::Distribution out;
    for (const auto count : counts_) out.add_counts(count);
    out.set_sum(sum_);
    return out;
  }

 private:
  std::array<std::uint64_t, distribution_bounds.size() + 1> counts_{};
  double sum_ = 0;
};

/// Adds `more` to `to`.
inline void merge(v1::Distribution& to, const v1::Distribution& more) {
  for (int i = 0; i < more.counts_size(); ++i) {
    if (i < to.counts_size())
      to.set_counts(i, to.counts(i) + more.counts(i));
    else
      to.add_counts(more.counts(i));
  }
  to.set_sum(to.sum() + more.sum());
}

}  // namespace fairlead::core
