#include "actors/scheduler/books/undo_brake.hpp"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

constexpr auto second = std::chrono::seconds{1};
const moment start = from_unix_ms(1'700'000'000'000);

TEST(undo_brake, strikes_when_more_than_the_share_has_failed_and_not_before_there_are_enough) {
  undo_brake brake{{true, 50, 60 * second, 3}};
  EXPECT_FALSE(brake.failed(start));
  EXPECT_FALSE(brake.failed(start));
  EXPECT_TRUE(brake.failed(start));
  EXPECT_EQ(brake.sentence(), "3 of 3 tasks that ended within 1m failed");
}

TEST(undo_brake, needs_more_than_the_share) {
  undo_brake brake{{true, 50, 60 * second, 1}};
  brake.completed(start);
  EXPECT_FALSE(brake.failed(start)) << "one of two is not more than half";
  EXPECT_TRUE(brake.failed(start));
}

TEST(undo_brake, forgets_what_lies_outside_its_window) {
  undo_brake brake{{true, 50, 60 * second, 2}};
  EXPECT_FALSE(brake.failed(start));
  EXPECT_FALSE(brake.failed(start + 61 * second));
  EXPECT_TRUE(brake.failed(start + 62 * second));
}

TEST(undo_brake, never_strikes_when_it_is_off) {
  undo_brake brake{{false, 1, 60 * second, 1}};
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(brake.failed(start));
}

TEST(undo_brake, survives_a_clock_that_goes_back) {
  undo_brake brake{{true, 50, 60 * second, 2}};
  EXPECT_FALSE(brake.failed(start));
  EXPECT_TRUE(brake.failed(start - 10 * second));
}

}  // namespace
}  // namespace fairlead
