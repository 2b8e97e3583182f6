#include "store/failpoint.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace fairlead::store {
namespace {

struct failpoints : ::testing::Test {
  void TearDown() override { ASSERT_TRUE(set_failpoints("").ok()); }
};

TEST_F(failpoints, do_nothing_and_count_nothing_while_off) {
  EXPECT_FALSE(failpoint("a"));
  EXPECT_TRUE(failpoint_hits().empty());
}

TEST_F(failpoints, fail_at_every_hit_or_at_the_nth_only) {
  ASSERT_TRUE(set_failpoints("a=error,b=error@2").ok());
  EXPECT_TRUE(failpoint("a"));
  EXPECT_TRUE(failpoint("a"));
  EXPECT_FALSE(failpoint("b"));
  EXPECT_TRUE(failpoint("b"));
  EXPECT_FALSE(failpoint("b"));
  EXPECT_FALSE(failpoint("c"));
  EXPECT_EQ(failpoint_hits(), (std::map<std::string, std::uint64_t>{{"a", 2}, {"b", 3}, {"c", 1}}));
}

TEST_F(failpoints, wait_as_long_as_they_are_told) {
  ASSERT_TRUE(set_failpoints("a=delay:30").ok());
  const auto before = std::chrono::steady_clock::now();
  EXPECT_FALSE(failpoint("a"));
  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(30));
}

TEST_F(failpoints, end_the_process_when_told) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        (void)set_failpoints("a=crash");
        failpoint("a");
      },
      ::testing::ExitedWithCode(99), "");
  EXPECT_EXIT(
      {
        (void)set_failpoints("a=crash:kill");
        failpoint("a");
      },
      ::testing::KilledBySignal(9), "");
}

TEST_F(failpoints, refuse_a_setting_that_is_none) {
  for (const char* text : {"a", "=error", "a=", "a=explode", "a=error@", "a=error@0", "a=error@x", "a=delay:", "a=delay:5s", "a=error,b"}) {
    const auto refused = set_failpoints(text);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
  }
}

}  // namespace
}  // namespace fairlead::store
