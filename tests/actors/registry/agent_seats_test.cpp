// What a Scheduler's actor knows of the clocks and connections of agents.

#include "actors/registry/seats.hpp"

#include <gtest/gtest.h>

#include <caf/all.hpp>

#include "actors/protocol/meta_objects.hpp"

namespace fairlead::testing {
namespace {

/// Two clocks that have nothing to do with each other.
class two_clocks final : public clock {
 public:
  moment now() const override { return from_unix_ms(wall_ms); }
  moment steady() const override { return from_unix_ms(steady_ms); }
  std::int64_t wall_ms = 1'700'000'000'000;
  std::int64_t steady_ms = 5'000;
};

class seats_config : public caf::actor_system_config {
 public:
  seats_config() { init_meta_objects(*this); }
};

class agent_seats_test : public ::testing::Test {
 protected:
  agent_seats_test() : a(start()), b(start()) { seats.silent(); }
  ~agent_seats_test() override {
    for (const auto& one : {a, b}) caf::anon_send_exit(caf::actor_cast<caf::actor>(one), caf::exit_reason::user_shutdown);
  }

  caf::strong_actor_ptr start() {
    return caf::actor_cast<caf::strong_actor_ptr>(system.spawn([] { return caf::behavior{[](int) {}}; }));
  }

  static v1::RegisterAgent from(const std::string& instance, std::uint64_t incarnation, std::int64_t beacon_ms) {
    v1::RegisterAgent out;
    out.set_instance(instance);
    out.set_incarnation(incarnation);
    out.set_beacon_ms(beacon_ms);
    return out;
  }
  static v1::Beacon beacon(const std::string& instance, std::uint64_t incarnation, std::int64_t beacon_ms) {
    v1::Beacon out;
    out.set_instance(instance);
    out.set_incarnation(incarnation);
    out.set_beacon_ms(beacon_ms);
    return out;
  }
  v1::PerformBatch stamped(const std::string& instance) {
    v1::PerformBatch out;
    seats.stamp(*seats.find(instance), out);
    return out;
  }
  /// As the actor does, for so long.
  std::vector<std::string> silent_after(std::int64_t ms) {
    std::vector<std::string> out;
    for (; ms > 0 && out.empty(); ms -= 250) {
      time.steady_ms += 250;
      out = seats.silent();
    }
    return out;
  }

