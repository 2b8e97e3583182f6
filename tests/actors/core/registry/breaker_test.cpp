#include "actors/core/registry/breaker.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace fairlead::core {
namespace {

constexpr auto closed = v1::BREAKER_STATE_CLOSED;
constexpr auto open = v1::BREAKER_STATE_OPEN;
constexpr auto half_open = v1::BREAKER_STATE_HALF_OPEN;

class breaker_test : public ::testing::Test {
 protected:
  void policy(const std::function<void(v1::BreakerPolicy&)>& change = [](auto&) {}) {
    v1::BreakerPolicy what;
    change(what);
    it.set_policy(what, now);
  }
  void pass(std::int64_t ms) { now += duration{ms}; }
  bool ends(slot_end how, std::int64_t busy_ms = 0, std::uint32_t tries = 1) { return it.ended(it.admit(), {how, tries, busy_ms}, now); }
  void end_many(int count, slot_end how, std::int64_t busy_ms = 0) {
    for (int i = 0; i < count; ++i) ends(how, busy_ms);
  }
  void fail_until_open() {
    end_many(20, slot_end::failed);
    ASSERT_EQ(it.state(), open);
  }
  void wait_for_canaries() {
    ASSERT_TRUE(it.canaries_from().has_value());
    now = *it.canaries_from();
    ASSERT_TRUE(it.advance(now));
    ASSERT_EQ(it.state(), half_open);
  }

