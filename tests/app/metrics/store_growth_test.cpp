#include "app/metrics/store_growth.hpp"

#include <gtest/gtest.h>

namespace fairlead::app {
namespace {

constexpr std::uint64_t mega = 1'000'000;

moment minute(int count) { return moment{std::chrono::minutes{count}}; }

TEST(store_growth, is_known_after_ten_minutes) {
  store_growth growth;
  for (int i = 0; i < 10; ++i) growth.saw(minute(i), i * mega);
  EXPECT_FALSE(growth.seconds_until(100 * mega));
  growth.saw(minute(10), 10 * mega);
  ASSERT_TRUE(growth.seconds_until(100 * mega));
  EXPECT_NEAR(*growth.seconds_until(100 * mega), 90 * 60, 1);
}

TEST(store_growth, looks_at_the_last_hour_only) {
  store_growth growth;
  for (int i = 0; i <= 60; ++i) growth.saw(minute(i), i * 10 * mega);
  for (int i = 61; i <= 121; ++i) growth.saw(minute(i), 600 * mega + (i - 60) * mega);
  EXPECT_NEAR(*growth.seconds_until(661 * mega + 60 * mega), 60 * 60, 120);
}

TEST(store_growth, of_a_store_that_shrinks_or_stands_still_is_not_known) {
  store_growth growth;
  for (int i = 0; i <= 30; ++i) growth.saw(minute(i), (100 - i) * mega);
  EXPECT_FALSE(growth.seconds_until(1'000 * mega));
  for (int i = 31; i <= 120; ++i) growth.saw(minute(i), 70 * mega);
  EXPECT_FALSE(growth.seconds_until(1'000 * mega));
}

TEST(store_growth, counts_many_looks_within_a_minute_as_one) {
  store_growth growth;
  for (int i = 0; i <= 20 * 60; ++i) growth.saw(moment{std::chrono::seconds{i}}, static_cast<std::uint64_t>(i) * mega);
  EXPECT_NEAR(*growth.seconds_until(2'200 * mega), 1'000, 1);
}

TEST(store_growth, is_nothing_for_a_store_that_is_full_already) {
  store_growth growth;
  growth.saw(minute(0), 95 * mega);
  EXPECT_EQ(growth.seconds_until(90 * mega), 0);
}

TEST(store_growth, goes_on_from_before_a_gap_without_looks) {
  store_growth growth;
  growth.saw(minute(0), 0);
  growth.saw(minute(600), 600 * mega);
  EXPECT_NEAR(*growth.seconds_until(660 * mega), 60 * 60, 1);
}

}  // namespace
}  // namespace fairlead::app
