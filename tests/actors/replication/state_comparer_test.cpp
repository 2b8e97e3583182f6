// Replicas compare their states over a network that loses what it carries, while the leader goes on working.

#include "actors/replication/state_comparer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "actors/core/cluster/state_comparison.hpp"
#include "store/journaled/run.hpp"
#include "store/rows/node_rows.hpp"
#include "tests/actors/replication/replica_world.hpp"

namespace fairlead {
namespace {

using testing::replica_world;

struct state_comparer_test : ::testing::Test {
  state_comparer_test() {
    leader = three.elect();
    for (raft::replica_id id = 1; id <= 3; ++id) begin(id);
    for (int i = 0; i < 40; ++i) EXPECT_TRUE(three.propose(leader, "key " + std::to_string(i), std::string(1'000, 'a')));
    pass(400);
  }

  void begin(raft::replica_id id) {
    auto& one = comparers[id];
    one.emplace(state_comparer::world{
        &three.it(id), &three.store_of(id), 0, [this] { return three.now_ms; }, [this] { return 1'700'000'000'000 + three.now_ms; },
        [this](const v1::ReplicaCopy& what) {
          if (three.random() % 1000 >= three.lost) network.push_back(what);
        },
        [this](const std::string& sentence) { notes.push_back(sentence); },
        [](raft::replica_id which) { return "n" + std::to_string(which); }, [this, id] { return id == leader ? wanted : 0; },
        [this, id](const error& why) { damaged[id] = why.sentence; }, [this, id](const error& why) { different[id] = why.sentence; },
        bytes_a_tick});
  }
  void end(raft::replica_id id) {
    comparers[id].reset();
    three.kill(id);
  }
  void start(raft::replica_id id) {
    three.start(id);
    begin(id);
  }

  void pass(std::int64_t ms) {
    for (const auto until = three.now_ms + ms; three.now_ms < until;) {
      three.pass(250);
      for (auto& [id, one] : comparers) {
        if (!one) continue;
        if (three.random() % 3 == 0) three.apply(id);
        one->tick();
      }
      for (; !network.empty(); network.pop_front())
        if (auto& to = comparers[network.front().to()]) to->take(network.front());
      three.run();
    }
  }
  std::optional<v1::StateComparison> last(raft::replica_id of) { return store::comparison_in(*three.store_of(of).read()); }
  void ask() { wanted = last(leader).value_or(v1::StateComparison{}).number() + 1; }
  /// What comes of one that an operator asks for.
  v1::StateComparison compare(std::int64_t within_ms = 40'000) {
    const auto before = last(leader).value_or(v1::StateComparison{}).number();
    ask();
    for (const auto until = three.now_ms + within_ms; three.now_ms < until;) {
      pass(250);
      if (const auto now = last(leader); now && now->number() > before && !core::in_progress(*now)) return *now;
    }
    ADD_FAILURE() << "it does not end";
    return {};
  }
  /// A row of this copy alone changes, as by a bug.
  void change(raft::replica_id of) {
    store::batch row;
    row.put(store::table::task, "key 7", "another");
    ASSERT_TRUE(three.at(of).tables.apply(store::run::of(row)->operations()).ok());
  }
  raft::replica_id follower(int which = 0) const { return (leader + static_cast<raft::replica_id>(which)) % 3 + 1; }
  static std::string differing(const v1::StateComparison& what) {
    std::string out;
    for (const auto& one : what.replicas()) out += one.differs() ? one.node() : "";
    return out;
  }
  static std::string name(raft::replica_id id) { return "n" + std::to_string(id); }
  static auto answered(const v1::StateComparison& what) {
    return std::count_if(what.replicas().begin(), what.replicas().end(), [](const auto& one) { return one.answered(); });
  }

  replica_world three;
  raft::replica_id leader = 0;
  std::size_t bytes_a_tick = 5'000;
  std::map<raft::replica_id, std::optional<state_comparer>> comparers;
  std::deque<v1::ReplicaCopy> network;
  std::vector<std::string> notes;
  std::map<raft::replica_id, std::string> damaged, different;
  std::uint64_t wanted = 0;
};

TEST_F(state_comparer_test, replicas_with_the_same_state_say_so_while_work_goes_on) {
  ask();
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(three.propose(leader, "key " + std::to_string(i % 50), std::to_string(i)));
    // Each has applied as much as it happened to.
    if (i % 3 == 0) three.apply(static_cast<raft::replica_id>(i / 3 % 3 + 1));
    pass(250);
  }
  const auto what = last(leader).value();
  EXPECT_EQ(what.number(), 1U);
  EXPECT_EQ(answered(what), 3);
  EXPECT_EQ(differing(what), "");
  EXPECT_FALSE(what.no_majority());
  EXPECT_TRUE(different.empty());
  EXPECT_TRUE(notes.empty());
  for (raft::replica_id id = 1; id <= 3; ++id) EXPECT_EQ(last(id)->SerializeAsString(), what.SerializeAsString());
}

TEST_F(state_comparer_test, a_follower_with_another_state_is_named_and_says_so_again_and_again) {
  for (raft::replica_id id = 1; id <= 3; ++id) three.apply(id);
  change(follower());
  const auto what = compare();
  EXPECT_EQ(differing(what), name(follower()));
  pass(500);
  ASSERT_EQ(different.size(), 1U);
  EXPECT_EQ(different.count(follower()), 1U);
  EXPECT_TRUE(damaged.empty());
  different.clear();
  pass(state_comparer::tell_again_ms - 2'000);
  EXPECT_TRUE(different.empty());
  pass(2'500);
  EXPECT_EQ(different.count(follower()), 1U) << "its node may have had to go on";
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes.front(), "node " + name(follower()) + ": its state is not that of the other nodes");
}

TEST_F(state_comparer_test, the_leader_itself_may_be_the_one) {
  for (raft::replica_id id = 1; id <= 3; ++id) three.apply(id);
  change(leader);
  EXPECT_EQ(differing(compare()), name(leader));
  pass(500);
  EXPECT_EQ(different.size(), 1U);
  EXPECT_EQ(different.count(leader), 1U);
}

TEST_F(state_comparer_test, without_a_majority_nobody_is_said_to_be_damaged) {
  for (raft::replica_id id = 1; id <= 3; ++id) three.apply(id);
  end(follower(1));
  change(follower());
  const auto what = compare();
  pass(state_comparer::tell_again_ms);
  EXPECT_TRUE(what.no_majority());
  EXPECT_EQ(differing(what), name(follower()));
  EXPECT_TRUE(different.empty());
}

TEST_F(state_comparer_test, one_that_is_away_is_not_waited_for_and_one_that_was_started_anew_does_not_know) {
  end(follower());
  auto what = compare();
  EXPECT_EQ(answered(what), 2);
  EXPECT_EQ(differing(what), "");
  start(follower());
  pass(2'000);
  // It has read half of it, and begins without.
  ask();
  pass(1'000);
  ASSERT_TRUE(core::in_progress(last(leader).value()));
  end(follower());
  three.pass(200);
  start(follower());
  pass(20'000);
  what = last(leader).value();
  EXPECT_FALSE(core::in_progress(what));
  EXPECT_EQ(differing(what), "");
  EXPECT_GE(answered(what), 2);
  EXPECT_TRUE(different.empty());
}

TEST_F(state_comparer_test, lost_answers_are_said_again) {
  three.lost = 300;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(answered(compare(60'000)), 3);
}

TEST_F(state_comparer_test, the_next_leader_ends_what_its_predecessor_began) {
  ask();
  pass(1'000);
  ASSERT_TRUE(core::in_progress(last(leader).value()));
  const auto former = leader;
  end(former);
  leader = three.elect();
  pass(40'000);
  const auto what = last(leader).value();
  EXPECT_EQ(what.number(), 1U);
  EXPECT_FALSE(core::in_progress(what));
  EXPECT_EQ(answered(what), 2);
  EXPECT_EQ(differing(what), "");
}

TEST_F(state_comparer_test, a_value_that_is_not_what_was_written_is_damage_without_a_comparison_of_hashes) {
  for (raft::replica_id id = 1; id <= 3; ++id) three.apply(id);
  three.at(follower()).tables.damage(store::table::task, "key 7");
  const auto what = compare();
  ASSERT_EQ(damaged.count(follower()), 1U);
  EXPECT_NE(damaged[follower()].find("damaged"), std::string::npos) << damaged[follower()];
  EXPECT_EQ(answered(what), 2);
}

TEST_F(state_comparer_test, one_whose_copy_is_refused_reads_its_own_values_and_not_too_often) {
  for (raft::replica_id id = 1; id <= 3; ++id) three.apply(id);
  const auto who = leader;
  comparers[who]->doubt();
  pass(5'000);
  EXPECT_TRUE(damaged.empty());
  three.at(who).tables.damage(store::table::task, "key 7");
  comparers[who]->doubt();
  pass(5'000);
  EXPECT_TRUE(damaged.empty());
  three.now_ms += state_comparer::doubt_again_ms;
  comparers[who]->doubt();
  pass(5'000);
  EXPECT_EQ(damaged.count(who), 1U);
  EXPECT_EQ(damaged.size(), 1U);
}

TEST_F(state_comparer_test, is_done_by_itself_and_not_too_often) {
  EXPECT_FALSE(last(leader).has_value());
  pass(core::compare_first_ms);
  ASSERT_TRUE(last(leader).has_value());
  EXPECT_EQ(last(leader)->number(), 1U);
  pass(600'000);
  EXPECT_EQ(last(leader)->number(), 1U);
  three.now_ms += core::compare_every_ms;
  leader = three.elect();
  pass(60'000);
  EXPECT_EQ(last(leader)->number(), 2U);
  EXPECT_EQ(differing(last(leader).value()), "");
}

TEST_F(state_comparer_test, one_wish_is_one_comparison) {
  EXPECT_EQ(compare().number(), 1U);
  wanted = 1;
  pass(20'000);
  EXPECT_EQ(last(leader)->number(), 1U);
}

TEST_F(state_comparer_test, one_that_knows_no_comparisons_is_waited_for_and_not_for_ever) {
  comparers[follower()].reset();
  ask();
  pass(60'000);
  EXPECT_TRUE(core::in_progress(last(leader).value()));
  pass(state_comparer::answers_within_ms);
  const auto what = last(leader).value();
  EXPECT_FALSE(core::in_progress(what));
  EXPECT_EQ(answered(what), 2);
}

TEST_F(state_comparer_test, a_replica_alone_has_nobody_to_compare_with) {
  replica_world one(1);
  ASSERT_EQ(one.elect(), 1U);
  state_comparer alone(state_comparer::world{&one.it(1), &one.store_of(1), 0, [&] { return one.now_ms; }, [&] { return one.now_ms; },
                                             [](const v1::ReplicaCopy&) { ADD_FAILURE(); }, [](const std::string&) {},
                                             [](raft::replica_id) { return std::string{"n1"}; }, [] { return std::uint64_t{1}; },
                                             [](const error&) { ADD_FAILURE(); }, [](const error&) { ADD_FAILURE(); }});
  for (int i = 0; i < 10; ++i) {
    one.pass(250);
    alone.tick();
  }
  one.run();
  EXPECT_FALSE(store::comparison_in(*one.store_of(1).read()).has_value());
}

}  // namespace
}  // namespace fairlead
