#pragma once
// Alert numbers of a cluster, although each shard counts its own. With one shard both numbers are equal.

#include <cstdint>

namespace fairlead::core {

/// An alert as its shard numbers it, from 1 on.
struct shard_alert {
  std::uint32_t shard = 0;
  std::uint64_t number = 0;  // 0: none
};

inline std::uint64_t alert_number(shard_alert of, std::uint32_t count) {
  return of.number == 0 ? 0 : (of.number - 1) * count + of.shard + 1;
}

inline shard_alert alert_of_number(std::uint64_t number, std::uint32_t count) {
  if (number == 0) return {};
  return {static_cast<std::uint32_t>((number - 1) % count), (number - 1) / count + 1};
}

}  // namespace fairlead::core
