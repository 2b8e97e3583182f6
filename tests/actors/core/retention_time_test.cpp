#include "actors/core/retention_time.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace fairlead::core {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t start_ms = 1'790'000'000'000;
constexpr std::int64_t second_ms = 1'000, hour_ms = 3'600'000, day_ms = 24 * hour_ms;

TEST(retention_time, is_the_wall_clock_while_that_goes_on_as_the_steady_one_does) {
  EXPECT_EQ(next_retention(start_ms, start_ms + 10 * second_ms, 10s), start_ms + 10 * second_ms);
  EXPECT_EQ(next_retention(start_ms, start_ms + 10'003, 10s), start_ms + 10'003);
  EXPECT_EQ(next_retention(start_ms, start_ms + 9'997, 10s), start_ms + 9'997);
}

TEST(retention_time, goes_on_by_minutes_while_the_wall_clock_is_a_month_ahead_for_ten_seconds) {
  EXPECT_EQ(next_retention(start_ms, start_ms + 31 * day_ms, 10s), start_ms + 240 * second_ms);
}

TEST(retention_time, catches_up_with_a_week_in_seven_hours) {
  auto retention = start_ms, wall = start_ms + 7 * day_ms;
  auto hours = 0;
  for (; retention < wall; ++hours) retention = next_retention(retention, wall += hour_ms, 1h);
  EXPECT_EQ(hours, 8) << "seven, and what passed meanwhile";
  EXPECT_EQ(retention, wall);
}

TEST(retention_time, never_goes_back_and_meets_a_wall_clock_that_was_set_back) {
  auto retention = start_ms, wall = start_ms - hour_ms;
  for (auto minutes = 0; minutes < 120; ++minutes) {
    const auto next = next_retention(retention, wall += 60 * second_ms, 1min);
    EXPECT_GT(next, retention);
    retention = next;
  }
  EXPECT_EQ(retention, wall);
}

TEST(retention_time, goes_on_under_a_clock_that_reads_1970) {
  EXPECT_EQ(next_retention(start_ms, 5'000, 10s), start_ms + 5'000);
  EXPECT_EQ(next_retention(start_ms, -5'000, 10s), start_ms + 5'000);
}

TEST(retention_time, stands_while_the_steady_clock_does) {
  EXPECT_EQ(next_retention(start_ms, start_ms + 31 * day_ms, 0s), start_ms);
  EXPECT_EQ(next_retention(start_ms, start_ms - day_ms, -5s), start_ms);
}

TEST(retention_time, begins_at_what_an_earlier_release_wrote_last) {
  EXPECT_EQ(first_retention(start_ms, start_ms + 31 * day_ms), start_ms);
  EXPECT_EQ(first_retention(start_ms, 5'000), start_ms);
  EXPECT_EQ(first_retention(0, start_ms), start_ms) << "a new store";
}

TEST(retention_time, does_not_begin_under_a_clock_that_nobody_has_set) {
  EXPECT_EQ(first_retention(0, 600'000), 0);
  EXPECT_EQ(first_retention(600'000, 700'000), 0);
  EXPECT_EQ(first_retention(600'000, start_ms), start_ms) << "what was written in 1970 says nothing";
}

TEST(retention_time, lets_nothing_be_older_than_the_wall_clock_has_it) {
  EXPECT_EQ(aged_until(start_ms, from_unix_ms(start_ms + day_ms)), start_ms);
  EXPECT_EQ(aged_until(start_ms, from_unix_ms(start_ms - day_ms)), start_ms - day_ms);
}

}  // namespace
}  // namespace fairlead::core
