#include "actors/core/waits.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace fairlead::core {
namespace {

using namespace std::chrono_literals;

constexpr moment now{duration{1'700'000'000'000}};

TEST(waits, are_over_at_their_moment_and_not_before) {
  EXPECT_FALSE(is_over(now + 5s, now, duration{10s}));
  EXPECT_FALSE(is_over(now + 1ms, now, duration{10s}));
  EXPECT_TRUE(is_over(now, now, duration{10s}));
  EXPECT_TRUE(is_over(now - 1h, now, duration{10s}));
}

TEST(waits, are_over_where_the_moment_lies_further_away_than_anybody_waits) {
  EXPECT_FALSE(is_over(now + 10s, now, duration{10s}));
  EXPECT_TRUE(is_over(now + 10'001ms, now, duration{10s}));
  EXPECT_TRUE(is_over(now + 2h, now, duration{10s}));
  EXPECT_TRUE(set_back_since(now + 2h, now, duration{10s}));
  EXPECT_FALSE(set_back_since(now - 2h, now, duration{10s})) << "it has passed";
}

TEST(waits, told_by_their_beginning_are_over_where_that_lies_ahead) {
  EXPECT_TRUE(still_waits(now, 10s, now));
  EXPECT_TRUE(still_waits(now - 9'999ms, 10s, now));
  EXPECT_FALSE(still_waits(now - 10s, 10s, now));
  EXPECT_FALSE(still_waits(now + 1ms, 10s, now));
  EXPECT_FALSE(still_waits(now, 0s, now));
  EXPECT_FALSE(still_waits(1'000, 10s, std::int64_t{500}));
}

}  // namespace
}  // namespace fairlead::core
