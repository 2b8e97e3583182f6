#include <gtest/gtest.h>

#include "tests/actors/core/raft/group.hpp"

namespace fairlead::raft {
namespace {

TEST(election, a_sole_voter_leads_once_its_vote_is_durable) {
  group one{{{1}, {}}};
  one.step(1, tick{});
  EXPECT_EQ(one.core(1).current_role(), role::candidate);
  one.step(1, durable{1});
  EXPECT_EQ(one.core(1).current_role(), role::leader);
  EXPECT_EQ(one.core(1).epoch(), 11U);
  EXPECT_TRUE(one.at(1).committed.empty());
  one.sync(1);
  ASSERT_EQ(one.at(1).committed.size(), 1U);
  EXPECT_EQ(one.at(1).committed.front().kind, entry_kind::epoch);
}

// B7, R8: what it sent in its former term may be elsewhere, and its disk may lack it.
TEST(election, a_sole_voter_that_starts_again_leads_in_a_later_term) {
  group one{{{1}, {2}}};
  one.start(1, {{4, 1}, {10, 1, {{1}, {2}}}, {{11, 4, 0, entry_kind::epoch, nullptr}}, 10});
  one.step(1, tick{});
  one.settle();
  EXPECT_EQ(one.core(1).current_role(), role::leader);
  EXPECT_EQ(one.core(1).term(), 5U);
}

TEST(election, three_replicas_elect_one_and_commit_its_epoch) {
  group three{{{1, 2, 3}, {}}};
  three.elect(2);
  EXPECT_EQ(three.core(2).current_role(), role::leader);
  EXPECT_EQ(three.core(1).leader(), 2U);
  EXPECT_EQ(three.core(2).commit_index(), 11U);
  three.pass(2, 200);
  three.settle();
  EXPECT_EQ(three.at(3).committed.size(), 1U);
}

TEST(election, neither_a_request_nor_a_vote_leaves_before_it_is_durable) {
  group three{{{1, 2, 3}, {}}};
  three.pass(1, 2 * group::election_ms);
  const auto ask = three.wire.front();
  three.wire.clear();
  ASSERT_TRUE(std::get<vote_request>(ask.body).pre);
  const auto agreed = three.step(2, received{{1, 2, 2, vote_request{true, false, 10, 1}}});
  ASSERT_EQ(bodies<vote_reply>(agreed.messages).size(), 1U);  // a pre-vote promises nothing

  EXPECT_TRUE(three.step(1, received{{2, 1, 2, vote_reply{true, true}}}).messages.empty());
  EXPECT_EQ(three.core(1).current_role(), role::candidate);
  three.sync(1);
  ASSERT_EQ(three.wire.size(), 3U);  // the answer of 2, and two requests

  const auto vote = three.step(3, received{{1, 3, 2, vote_request{false, false, 10, 1}}});
  EXPECT_TRUE(vote.messages.empty());
  ASSERT_EQ(vote.records.size(), 2U);  // the term, the vote
  three.wire.clear();
  three.sync(3);
  ASSERT_EQ(three.wire.size(), 1U);
  EXPECT_TRUE(std::get<vote_reply>(three.wire.front().body).granted);
}

TEST(election, a_vote_is_given_once_in_a_term_and_never_to_a_shorter_log) {
  group three{{{1, 2, 3}, {}}};
  three.step(3, received{{1, 3, 2, vote_request{false, false, 10, 1}}});
  three.step(3, received{{2, 3, 2, vote_request{false, false, 10, 1}}});
  three.sync(3);
  ASSERT_EQ(three.wire.size(), 2U);
  EXPECT_TRUE(std::get<vote_reply>(three.wire[0].body).granted);
  EXPECT_FALSE(std::get<vote_reply>(three.wire[1].body).granted);

  three.wire.clear();
  three.step(2, received{{1, 2, 2, vote_request{false, false, 9, 1}}});
  three.sync(2);
  EXPECT_FALSE(std::get<vote_reply>(three.wire.front().body).granted);
}

TEST(election, a_replica_that_comes_back_raises_no_term) {
  group three{{{1, 2, 3}, {}}};
  three.elect(1);
  three.silent[3] = true;
  for (int i = 0; i < 40; ++i) {
    three.pass(1, group::heartbeat_ms);
    three.pass(3, group::heartbeat_ms);
    three.settle();
  }
  EXPECT_EQ(three.core(3).current_role(), role::pre_candidate);
  EXPECT_EQ(three.core(3).term(), three.core(1).term());
  three.silent.clear();
  three.pass(1, 100);
  three.settle();
  EXPECT_EQ(three.core(3).leader(), 1U);
}

// B14 (etcd#10998): the others have committed that it votes, and it does not know it yet.
TEST(election, a_replica_votes_even_if_it_takes_itself_for_a_standby) {
  group two{{{1}, {2}}};
  two.step(2, received{{1, 2, 2, vote_request{false, false, 12, 1}}});
  two.sync(2);
  EXPECT_TRUE(std::get<vote_reply>(two.wire.front().body).granted);
}

TEST(election, a_standby_does_not_campaign) {
  group two{{{1}, {2}}};
  two.pass(2, 10 * group::election_ms);
  EXPECT_EQ(two.core(2).current_role(), role::follower);
}

TEST(election, a_pause_of_the_process_is_no_silence_of_the_leader) {
  group three{{{1, 2, 3}, {}}};
  three.elect(1);
  three.step(2, tick{});
  three.now.boot_ms += 60'000;
  three.step(2, tick{});
  EXPECT_EQ(three.core(2).current_role(), role::follower);
}

TEST(election, a_replica_whose_disk_stands_still_does_not_campaign) {
  group three{{{1, 2, 3}, {}}};
  three.step(2, received{{1, 2, 7, append{1, 10, 1, 10, 0, {}}}});
  three.pass(2, 5 * group::election_ms);
  EXPECT_EQ(three.core(2).current_role(), role::follower);
  EXPECT_TRUE(three.wire.empty());
}

}  // namespace
}  // namespace fairlead::raft
