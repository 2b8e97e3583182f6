// A registry whose wall clock is set back by an hour and stays there: nothing that waits for a moment waits until the clock has caught up.

#include "tests/actors/registry/registry_world.hpp"

namespace fairlead::testing {
namespace {

class registry_clock_test : public registry_fixture {
 protected:
  static constexpr std::int64_t hour_ms = 3'600'000;

  /// Whoever waits for a moment of a wall clock looks every second.
  void set_back() {
    time.now_ms -= hour_ms;
    pass(1'000);
  }
};

TEST_F(registry_clock_test, lets_steps_that_wait_for_a_rate_go_on_at_that_rate) {
  it->add(limited(agent("n1/svc", 100), "", "", 0, 1));
  EXPECT_TRUE(claim_or_wait(1));
  for (std::uint64_t task = 2; task <= 4; ++task) EXPECT_FALSE(claim_or_wait(task));
  set_back();
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{2}));
  ASSERT_EQ(it->next_wake(), time.now() + duration{1'000});
  pass(999);
  EXPECT_TRUE(serve().empty());
  pass(1);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{3}));
  pass(1'000);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{4}));
}

TEST_F(registry_clock_test, lets_steps_that_wait_for_the_rate_of_their_key_go_on_at_that_rate) {
  it->add(limited(agent("n1/svc", 100), "", ".customer", 0, 1));
  for (std::uint64_t task = 1; task <= 6; ++task) EXPECT_EQ(claim_or_wait(task, by(task % 2 == 0 ? "a" : "b")), task <= 2);
  set_back();
  for (std::uint64_t task = 3; task <= 6; task += 2) {
    EXPECT_EQ(it->next_waiting(), task);
    EXPECT_TRUE(claim_or_wait(task, by("b")));
    EXPECT_EQ(it->next_waiting(), task + 1);
    EXPECT_TRUE(claim_or_wait(task + 1, by("a")));
    EXPECT_EQ(it->next_waiting(), std::nullopt);
    pass(999);
    EXPECT_EQ(it->next_waiting(), std::nullopt);
    pass(1);
  }
}

TEST_F(registry_clock_test, notices_the_fall_when_the_next_one_comes_who_does_not_overtake_those_that_it_lets_go) {
  it->add(limited(limited(agent("n1/svc", 100), "do", "", 0, 1), "other", "", 0, 1));
  const ask other{"svc", "other", {}, {}};
  EXPECT_TRUE(claim_or_wait(1));
  EXPECT_FALSE(claim_or_wait(2));
  time.now_ms -= hour_ms;
  EXPECT_FALSE(claim_or_wait(3, other)) << "task 2 may go on now, and comes first";
  EXPECT_EQ(it->next_waiting(), 2u);
  EXPECT_TRUE(claim_or_wait(2));
  EXPECT_EQ(it->next_waiting(), 3u);
  EXPECT_TRUE(claim_or_wait(3, other));
  EXPECT_FALSE(claim_or_wait(4, other));
  pass(999);
  EXPECT_EQ(it->next_waiting(), std::nullopt);
  pass(1);
  EXPECT_EQ(serve(other), (std::vector<std::uint64_t>{4}));
}

TEST_F(registry_clock_test, keeps_a_rate_when_the_clock_falls_by_less_than_its_interval) {
  it->add(limited(agent("n1/svc", 100), "", "", 0, 1));
  EXPECT_TRUE(claim_or_wait(1));
  EXPECT_FALSE(claim_or_wait(2));
  pass(600);
  time.now_ms -= 500;
  pass(0);
  EXPECT_TRUE(serve().empty());
  ASSERT_EQ(it->next_wake(), from_unix_ms(start_ms + 1'000));
  pass(900);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{2}));
}

TEST_F(registry_clock_test, sends_canaries_as_long_after_the_fall_as_the_breaker_was_to_stay_open) {
  it->add(agent("n1/svc", 100));
  break_it();
  make_durable();
  EXPECT_FALSE(claim_or_wait(1));
  set_back();
  const auto changes = make_durable();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].record.breaker(), v1::BREAKER_STATE_OPEN);
  EXPECT_EQ(changes[0].record.open_until_unix_ms(), time.now_ms + 10'000);
  EXPECT_FALSE(changes[0].breaker_alert.has_value()) << "it has been raised";
  EXPECT_TRUE(serve().empty());
  ASSERT_EQ(it->next_wake(), time.now() + duration{10'000});
  pass(9'999);
  EXPECT_TRUE(serve().empty());
  pass(1);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{1}));
}

TEST_F(registry_clock_test, still_sends_canaries_when_the_clock_has_fallen_by_less_than_the_breaker_has_been_open) {
  it->add(agent("n1/svc", 100));
  break_it();
  EXPECT_FALSE(claim_or_wait(1));
  pass(8'000);
  time.now_ms -= 5'000;
  pass(0);
  ASSERT_EQ(it->next_wake(), from_unix_ms(start_ms + 10'000));
  pass(7'000);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{1}));
}

TEST_F(registry_clock_test, takes_up_a_breaker_that_opened_before_the_clock_fell_as_if_it_had_opened_now) {
  it->add(agent("n1/svc", 100));
  break_it();
  make_durable();
  restart();
  time.now_ms -= hour_ms;
  it->restore(durable["svc"]);
  EXPECT_EQ(make_durable().at(0).record.open_until_unix_ms(), time.now_ms + 10'000);
  it->add(agent("n1/svc", 100));
  EXPECT_FALSE(claim_or_wait(1));
  ASSERT_EQ(it->next_wake(), time.now() + duration{10'000});
  pass(10'000);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{1}));
}

TEST_F(registry_clock_test, leaves_a_breaker_that_an_operator_has_opened_open) {
  it->add(agent("n1/svc", 100));
  operate(v1::AGENT_VERB_BREAKER_OPEN, "svc");
  make_durable();
  EXPECT_FALSE(claim_or_wait(1));
  set_back();
  pass(2 * hour_ms);
  EXPECT_TRUE(make_durable().empty());
  EXPECT_EQ(it->next_waiting(), std::nullopt);
}

TEST_F(registry_clock_test, goes_on_with_single_attempts_at_a_sick_instance) {
  auto one = agent("n1/svc", 10);
  one.mutable_breaker()->set_off(true);
  it->add(one);
  for (std::uint64_t task = 1; task <= 10; ++task) {
    claimed(task);
    end(task, slot_end::failed);
  }
  one.set_instance("n2/svc");
  one.set_capacity(1);
  it->add(one);
  ASSERT_TRUE(instance("n1/svc").sick());
  EXPECT_TRUE(claim_or_wait(20));
  EXPECT_FALSE(claim_or_wait(21));
  EXPECT_FALSE(claim_or_wait(22));
  set_back();
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{21}));
  end(21, slot_end::failed);
  EXPECT_TRUE(serve().empty()) << "one in a second";
  pass(1'000);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{22}));
}

TEST_F(registry_clock_test, says_that_nobody_has_come_for_a_minute_a_minute_after_the_fall) {
  claim_or_wait(1);
  make_durable();
  pass(30'000);
  set_back();
  EXPECT_EQ(make_durable().at(0).record.absent_since_unix_ms(), time.now_ms);
  ASSERT_EQ(it->next_wake(), time.now() + duration{60'000});
  pass(59'999);
  EXPECT_TRUE(make_durable().empty());
  pass(1);
  const auto raised = make_durable();
  ASSERT_EQ(raised.size(), 1u);
  EXPECT_TRUE(raised[0].absent_alert.has_value());
  EXPECT_EQ(it->next_wake(), std::nullopt);
}

TEST_F(registry_clock_test, still_says_that_nobody_has_come_when_the_clock_has_fallen_by_less_than_they_have_waited) {
  claim_or_wait(1);
  make_durable();
  pass(30'000);
  time.now_ms -= 10'000;
  pass(0);
  EXPECT_TRUE(make_durable().empty());
  ASSERT_EQ(it->next_wake(), from_unix_ms(start_ms + 60'000));
  pass(40'000);
  EXPECT_TRUE(make_durable().at(0).absent_alert.has_value());
}

TEST_F(registry_clock_test, takes_an_alert_back_a_minute_after_a_start_though_the_clock_falls_meanwhile) {
  claim_or_wait(1);
  pass(60'000);
  make_durable();
  restart();
  it->restore(durable["svc"]);
  set_back();
  EXPECT_TRUE(make_durable().empty());
  pass(60'000);
  EXPECT_EQ(make_durable().at(0).resolved, (std::vector<std::uint64_t>{1}));
}

}  // namespace
}  // namespace fairlead::testing