  moment now = from_unix_ms(1'700'000'000'000);
  breaker it{now};
};

TEST_F(breaker_test, opens_when_half_of_at_least_twenty_tries_failed) {
  policy();
  end_many(9, slot_end::failed);
  end_many(10, slot_end::succeeded);
  EXPECT_EQ(it.state(), closed) << "nineteen are too few to judge";
  EXPECT_TRUE(ends(slot_end::failed));
  EXPECT_EQ(it.state(), open);
  EXPECT_FALSE(it.admits());
  EXPECT_EQ(it.reason(), "10 of 20 tries failed within 30s");
  EXPECT_EQ(it.sentence("payment"), "breaker of payment is open until 22:13:30Z: 10 of 20 tries failed within 30s");
}

TEST_F(breaker_test, says_with_what_the_tries_failed) {
  policy();
  const auto fails = [this](const char* code, std::uint32_t tries) { it.ended(it.admit(), {slot_end::failed, tries, 0, code}, now); };
  EXPECT_EQ(it.faults(now), "");
  fails("connection_refused", 1);
  for (int i = 0; i < 6; ++i) fails("http_503", 3);
  EXPECT_EQ(it.faults(now), "http_503 (18), connection_refused (1)");
  EXPECT_EQ(it.state(), closed);
  ends(slot_end::succeeded, 0, 2);
  EXPECT_EQ(it.reason(), "20 of 21 tries failed within 30s: http_503 (18), connection_refused (1), others (1)");
  EXPECT_EQ(it.faults(now), "") << "what has opened it is counted no more";
  wait_for_canaries();
  it.ended(it.admit(), {slot_end::expired, 1, 0, "lease_expired"}, now);
  EXPECT_EQ(it.reason(), "a probe attempt failed: lease_expired");
}

TEST_F(breaker_test, forgets_with_its_window_what_tries_failed_with) {
  policy();
  it.ended(it.admit(), {slot_end::failed, 1, 0, "http_503"}, now);
  pass(15'000);
  it.ended(it.admit(), {slot_end::failed, 1, 0, "http_500"}, now);
  EXPECT_EQ(it.faults(now), "http_500 (1), http_503 (1)");
  pass(20'000);
  EXPECT_EQ(it.faults(now), "http_500 (1)");
  pass(20'000);
  EXPECT_EQ(it.faults(now), "");
}

TEST_F(breaker_test, tells_no_more_than_some_faults_apart) {
  policy([](auto& what) { what.set_at_least(1'000); });
  for (int i = 0; i < 100; ++i) it.ended(it.admit(), {slot_end::failed, 1, 0, "code_" + std::to_string(i)}, now);
  const auto text = it.faults(now);
  EXPECT_NE(text.find("others (92)"), std::string::npos) << text;
  EXPECT_LT(text.size(), 200U);
}

TEST_F(breaker_test, stays_closed_below_the_share) {
  policy();
  for (int i = 0; i < 1'000; ++i) ends(i % 5 < 2 ? slot_end::failed : slot_end::answered);
  EXPECT_EQ(it.state(), closed) << "a service that refuses works";
}

TEST_F(breaker_test, counts_the_tries_inside_an_attempt) {
  policy();
  for (int i = 0; i < 9; ++i) ends(slot_end::succeeded, 0, 2);
  EXPECT_EQ(it.state(), closed);
  EXPECT_EQ(it.window(now).failed, 9u);
  ends(slot_end::succeeded, 0, 2);
  EXPECT_EQ(it.state(), open) << "ten of twenty tries failed though every attempt succeeded";
}

TEST_F(breaker_test, learns_nothing_from_what_was_lost_or_not_used) {
  policy();
  end_many(100, slot_end::lost);
  end_many(100, slot_end::unused);
  EXPECT_EQ(it.state(), closed);
  EXPECT_EQ(it.window(now).tries, 0u);
}

TEST_F(breaker_test, forgets_what_is_older_than_its_window) {
  policy();
  end_many(19, slot_end::failed);
  pass(31'000);
  end_many(1, slot_end::failed);
  EXPECT_EQ(it.state(), closed);
  EXPECT_EQ(it.window(now).tries, 1u);
  pass(33'000);
  EXPECT_EQ(it.window(now).tries, 0u) << "it is seen without anything happening";
}

TEST_F(breaker_test, lets_old_slices_go_one_by_one) {
  policy();
  for (int i = 0; i < 18; ++i) {
    ends(slot_end::failed);
    pass(3'000);
  }
  EXPECT_EQ(it.state(), closed) << "there are never more than ten within the window";
  EXPECT_LE(it.window(now).tries, 10u);
  EXPECT_GE(it.window(now).tries, 9u);
}

TEST_F(breaker_test, survives_a_clock_that_goes_back) {
  policy();
  end_many(10, slot_end::failed);
  pass(-5'000);
  end_many(9, slot_end::failed);
  EXPECT_EQ(it.window(now).tries, 19u) << "a small step back loses nothing";
  pass(-3'600'000);
  end_many(1, slot_end::succeeded);
  EXPECT_EQ(it.window(now).tries, 1u) << "after a leap the old counts mean nothing";
}

TEST_F(breaker_test, stays_open_for_as_long_as_was_meant_when_the_clock_is_set_back) {
  policy();
  fail_until_open();
  pass(4'000);
  EXPECT_FALSE(it.clock_fell(now));
  pass(-3'600'000);
  EXPECT_TRUE(it.advance(now)) << "has to become durable";
  EXPECT_EQ(it.state(), open);
  EXPECT_EQ(it.canaries_from(), now + duration{10'000});
  EXPECT_FALSE(it.advance(now)) << "once";
  EXPECT_EQ(it.reason(), "20 of 20 tries failed within 30s");
  pass(9'999);
  EXPECT_FALSE(it.advance(now));
  pass(1);
  EXPECT_TRUE(it.advance(now));
  EXPECT_EQ(it.state(), half_open);
}

TEST_F(breaker_test, keeps_the_moment_of_its_canaries_when_the_clock_is_set_back_to_after_it_opened) {
  policy();
  fail_until_open();
  const auto meant = it.canaries_from();
  pass(9'000);
  pass(-9'000);
  EXPECT_FALSE(it.advance(now));
  EXPECT_EQ(it.canaries_from(), meant);
}

TEST_F(breaker_test, waits_for_an_operator_however_the_clock_is_set) {
  policy();
  it.open_by("mara", "", now);
  pass(-3'600'000);
  EXPECT_FALSE(it.clock_fell(now));
  EXPECT_FALSE(it.advance(now));
  EXPECT_EQ(it.canaries_from(), std::nullopt);
}

TEST_F(breaker_test, opens_for_slow_tries_only_where_slow_is_defined) {
  policy([](auto& p) { p.set_slow_ms(100); });
  end_many(20, slot_end::succeeded, 100);
  EXPECT_EQ(it.state(), closed);
  end_many(79, slot_end::succeeded, 101);
  EXPECT_EQ(it.state(), closed);
  end_many(1, slot_end::succeeded, 101);
  EXPECT_EQ(it.state(), open);
  EXPECT_EQ(it.reason(), "80 of 100 tries took longer than 100ms within 30s");

  breaker other{now};
  other.set_policy({}, now);
  for (int i = 0; i < 100; ++i) other.ended(other.admit(), {slot_end::succeeded, 1, 1'000'000}, now);
  EXPECT_EQ(other.state(), closed);
}

TEST_F(breaker_test, takes_an_expired_lease_for_slow) {
  policy([](auto& p) {
    p.set_slow_ms(100);
    p.set_failure_percent(100);
  });
  end_many(4, slot_end::succeeded, 1);
  end_many(16, slot_end::expired);
  EXPECT_EQ(it.state(), open);
  EXPECT_EQ(it.reason(), "16 of 20 tries took longer than 100ms within 30s");
}

TEST_F(breaker_test, lets_one_canary_at_a_time_through_and_closes_after_three_good_ones) {
  policy();
  fail_until_open();
  pass(9'999);
  EXPECT_FALSE(it.advance(now));
  pass(1);
  EXPECT_TRUE(it.advance(now));
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(it.state(), half_open) << i;
    ASSERT_TRUE(it.admits()) << i;
    const auto canary = it.admit();
    EXPECT_FALSE(it.admits()) << "one is out";
    it.ended(canary, {slot_end::answered, 1, 5}, now);
  }
  EXPECT_EQ(it.state(), closed);
  EXPECT_EQ(it.window(now).tries, 0u);
  EXPECT_EQ(it.reason(), "");
}

TEST_F(breaker_test, opens_again_for_longer_with_each_bad_canary_but_at_most_tenfold) {
  policy();
  fail_until_open();
  std::vector<std::int64_t> waits;
  for (int i = 0; i < 6; ++i) {
    waits.push_back((*it.canaries_from() - now).count());
    wait_for_canaries();
    EXPECT_TRUE(ends(slot_end::failed));
  }
  EXPECT_EQ(waits, (std::vector<std::int64_t>{10'000, 20'000, 40'000, 80'000, 100'000, 100'000}));
  wait_for_canaries();
  end_many(3, slot_end::succeeded);
  ASSERT_EQ(it.state(), closed);
  fail_until_open();
  EXPECT_EQ((*it.canaries_from() - now).count(), 10'000) << "having been closed, it begins anew";
}

TEST_F(breaker_test, wants_good_canaries_in_a_row) {
  policy();
  fail_until_open();
  wait_for_canaries();
  end_many(2, slot_end::succeeded);
  ends(slot_end::expired);
  EXPECT_EQ(it.state(), open);
  wait_for_canaries();
  end_many(2, slot_end::succeeded);
  EXPECT_EQ(it.state(), half_open);
}

TEST_F(breaker_test, takes_a_canary_that_mostly_failed_inside_or_was_slow_for_a_bad_one) {
  policy([](auto& p) { p.set_slow_ms(100); });
  fail_until_open();
  wait_for_canaries();
  ends(slot_end::succeeded, 1, 5);
  EXPECT_EQ(it.state(), open);
  wait_for_canaries();
  ends(slot_end::succeeded, 101);
  EXPECT_EQ(it.state(), open);
}

TEST_F(breaker_test, gives_the_place_of_a_canary_that_said_nothing_to_another) {
  policy();
  fail_until_open();
  wait_for_canaries();
  for (const auto how : {slot_end::lost, slot_end::unused}) {
    EXPECT_FALSE(ends(how));
    EXPECT_EQ(it.state(), half_open);
    EXPECT_TRUE(it.admits());
  }
  end_many(3, slot_end::succeeded);
  EXPECT_EQ(it.state(), closed);
}

TEST_F(breaker_test, is_not_moved_by_what_was_handed_over_before_it_opened) {
  policy();
  std::vector<breaker::ticket> before;
  for (int i = 0; i < 60; ++i) before.push_back(it.admit());
  fail_until_open();
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(it.ended(before[static_cast<std::size_t>(i)], {slot_end::succeeded, 1, 0}, now));
  EXPECT_EQ(it.state(), open);
  wait_for_canaries();
  const auto canary = it.admit();
  for (int i = 20; i < 40; ++i) EXPECT_FALSE(it.ended(before[static_cast<std::size_t>(i)], {slot_end::failed, 1, 0}, now));
  EXPECT_EQ(it.state(), half_open);
  EXPECT_FALSE(it.admits()) << "the canary is still out";
  it.ended(canary, {slot_end::succeeded, 1, 0}, now);
  end_many(2, slot_end::succeeded);
  ASSERT_EQ(it.state(), closed);
  for (int i = 40; i < 60; ++i) it.ended(before[static_cast<std::size_t>(i)], {slot_end::failed, 1, 0}, now);
  EXPECT_EQ(it.state(), closed) << "late failures do not open what has been found good";
}

TEST_F(breaker_test, does_not_take_an_old_canary_for_the_new_one) {
  policy();
  fail_until_open();
  wait_for_canaries();
  const auto old = it.admit();
  it.close_by("mara", now);
  fail_until_open();
  wait_for_canaries();
  const auto current = it.admit();
  EXPECT_FALSE(it.ended(old, {slot_end::failed, 1, 0}, now));
  EXPECT_EQ(it.state(), half_open);
  EXPECT_FALSE(it.admits());
  EXPECT_TRUE(it.ended(current, {slot_end::failed, 1, 0}, now));
}

TEST_F(breaker_test, stays_open_for_an_operator_until_an_operator_closes_it) {
  policy();
  it.open_by("mara", "the bank called", now);
  EXPECT_EQ(it.state(), open);
  EXPECT_EQ(it.canaries_from(), std::nullopt);
  pass(1'000'000'000);
  EXPECT_FALSE(it.advance(now));
  EXPECT_EQ(it.sentence("payment"), "breaker of payment is open until an operator closes it: opened by mara: the bank called");
  v1::ServiceRecord record;
  it.store(record);
  EXPECT_EQ(record.breaker_by(), "mara");
  it.close_by("jon", now);
  EXPECT_TRUE(it.admits());
  it.store(record);
  EXPECT_EQ(record.breaker_by(), "jon");
}

TEST_F(breaker_test, counts_from_nothing_once_an_operator_closed_it) {
  policy();
  end_many(19, slot_end::failed);
  it.close_by("mara", now);
  end_many(19, slot_end::failed);
  EXPECT_EQ(it.state(), closed);
  ends(slot_end::failed);
  EXPECT_EQ(it.state(), open);
}

TEST_F(breaker_test, never_opens_when_it_is_off) {
  policy();
  fail_until_open();
  v1::BreakerPolicy off;
  off.set_off(true);
  EXPECT_TRUE(it.set_policy(off, now));
  EXPECT_EQ(it.state(), closed);
  end_many(1'000, slot_end::failed);
  EXPECT_EQ(it.state(), closed);
}

TEST_F(breaker_test, goes_on_from_what_was_durable) {
  policy();
  fail_until_open();
  wait_for_canaries();
  ends(slot_end::failed);
  v1::ServiceRecord record;
  it.store(record);
  EXPECT_EQ(record.openings(), 2u);

  breaker next{now};
  next.restore(record);
  EXPECT_EQ(next.state(), open);
  EXPECT_EQ(next.canaries_from(), it.canaries_from());
  EXPECT_EQ(next.sentence("a"), it.sentence("a"));
  now = *next.canaries_from();
  ASSERT_TRUE(next.advance(now));
  next.admit();
  next.store(record);

  breaker third{now};
  third.restore(record);
  EXPECT_EQ(third.state(), half_open);
  EXPECT_TRUE(third.admits()) << "nobody knows of the canary that was out";
  EXPECT_FALSE(third.ended(third.adopt(), {slot_end::failed, 1, 0}, now)) << "what was out before is none";
  EXPECT_TRUE(third.ended(third.admit(), {slot_end::failed, 1, 0}, now));
  EXPECT_EQ((*third.canaries_from() - now).count(), 40'000) << "the openings in a row are remembered";
}

}  // namespace
}  // namespace fairlead::core
