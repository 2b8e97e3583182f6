#include "actors/core/registry/instance_health.hpp"

#include <gtest/gtest.h>

#include <random>

namespace fairlead::core {
namespace {

void feed(instance_health& to, int count, slot_end how, std::int64_t busy_ms = 10, std::optional<double> peers_ms = 10) {
  for (int i = 0; i < count; ++i) {
    to.note({how, 1, busy_ms}, duration{5'000});
    to.judge(peers_ms);
  }
}

/// How many good attempts it takes to be well again.
int good_until_well(instance_health& of, std::int64_t busy_ms = 10, std::optional<double> peers_ms = 10) {
  int count = 0;
  for (; of.sick() && count < 1'000; ++count) feed(of, 1, slot_end::succeeded, busy_ms, peers_ms);
  return count;
}

TEST(instance_health, is_not_judged_by_a_handful_of_failures) {
  instance_health it;
  feed(it, 9, slot_end::failed);
  EXPECT_FALSE(it.sick());
  feed(it, 1, slot_end::failed);
  EXPECT_TRUE(it.sick());
  EXPECT_EQ(it.error_percent(), 100u);
  EXPECT_EQ(it.sickness(), "100 % of its latest attempts failed");
}

TEST(instance_health, says_why_it_is_sick_by_the_figures_of_now) {
  instance_health it;
  feed(it, 14, slot_end::failed);
  ASSERT_EQ(it.sickness(), "100 % of its latest attempts failed");
  feed(it, 3, slot_end::succeeded);
  ASSERT_TRUE(it.sick());
  EXPECT_EQ(it.error_percent(), 58u);
  EXPECT_EQ(it.sickness(), "58 % of its latest attempts failed");

  instance_health slow;
  feed(slow, 60, slot_end::succeeded, 1'000, 100);
  feed(slow, 1, slot_end::succeeded, 500, 120);
  ASSERT_TRUE(slow.sick());
  EXPECT_EQ(slow.sickness(), "takes " + std::to_string(slow.latency_ms()) + " ms, other instances take 120 ms");
}

TEST(instance_health, takes_refusals_for_good_and_unused_slots_for_nothing) {
  instance_health it;
  feed(it, 100, slot_end::answered);
  EXPECT_FALSE(it.sick());
  EXPECT_EQ(it.error_percent(), 0u);
  feed(it, 100, slot_end::lost);
  feed(it, 100, slot_end::unused);
  EXPECT_EQ(it.error_percent(), 0u);
}

TEST(instance_health, recovers_within_some_ten_good_attempts) {
  instance_health it;
  feed(it, 1'000, slot_end::failed);
  ASSERT_TRUE(it.sick());
  const auto needed = good_until_well(it);
  EXPECT_GE(needed, 4) << "one lucky attempt is not enough";
  EXPECT_LE(needed, 12);
  EXPECT_EQ(it.sickness(), "");
}

TEST(instance_health, is_sick_when_it_lags_far_behind_its_peers) {
  instance_health it;
  feed(it, 30, slot_end::succeeded, 299, 100);
  EXPECT_FALSE(it.sick()) << "not three times as long";
  feed(it, 60, slot_end::succeeded, 1'000, 100);
  EXPECT_TRUE(it.sick());
  EXPECT_NE(it.sickness().find("ms, other instances take 100 ms"), std::string::npos) << it.sickness();
  EXPECT_LE(good_until_well(it, 100, 100), 15);
}

TEST(instance_health, is_not_sick_for_a_few_milliseconds_more) {
  instance_health it;
  feed(it, 100, slot_end::succeeded, 49, 1);
  EXPECT_FALSE(it.sick());
  EXPECT_FALSE(it.wants_peers());
}

TEST(instance_health, is_not_slow_where_nobody_can_be_compared_with_it) {
  instance_health it;
  feed(it, 100, slot_end::succeeded, 100'000, std::nullopt);
  EXPECT_FALSE(it.sick());
}

TEST(instance_health, counts_an_expired_lease_as_long_and_as_failed) {
  instance_health it;
  feed(it, 20, slot_end::expired, 0);
  EXPECT_TRUE(it.sick());
  EXPECT_NEAR(static_cast<double>(it.latency_ms()), 5'000, 10);
}

TEST(instance_health, does_not_flutter_while_it_gets_better) {
  instance_health it;
  feed(it, 100, slot_end::failed);
  int changes = 0;
  for (int i = 0; i < 400; ++i) {
    it.note({i % 5 == 0 ? slot_end::failed : slot_end::succeeded, 1, 10}, duration{10});
    changes += it.judge(10) ? 1 : 0;
  }
  EXPECT_EQ(changes, 1);
  EXPECT_FALSE(it.sick());
}

TEST(instance_health, tells_eighty_percent_of_failures_from_twenty) {
  std::mt19937 random{7};
  const auto time_sick = [&](unsigned percent) {
    instance_health it;
    int sick = 0;
    for (int i = 0; i < 5'000; ++i) {
      it.note({random() % 100 < percent ? slot_end::failed : slot_end::succeeded, 1, 10}, duration{10});
      it.judge(10);
      sick += it.sick() ? 1 : 0;
    }
    return sick;
  };
  EXPECT_GT(time_sick(80), 4'900);
  EXPECT_LT(time_sick(20), 50);
}

TEST(instance_health, is_not_misled_by_a_mix_of_short_and_long_calls) {
  std::mt19937 random{7};
  instance_health it;
  int sick = 0;
  // One call in ten takes two seconds, at every instance: the peers' geometric mean is some 17 ms.
  for (int i = 0; i < 5'000; ++i) {
    it.note({slot_end::succeeded, 1, random() % 10 == 0 ? 2'000 : 10}, duration{10});
    it.judge(17);
    sick += it.sick() ? 1 : 0;
  }
  EXPECT_LT(sick, 250);
}

}  // namespace
}  // namespace fairlead::core
