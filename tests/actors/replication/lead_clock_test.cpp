#include "actors/replication/lead_clock.hpp"

#include <functional>

#include "tests/actors/replication/replica_world.hpp"

namespace fairlead {
namespace {

struct lead_clock_test : ::testing::Test {
  struct wall final : clock {
    moment now() const override { return from_unix_ms(now_ms); }
    std::int64_t now_ms = 1'000'000;
  } own;
  std::int64_t boot_ms = 50;
  lead_clock it{own, [this] { return boot_ms; }};

  void pass(std::int64_t ms) {
    own.now_ms += ms;
    boot_ms += ms;
  }
  std::int64_t shown() const { return to_unix_ms(it.now()); }
};

TEST_F(lead_clock_test, is_the_wall_clock_while_no_leader_was_heard) {
  EXPECT_EQ(shown(), 1'000'000);
  pass(7);
  EXPECT_EQ(shown(), 1'000'007);
}

TEST_F(lead_clock_test, goes_on_from_what_a_leader_showed_by_its_own_time) {
  it.follow(1'030'000, boot_ms);
  EXPECT_EQ(shown(), 1'030'000);
  pass(500);
  EXPECT_EQ(shown(), 1'030'499);     // half a millisecond less, cut off
  it.follow(990'000, boot_ms - 20);  // a clock that is behind, heard 20 ms ago
  EXPECT_EQ(shown(), 990'020);
}

TEST_F(lead_clock_test, that_of_a_lead_goes_on_from_what_was_heard_and_is_not_moved_by_what_is_heard_later) {
  lead_clock led{own, [this] { return boot_ms; }};
  it.follow(1'030'000, boot_ms);
  led.take(it);
  pass(500);
  EXPECT_EQ(to_unix_ms(led.now()), 1'030'499);
  // It has stood still, and what the next leader has said meanwhile comes late.
  pass(4'000);
  it.follow(1'030'700, boot_ms);
  EXPECT_EQ(to_unix_ms(led.now()), 1'034'495);
}

TEST_F(lead_clock_test, comes_back_to_the_wall_clock_by_a_thousandth) {
  it.follow(1'000'100, boot_ms);
  pass(40'000);
  EXPECT_EQ(shown(), 1'040'060);
  pass(60'000);
  EXPECT_EQ(shown(), 1'100'000);
  pass(60'000);
  EXPECT_EQ(shown(), 1'160'000);
}

TEST_F(lead_clock_test, is_set_with_the_wall_clock) {
  it.follow(1'000'100, boot_ms);
  own.now_ms += 3'600'000;
  EXPECT_EQ(shown(), 4'600'000) << "100 ms of it have brought it nearer";
  own.now_ms -= 600'000;
  EXPECT_EQ(shown(), 4'000'000);
}

TEST_F(lead_clock_test, is_not_moved_by_a_wall_clock_that_is_set_right) {
  it.follow(1'060'000, boot_ms);
  pass(1'000);
  EXPECT_EQ(shown(), 1'060'999);
  own.now_ms += 50'000;
  EXPECT_EQ(shown(), 1'060'999) << "it was a minute behind";
  pass(1'000);
  EXPECT_EQ(shown(), 1'061'998);
  own.now_ms -= 1'000;
  EXPECT_EQ(shown(), 1'060'998) << "that takes it further away";

  it.follow(own.now_ms - 30'000, boot_ms);
  const auto before = shown();
  own.now_ms -= 30'000;
  EXPECT_EQ(shown(), before) << "it was half a minute ahead";
}

TEST(lead_clock, of_a_thread_that_is_held_up_while_it_reads_is_not_moved) {
  struct wall final : clock {
    moment now() const override {
      const auto shown = from_unix_ms(now_ms);
      now_ms += std::exchange(held_up_ms, 0);
      return shown;
    }
    mutable std::int64_t now_ms = 1'000'000;
    mutable std::int64_t held_up_ms = 0;
  } own;
  lead_clock it{own, [&own] { return own.now_ms - 999'950; }};
  const auto read = [&](std::int64_t held_up_ms) {
    own.held_up_ms = held_up_ms;
    return to_unix_ms(it.now()) - own.now_ms;
  };
  for (const std::int64_t ahead_ms : {-30'000, 30'000}) {
    it.follow(own.now_ms + ahead_ms, own.now_ms - 999'950);
    EXPECT_EQ(read(0), ahead_ms);
    EXPECT_NEAR(read(2'000), ahead_ms, 2) << "a thousandth of it";
    EXPECT_NEAR(read(0), ahead_ms, 2);
  }
}

TEST_F(lead_clock_test, of_a_new_leader_shows_no_less_than_a_leader_before_it_has) {
  it.follow(1'000'100, boot_ms);
  it.reach(1'000'050);
  EXPECT_EQ(shown(), 1'000'100);
  it.reach(1'000'400);
  EXPECT_EQ(shown(), 1'000'400);
}

TEST_F(lead_clock_test, goes_on_from_a_note_by_the_time_that_has_passed_since) {
  it.resume(-300, 900'000);
  EXPECT_EQ(shown(), 999'800) << "100 s, of which a thousandth is made up for";
  it.resume(300, 1'500'000);
  EXPECT_EQ(shown(), 1'000'300) << "the wall clock was set back, and says nothing of the time that has passed";
  it.resume(30, 900'000);
  EXPECT_EQ(shown(), 1'000'000);
}

/// How much later than by the clock of the former leader it is by that of a successor, which has a wall clock of its own; `fall` is what happens
/// to the former one.
void expect_that_a_successor_goes_on(const std::function<void(testing::replica_world&, raft::replica_id former)>& fall) {
  testing::replica_world three;
  three.skew_ms = {{1, -40'000}, {2, 0}, {3, 90'000}};
  const auto former = three.elect();
  ASSERT_NE(former, 0U);
  ASSERT_TRUE(three.propose(former, "a", "1"));
  three.pass(1'000);
  const auto shown = to_unix_ms(three.at(former).time->now());
  const auto at = three.now_ms;
  fall(three, former);
  const auto next = three.elect();
  ASSERT_NE(next, 0U);
  ASSERT_NE(next, former);
  const auto passed = three.now_ms - at;
  const auto late = shown + passed - to_unix_ms(three.at(next).time->now());
  // Never ahead of it; and behind it by no more than a heartbeat, and what the offset has shrunk.
  EXPECT_GE(late, -(passed + testing::replica_world::heartbeat_ms) / 1'000 - 1);
  EXPECT_LE(late, testing::replica_world::heartbeat_ms + passed / 1'000 + 1);
}

void kill_all(testing::replica_world& three, raft::replica_id former) {
  for (raft::replica_id id = 1; id <= 3; ++id) three.kill(id);
  three.now_ms += 3'000;
  for (raft::replica_id id = 1; id <= 3; ++id)
    if (id != former) three.start(id);
}

TEST(lead_clock, of_a_successor_goes_on_from_that_of_the_leader_whatever_its_wall_clock_shows) {
  expect_that_a_successor_goes_on([](auto& three, auto former) { three.kill(former); });
}

TEST(lead_clock, goes_on_although_all_processes_were_killed_and_another_node_leads) {
  expect_that_a_successor_goes_on([](auto& three, auto former) {
    for (raft::replica_id id = 1; id <= 3; ++id) three.apply(id);
    kill_all(three, former);
  });
}

TEST(lead_clock, goes_on_although_all_were_killed_before_anything_was_applied) {
  expect_that_a_successor_goes_on([](auto& three, auto former) { kill_all(three, former); });
}

}  // namespace
}  // namespace fairlead
