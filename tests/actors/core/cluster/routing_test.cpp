#include "actors/core/cluster/routing.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace fairlead::core {
namespace {

// By value: stores hold what was routed so, on whatever machine and by whatever release.
TEST(routing, an_id_belongs_to_the_same_shard_for_ever) {
  EXPECT_EQ(shard_of_task("order-1", 4), 2U);
  EXPECT_EQ(shard_of_task("order-1", 256), 118U);
  EXPECT_EQ(shard_of_task("018f2f6e-7b1a-7c3d-9e4f-0123456789ab", 4), 1U);
  EXPECT_EQ(shard_of_task("018f2f6e-7b1a-7c3d-9e4f-0123456789ab", 256), 49U);
  EXPECT_EQ(shard_of_task("nightly", 4), 3U);
  EXPECT_EQ(shard_of_task("anything", 1), 0U);
}

TEST(routing, launches_live_where_their_job_does) {
  EXPECT_EQ(routing_key("nightly@2026-03-29T01:00:00Z"), "nightly");
  EXPECT_EQ(shard_of_task("nightly@2026-03-29T01:00:00Z", 256), shard_of_key("nightly", 256));
  EXPECT_EQ(routing_key("a@b@c"), "a");
  EXPECT_EQ(routing_key("@alone"), "@alone");
}

TEST(routing, children_live_where_their_outermost_parent_does) {
  EXPECT_EQ(routing_key("order-1/ship~1"), "order-1");
  EXPECT_EQ(routing_key("order-1/ship~1/pack~12/label~3"), "order-1");
  EXPECT_EQ(routing_key("a/b/c/ship~1"), "a/b/c");
  EXPECT_EQ(routing_key("a/b"), "a/b") << "an id that somebody has chosen";
  EXPECT_EQ(routing_key("nightly@2026-03-29T01:00:00Z/ship~1"), "nightly");
  EXPECT_EQ(routing_key("a/b@c/ship~1"), "a/b");
  EXPECT_EQ(routing_key("@alone/ship~1"), "@alone");
  EXPECT_EQ(shard_of_task("order-1/ship~1", 256), shard_of_task("order-1", 256));
  // Nobody has such ids, and whoever asks for them gets one answer.
  EXPECT_EQ(routing_key("ship~1"), "ship~1");
  EXPECT_EQ(routing_key("/ship~1"), "/ship~1");
}

TEST(routing, ids_spread_evenly) {
  std::array<int, 8> counts{};
  for (int i = 0; i < 80'000; ++i) ++counts[shard_of_task("order-" + std::to_string(i), 8)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

}  // namespace
}  // namespace fairlead::core
