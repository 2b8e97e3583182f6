#include "actors/core/retry.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace fairlead::core {
namespace {

v1::Backoff policy(std::int64_t first, double factor, std::int64_t max) {
  v1::Backoff out;
  out.set_first_ms(first);
  out.set_factor(factor);
  out.set_max_ms(max);
  return out;
}

TEST(backoff, lies_between_half_and_the_whole_of_the_capped_delay) {
  struct row {
    std::uint32_t failures;
    std::int64_t whole;
  };
  for (const auto& [failures, whole] : {row{1, 200}, row{2, 400}, row{3, 800}, row{6, 6'400}, row{7, 10'000}, row{1'000'000, 10'000}}) {
    for (std::uint64_t task = 1; task <= 200; ++task) {
      const auto wait = backoff_ms(policy(200, 2, 10'000), failures, {task, 0, failures});
      EXPECT_GE(wait, whole / 2) << failures;
      EXPECT_LE(wait, whole) << failures;
    }
  }
}

TEST(backoff, is_the_same_for_the_same_history) {
  EXPECT_EQ(backoff_ms(policy(200, 2, 10'000), 3, {42, 1, 3}), backoff_ms(policy(200, 2, 10'000), 3, {42, 1, 3}));
}

TEST(backoff, spreads_tasks_steps_and_attempts_that_failed_together) {
  std::set<std::int64_t> tasks, steps, attempts;
  for (std::uint32_t i = 0; i < 100; ++i) {
    tasks.insert(backoff_ms(policy(100'000, 2, 100'000), 1, {i, 0, 1}));
    steps.insert(backoff_ms(policy(100'000, 2, 100'000), 1, {1, i, 1}));
    attempts.insert(backoff_ms(policy(100'000, 2, 100'000), 1, {1, 0, i}));
  }
  EXPECT_GT(tasks.size(), 90u);
  EXPECT_GT(steps.size(), 90u);
  EXPECT_GT(attempts.size(), 90u);
}

TEST(backoff, makes_sense_of_policies_that_make_none) {
  EXPECT_EQ(backoff_ms(policy(0, 2, 0), 5, {}), 0);
  EXPECT_EQ(backoff_ms(policy(-5, 2, -7), 5, {}), 0);
  const auto shrinking = backoff_ms(policy(1'000, 0.1, 10'000), 9, {});
  EXPECT_GE(shrinking, 500);
  EXPECT_LE(shrinking, 1'000);
  const auto below_first = backoff_ms(policy(1'000, 2, 10), 3, {});
  EXPECT_GE(below_first, 500);
  EXPECT_LE(below_first, 1'000);
  EXPECT_GE(backoff_ms(policy(1'000, 1e300, 5'000), std::numeric_limits<std::uint32_t>::max(), {}), 2'500);
}

TEST(backoff, takes_no_failure_for_the_first) {
  EXPECT_EQ(backoff_ms(policy(200, 2, 10'000), 0, {9, 9, 9}), backoff_ms(policy(200, 2, 10'000), 1, {9, 9, 9}));
}

}  // namespace
}  // namespace fairlead::core
