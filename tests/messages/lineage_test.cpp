#include "messages/lineage.hpp"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

v1::Lineage made_at(std::int64_t unix_ms, std::uint64_t bits = 1) {
  v1::Lineage out;
  out.set_made_unix_ms(unix_ms);
  out.set_bits(bits);
  return out;
}

TEST(lineage, the_later_of_two_is_the_one_that_was_made_later) {
  EXPECT_EQ(compare(made_at(1'000), made_at(999)), lineage_order::later);
  EXPECT_EQ(compare(made_at(999, 7), made_at(1'000)), lineage_order::earlier);
  EXPECT_EQ(compare(made_at(1'000, 7), made_at(1'000, 7)), lineage_order::same);
  EXPECT_EQ(compare(made_at(1'000, 7), made_at(1'000, 8)), lineage_order::conflict);
}

TEST(lineage, one_that_nobody_has_told_speaks_against_nothing) {
  EXPECT_EQ(compare({}, made_at(1'000)), lineage_order::same);
  EXPECT_EQ(compare(made_at(1'000), {}), lineage_order::same);
  EXPECT_EQ(compare({}, {}), lineage_order::same);
}

TEST(lineage, the_next_one_is_later_also_where_the_clock_was_set_back) {
  const auto former = made_at(5'000);
  EXPECT_EQ(next_lineage(former, 9'000, 3).made_unix_ms(), 9'000);
  EXPECT_EQ(next_lineage(former, 1'000, 3).made_unix_ms(), 5'001);
  EXPECT_EQ(next_lineage(former, 5'000, 3).made_unix_ms(), 5'001);
  EXPECT_EQ(compare(next_lineage({}, 7'000, 2), first_lineage(7'000, 2)), lineage_order::conflict);
}

TEST(lineage, that_began_on_an_empty_store_of_one_node_does_not_count_beside_one_of_several) {
  const auto stray = first_lineage(9'000, 3);
  auto several = first_lineage(1'000, 7);
  several.set_several(true);
  EXPECT_EQ(compare(stray, several), lineage_order::earlier);
  EXPECT_EQ(compare(several, stray), lineage_order::later);
  EXPECT_EQ(compare(next_lineage(several, 9'000, 2), several), lineage_order::later) << "a restore counts";
  EXPECT_EQ(compare(first_lineage(1'000, 7), several), lineage_order::same) << "before others could join";
  auto both = stray;
  both.set_several(true);
  EXPECT_EQ(compare(both, several), lineage_order::conflict) << "two that began apart from each other";
  EXPECT_EQ(compare(several, both), lineage_order::conflict);
  auto restored = next_lineage(several, 9'000, 2);
  restored.set_several(true);
  EXPECT_EQ(compare(restored, several), lineage_order::later);
  EXPECT_EQ(compare(several, restored), lineage_order::earlier);
  EXPECT_EQ(compare(several, first_lineage(500, 2)), lineage_order::later);
}

}  // namespace
}  // namespace fairlead
