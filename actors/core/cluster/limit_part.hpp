#pragma once
// One shard's part of a limit for the whole cluster. Pure.
//
// A shard does not know what the others start or hand over. So each keeps to a part that never changes, and together they keep to the
// whole.

#include <algorithm>
#include <cstdint>

namespace fairlead::core {

/// 0 (no limit) stays 0. Otherwise at least 1, since 0 would be a standstill: the whole is exceeded only if it is less than one for each
/// shard.
constexpr std::uint64_t part_of_limit(std::uint64_t whole, std::uint32_t shard, std::uint32_t shard_count) {
  if (whole == 0 || shard_count <= 1) return whole;
  return std::max<std::uint64_t>(whole / shard_count + (shard < whole % shard_count ? 1 : 0), 1);
}

}  // namespace fairlead::core