  seats_config config;
  caf::actor_system system{config};
  two_clocks time;
  agent_seats seats{time};
  caf::strong_actor_ptr a;
  caf::strong_actor_ptr b;
};

TEST_F(agent_seats_test, says_what_the_clock_of_a_remote_agent_shows_at_least) {
  seats.take(from("n2/svc", 1, 90'000), a, false);
  time.steady_ms += 700;
  time.wall_ms -= 3'600'000;  // somebody sets the clock on the wall
  EXPECT_EQ(stamped("n2/svc").anchor_ms(), 90'700);
  EXPECT_EQ(stamped("n2/svc").sent_unix_ms(), time.wall_ms);
  ASSERT_NE(seats.heard(beacon("n2/svc", 1, 90'900), a), nullptr);
  time.steady_ms += 10;
  EXPECT_EQ(stamped("n2/svc").anchor_ms(), 90'910);
}

TEST_F(agent_seats_test, says_what_its_own_clock_shows_to_an_agent_of_its_process) {
  seats.take(from("n1/svc", 1, 90'000), a, true);
  time.steady_ms += 700;
  EXPECT_EQ(stamped("n1/svc").anchor_ms(), time.steady_ms);
}

TEST_F(agent_seats_test, knows_no_anchor_from_nonsense_or_from_another_process) {
  seats.take(from("n2/svc", 1, 0), a, false);
  EXPECT_EQ(stamped("n2/svc").anchor_ms(), 0);
  seats.heard(beacon("n2/svc", 1, -7), a);
  seats.heard(beacon("n2/svc", 1, std::numeric_limits<std::int64_t>::max()), a);
  EXPECT_EQ(stamped("n2/svc").anchor_ms(), 0);
  seats.heard(beacon("n2/svc", 1, 50'000), a);
  EXPECT_EQ(stamped("n2/svc").anchor_ms(), 50'000);
  seats.take(from("n2/svc", 2, 0), b, false);
  EXPECT_EQ(stamped("n2/svc").anchor_ms(), 0);
}

TEST_F(agent_seats_test, answers_only_the_process_and_the_connection_that_registered) {
  EXPECT_EQ(seats.heard(beacon("n2/svc", 1, 1'000), a), nullptr) << "nobody has registered";
  seats.take(from("n2/svc", 2, 1'000), a, false);
  EXPECT_EQ(seats.heard(beacon("n2/svc", 1, 1'000), a), nullptr) << "an older process";
  EXPECT_EQ(seats.heard(beacon("n2/svc", 2, 1'000), b), nullptr) << "over another connection";
  EXPECT_NE(seats.heard(beacon("n2/svc", 2, 1'000), a), nullptr);
  seats.find("n2/svc")->away = true;
  EXPECT_EQ(seats.heard(beacon("n2/svc", 2, 1'000), a), nullptr) << "it has been away, so it may have missed something";
  EXPECT_TRUE(seats.reconnects("n2/svc", b));
  EXPECT_FALSE(seats.reconnects("n2/svc", a));
  EXPECT_FALSE(seats.reconnects("n3/svc", a));
}

TEST_F(agent_seats_test, finds_an_instance_by_its_latest_handle_only) {
  EXPECT_FALSE(seats.take(from("n2/svc", 1, 1), a, false));
  ASSERT_NE(seats.instance_at(a->address()), nullptr);
  EXPECT_EQ(*seats.instance_at(a->address()), "n2/svc");
  EXPECT_TRUE(seats.take(from("n2/svc", 1, 1), b, false)) << "the one before";
  EXPECT_EQ(seats.instance_at(a->address()), nullptr) << "that one may end without anybody minding";
  EXPECT_NE(seats.instance_at(b->address()), nullptr);
}

TEST_F(agent_seats_test, notices_silence_of_those_on_other_nodes) {
  EXPECT_FALSE(seats.any_remote());
  seats.take(from("n1/svc", 1, 1'000), a, true);
  EXPECT_FALSE(seats.any_remote());
  seats.take(from("n2/svc", 1, 1'000), b, false);
  EXPECT_TRUE(seats.any_remote());
  EXPECT_TRUE(silent_after(2'750).empty());
  seats.heard(beacon("n2/svc", 1, 2'000), b);
  EXPECT_TRUE(silent_after(2'750).empty());
  EXPECT_EQ(silent_after(250), std::vector<std::string>{"n2/svc"});
  seats.find("n2/svc")->away = true;
  EXPECT_TRUE(silent_after(60'000).empty()) << "said once; and whoever is in this process may be silent";
  EXPECT_FALSE(seats.any_remote());
}

TEST_F(agent_seats_test, does_not_take_its_own_standstill_for_silence_of_others) {
  seats.take(from("n2/svc", 1, 1'000), a, false);
  time.steady_ms += 60'000;  // a frozen process, a machine that slept
  EXPECT_TRUE(seats.silent().empty());
  EXPECT_TRUE(silent_after(2'750).empty());
  EXPECT_FALSE(silent_after(250).empty());
}

TEST_F(agent_seats_test, leaves_out_workers_of_this_process_whose_attempts_go_on_without_it) {
  auto one = from("n1/svc", 1, 0);
  one.set_kind("native");
  seats.take(one, a, true);
  auto worker = from("w/1", 1, 0);
  worker.set_kind("worker");
  seats.take(worker, b, true);
  EXPECT_EQ(seats.local(), std::vector<std::string>{"n1/svc"});
}

}  // namespace
}  // namespace fairlead::testing
