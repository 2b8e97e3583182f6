#include "actors/core/cluster/limit_part.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace fairlead::core {
namespace {

std::vector<std::uint64_t> parts_of(std::uint64_t whole, std::uint32_t shards) {
  std::vector<std::uint64_t> out;
  for (std::uint32_t shard = 0; shard < shards; ++shard) out.push_back(part_of_limit(whole, shard, shards));
  return out;
}

using parts = std::vector<std::uint64_t>;

TEST(limit_part, all_parts_are_the_whole_and_the_first_shards_have_the_rest) {
  EXPECT_EQ(parts_of(10, 4), (parts{3, 3, 2, 2}));
  EXPECT_EQ(parts_of(8, 4), (parts{2, 2, 2, 2}));
  EXPECT_EQ(parts_of(4, 4), (parts{1, 1, 1, 1}));
  EXPECT_EQ(parts_of(7, 1), parts{7});
  for (std::uint64_t whole = 256; whole < 1'200; whole += 7) {
    std::uint64_t sum = 0;
    for (const auto part : parts_of(whole, 256)) sum += part;
    EXPECT_EQ(sum, whole);
  }
}

TEST(limit_part, no_limit_is_none_for_anybody) { EXPECT_EQ(parts_of(0, 3), (parts{0, 0, 0})); }

TEST(limit_part, nobody_gets_none_of_a_limit) { EXPECT_EQ(parts_of(2, 4), (parts{1, 1, 1, 1})); }

}  // namespace
}  // namespace fairlead::core
