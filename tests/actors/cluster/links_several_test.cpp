// A node that claims alone what several others hold.

#include <gtest/gtest.h>

#include "tests/actors/cluster/links_world.hpp"

namespace fairlead {
namespace {

using testing::links_world;

struct shard_that_several_hold : ::testing::Test {
  links_world world;
};

TEST_F(shard_that_several_hold, say_that_a_shard_which_is_claimed_alone_is_held_by_several_others) {
  auto& a = world.add("a", {});
  auto& b = world.add("b", {"a"});
  auto claim = links_world::claim(1);
  claim.mutable_lineage()->set_made_unix_ms(5);
  claim.mutable_lineage()->set_several(true);
  a.shell->on_claim(claim);
  world.run();
  EXPECT_TRUE(b.outlived.empty());
  // A lost disk: the store was made anew, and its node file names nobody.
  auto alone = links_world::claim(1, "another");
  alone.mutable_lineage()->set_made_unix_ms(9);
  b.shell->on_claim(alone);
  world.pass(10'000);
  ASSERT_FALSE(b.outlived.empty());
  EXPECT_EQ(b.outlived.front(), 1U);
  EXPECT_TRUE(a.outlived.empty());
}

TEST_F(shard_that_several_hold, leave_a_store_that_is_older_than_that_of_several_others_to_an_operator) {
  auto& a = world.add("a", {});
  auto& b = world.add("b", {"a"});
  auto claim = links_world::claim(1);
  claim.mutable_lineage()->set_made_unix_ms(9);
  claim.mutable_lineage()->set_several(true);
  a.shell->on_claim(claim);
  // It has the work, and the others were begun on an empty folder by mistake.
  auto alone = links_world::claim(1, "another");
  alone.mutable_lineage()->set_made_unix_ms(5);
  b.shell->on_claim(alone);
  world.pass(10'000);
  EXPECT_TRUE(b.outlived.empty());
  EXPECT_FALSE(a.sees("b"));
}

}  // namespace
}  // namespace fairlead
