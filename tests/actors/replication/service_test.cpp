#include "actors/replication/service.hpp"

#include <map>

#include "tests/actors/replication/replica_world.hpp"

namespace fairlead {
namespace {

/// Three replicas of which the first is served as its actor does it, and leads.
class replica_service_test : public ::testing::Test, public service_port {
 protected:
  void SetUp() override {
    for (int tries = 0; tries < 20 && three.elect() != 1; ++tries) {
      three.cut_off(three.elect());
      three.pass(3 * testing::replica_world::election_ms);
      three.heal();
      three.pass(testing::replica_world::election_ms);
    }
    ASSERT_EQ(three.elect(), 1U);
    service.serve(three.it(1));
    turn();
    ASSERT_EQ(led, std::vector<bool>({false, true})) << "whoever was served before may not have come to act on it";
  }

  void send(std::vector<raft::message> what) override { three.at(1).send(std::move(what)); }
  void wake() override { ++wakes; }
  void committed(std::uint64_t sequence) override { told.push_back(sequence); }
  void measured(std::size_t batches, std::size_t, std::chrono::microseconds) override { groups.push_back(batches); }
  void leads(bool now) override { led.push_back(now); }
  void confirmed(std::uint64_t ticket, bool led_then) override { answers[ticket] = led_then; }

  store::batch next() {
    store::batch out;
    out.sequence = ++sequence;
    out.epoch = three.store_of(1).epoch();
    out.put(store::table::task, "key" + std::to_string(sequence), "value");
    return out;
  }

  /// All that is under way arrives, and the disk is free again and again.
  void turn() {
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(service.flush().ok());
      three.run();
    }
    ASSERT_TRUE(service.flush().ok());
  }

  testing::replica_world three;
  int wakes = 0;
  std::uint64_t sequence = 0;
  std::vector<std::uint64_t> told;
  std::vector<std::size_t> groups;
  std::vector<bool> led;
  std::map<std::uint64_t, bool> answers;
  replica_service service{*this};
};

TEST_F(replica_service_test, what_gathers_while_the_disk_is_busy_is_one_group_and_is_told_once) {
  for (int i = 0; i < 3; ++i) service.commit(7, next());
  turn();
  EXPECT_EQ(groups, std::vector<std::size_t>{3});
  EXPECT_EQ(told, std::vector<std::uint64_t>{3});
  three.pass(2 * testing::replica_world::heartbeat_ms);
  EXPECT_EQ(three.rows(2).size(), 3U);
}

TEST_F(replica_service_test, asks_for_one_turn_whatever_comes_until_then) {
  turn();
  wakes = 0;
  service.commit(7, next());
  service.commit(7, next());
  EXPECT_EQ(wakes, 1);
}

TEST_F(replica_service_test, what_a_scheduler_before_it_has_left_counts_no_more) {
  service.commit(7, next());
  --sequence;
  auto other = next();
  other.put(store::table::task, "of another", "value");
  service.commit(8, std::move(other));
  turn();
  EXPECT_EQ(told, std::vector<std::uint64_t>{1});
  EXPECT_EQ(three.rows(1).count("of another"), 1U);
}

TEST_F(replica_service_test, answers_a_round_with_what_a_majority_says) {
  const auto asked = service.confirm();
  EXPECT_TRUE(answers.empty());
  turn();
  EXPECT_EQ(answers, (std::map<std::uint64_t, bool>{{asked, true}}));
}

TEST_F(replica_service_test, says_that_it_leads_no_longer_and_takes_nothing_then) {
  three.cut_off(1);
  service.commit(7, next());
  const auto asked = service.confirm();
  for (int i = 0; i < 100 && led.back(); ++i) {
    three.pass(testing::replica_world::heartbeat_ms);
    ASSERT_TRUE(service.tick().ok());
    ASSERT_TRUE(service.flush().ok());
  }
  EXPECT_EQ(led, std::vector<bool>({false, true, false}));
  EXPECT_TRUE(told.empty());
  EXPECT_FALSE(answers.at(asked));
  wakes = 0;
  service.commit(7, next());
  EXPECT_EQ(wakes, 0) << "a Scheduler that is being stopped commits nothing any more";
}

}  // namespace
}  // namespace fairlead
