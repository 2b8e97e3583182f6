#include <gtest/gtest.h>

#include "tests/actors/core/raft/group.hpp"

namespace fairlead::raft {
namespace {

TEST(leader, that_hears_of_no_majority_steps_down) {
  group three{three_voters};
  three.elect(1);
  three.silent[2] = three.silent[3] = true;
  three.pass(1, group::election_ms + 2 * group::heartbeat_ms);
  EXPECT_EQ(three.core(1).current_role(), role::follower);
}

TEST(leader, that_was_stopped_for_longer_than_an_election_steps_down_at_its_first_tick) {
  group three{three_voters};
  three.elect(1);
  three.now.boot_ms += 2 * group::election_ms;
  three.step(1, tick{});
  EXPECT_EQ(three.core(1).current_role(), role::follower);
}

// D16
TEST(leader, whose_journal_stands_still_sends_no_heartbeats) {
  group three{three_voters};
  three.elect(1);
  three.propose_text(1, "pay");
  three.pass(1, group::election_ms / 2);
  EXPECT_FALSE(bodies<heartbeat>({three.wire.begin(), three.wire.end()}).empty());
  for (const auto other : {2, 3}) three.step(1, received{{static_cast<replica_id>(other), 1, three.core(1).term(), heartbeat_reply{}}});
  three.now.boot_ms += group::election_ms * 6 / 10;
  three.wire.clear();
  three.step(1, tick{});
  EXPECT_EQ(three.core(1).current_role(), role::leader);
  EXPECT_TRUE(three.wire.empty());
}

TEST(leader, whose_journal_stands_still_is_replaced_whatever_clients_want) {
  group three{three_voters};
  three.elect(1);
  three.propose_text(1, "pay");
  for (int i = 0; i < 50; ++i) {
    three.now.boot_ms += group::heartbeat_ms;
    three.step(1, tick{});
    three.propose_text(1, "more");
    while (!three.wire.empty()) {  // the disks of the others are well
      const auto next = three.wire.front();
      three.wire.pop_front();
      three.step(next.to, received{next});
      if (next.to != 1) three.sync(next.to);
    }
  }
  EXPECT_NE(three.core(1).current_role(), role::leader);
}

TEST(confirmed_round, is_answered_when_those_who_were_asked_are_no_longer_members) {
  group two{{{1, 2}, {}}};
  two.elect(1);
  two.silent[2] = true;
  two.step(1, confirm{1});
  two.settle();
  EXPECT_TRUE(two.at(1).confirmed.empty());
  two.step(1, change_members{{{1}, {}}});
  two.settle();
  ASSERT_EQ(two.at(1).confirmed.size(), 1U);
  EXPECT_TRUE(two.step(1, confirm{2}).confirmed.at(0).led);
}

TEST(confirmed_round, begins_when_the_journal_goes_on) {
  group one{{{1}, {}}};
  one.step(1, tick{});
  one.settle();
  one.step(1, compact{11});
  one.now.boot_ms += group::election_ms + 1;
  EXPECT_TRUE(one.step(1, confirm{1}).confirmed.empty());
  one.sync(1);
  EXPECT_TRUE(one.step(1, tick{}).confirmed.at(0).led);
}

TEST(confirmed_round, is_refused_in_quarantine) {
  group three{three_voters};
  three.elect(1);
  three.step(1, received{{2, 1, three.core(1).term(), heartbeat{}}});
  EXPECT_FALSE(three.step(1, confirm{1}).confirmed.at(0).led);
}

TEST(confirmed_round, needs_a_majority_and_is_right_about_what_was_committed) {
  group three{three_voters};
  three.elect(1);
  three.propose_text(1, "pay");
  three.settle();
  three.step(1, confirm{7});
  EXPECT_TRUE(three.at(1).confirmed.empty());
  three.settle();
  ASSERT_EQ(three.at(1).confirmed.size(), 1U);
  EXPECT_EQ(three.at(1).confirmed[0].ticket, 7U);
  EXPECT_TRUE(three.at(1).confirmed[0].led);
  EXPECT_EQ(three.at(1).confirmed[0].index, 12U);
}

TEST(confirmed_round, of_a_sole_voter_needs_nobody) {
  group one{{{1}, {}}};
  one.step(1, tick{});
  one.settle();
  EXPECT_TRUE(one.step(1, confirm{1}).confirmed.at(0).led);
}

TEST(confirmed_round, fails_when_another_leads) {
  group three{three_voters};
  three.elect(1);
  three.silent[1] = true;
  three.pass(3, group::election_ms);
  three.pass(2, 2 * group::election_ms);
  three.settle();
  three.silent.clear();
  three.step(1, confirm{7});
  EXPECT_TRUE(three.at(1).confirmed.empty());
  three.settle();
  ASSERT_EQ(three.at(1).confirmed.size(), 1U);
  EXPECT_FALSE(three.at(1).confirmed[0].led);
  EXPECT_FALSE(three.step(1, confirm{8}).confirmed.at(0).led);
}

TEST(confirmed_round, an_answer_from_before_the_question_does_not_count) {
  group three{three_voters};
  three.elect(1);
  three.pass(1, group::heartbeat_ms);
  const auto earlier = std::move(three.wire);
  three.wire.clear();
  three.step(1, confirm{7});
  three.wire = earlier;
  three.settle();
  EXPECT_TRUE(three.at(1).confirmed.empty());
  three.pass(1, group::heartbeat_ms);
  three.settle();
  EXPECT_EQ(three.at(1).confirmed.size(), 1U);
}

TEST(confirmed_round, waits_for_the_first_commit_of_the_term) {
  group three{three_voters};
  three.silent[2] = three.silent[3] = true;
  three.pass(1, 2 * group::election_ms);
  for (const bool pre : {true, false}) {
    three.step(1, received{{2, 1, 2, vote_reply{pre, true}}});
    three.sync(1);
  }
  ASSERT_EQ(three.core(1).current_role(), role::leader);
  three.step(1, confirm{1});
  three.step(1, received{{2, 1, 2, heartbeat_reply{9}}});
  EXPECT_TRUE(three.at(1).confirmed.empty());
}

TEST(members, change_one_at_a_time) {
  group three{three_voters};
  three.elect(1);
  EXPECT_EQ(three.step(1, change_members{{{1, 2, 3}, {4}}}).accepted, 12U);
  EXPECT_EQ(three.step(1, change_members{{{1, 2, 3}, {4, 5}}}).accepted, 0U);
  three.settle();
  EXPECT_EQ(three.step(1, change_members{{{1, 2, 4}, {}}}).accepted, 0U);  // two voters at once
  EXPECT_EQ(three.step(1, change_members{{{}, {1}}}).accepted, 0U);
  EXPECT_EQ(three.step(1, change_members{{{1, 2, 3, 4}, {}}}).accepted, 13U);
  EXPECT_EQ(three.core(1).others().count(4), 1U);
}

TEST(members, are_not_proposed_like_other_entries) {
  group one{{{1}, {}}};
  one.step(1, tick{});
  one.settle();
  EXPECT_EQ(one.step(1, propose{entry_kind::members, encode({{1, 2, 3}, {}})}).accepted, 0U);
}

TEST(a_leader, gives_a_scheduler_that_begins_anew_another_epoch_and_keeps_its_own) {
  group one{{{1}, {}}};
  one.step(1, tick{});
  one.settle();
  const auto own = one.core(1).epoch();
  EXPECT_EQ(one.step(1, propose{entry_kind::epoch, nullptr}).accepted, own + 1);
  one.settle();
  EXPECT_EQ(one.core(1).epoch(), own);
  EXPECT_EQ(one.core(1).commit_index(), own + 1);
}

// Ongaro, raft-dev, 2015
TEST(members, do_not_change_before_an_entry_of_the_term_is_committed) {
  group three{three_voters};
  three.pass(1, 2 * group::election_ms);
  for (const bool pre : {true, false}) {
    three.step(1, received{{2, 1, 2, vote_reply{pre, true}}});
    three.sync(1);
  }
  EXPECT_EQ(three.step(1, change_members{{{1, 2}, {3}}}).accepted, 0U);
}

TEST(members, a_leader_that_takes_its_own_vote_leads_until_that_is_committed) {
  group three{three_voters};
  three.elect(1);
  three.step(1, change_members{{{2, 3}, {1}}});
  EXPECT_EQ(three.core(1).current_role(), role::leader);
  three.settle();
  EXPECT_EQ(three.core(1).current_role(), role::follower);
  three.elect(2);
  EXPECT_EQ(three.core(1).leader(), 2U);
}

TEST(members, whose_vote_is_taken_campaign_until_that_is_committed) {
  group three{three_voters};
  three.elect(1);
  three.silent[2] = three.silent[3] = true;
  three.step(1, change_members{{{2, 3}, {1}}});
  three.sync(1);
  three.pass(1, 2 * group::election_ms);  // steps down
  three.pass(1, 2 * group::election_ms);
  EXPECT_EQ(three.core(1).current_role(), role::pre_candidate);
}

// The other voter has lost the change that takes this one's vote, and this one has forgotten that it ever had a vote for good: the commit
// of the change that gave it one. Nobody else can lead.
TEST(members, whose_vote_was_given_and_taken_campaign_after_a_start) {
  group two{{{1}, {2}}};
  const auto to = [](log_index index, members who) { return entry{index, 1, 0, entry_kind::members, encode(who)}; };
  two.start(1, {{1, 0}, {10, 1, {{1}, {2}}}, {to(11, {{1, 2}, {}})}, 11});
  two.start(2, {{1, 0}, {10, 1, {{1}, {2}}}, {to(11, {{1, 2}, {}}), to(12, {{1}, {2}})}, 10});
  two.pass(2, 2 * group::election_ms);
  two.settle();
  // It has led until the change was committed.
  EXPECT_EQ(two.core(1).entries().current_members(), (members{{1}, {2}}));
  two.pass(1, group::heartbeat_ms);
  two.settle();
  EXPECT_EQ(two.core(1).current_role(), role::leader);
}

TEST(transfer, hands_over_at_once_to_a_replica_that_has_all) {
  group three{three_voters};
  three.elect(1);
  three.propose_text(1, "pay");
  three.step(1, transfer{3});
  EXPECT_EQ(three.propose_text(1, "too late"), 0U);
  three.settle();
  EXPECT_EQ(three.core(3).current_role(), role::leader);
  EXPECT_EQ(three.core(1).leader(), 3U);
}

TEST(transfer, is_given_up_after_an_election_timeout) {
  group three{three_voters};
  three.elect(1);
  three.silent[3] = true;
  three.propose_text(1, "pay");
  three.step(1, transfer{3});
  for (int i = 0; i < 12; ++i) {
    three.pass(1, group::heartbeat_ms);
    three.settle();
  }
  EXPECT_EQ(three.core(1).current_role(), role::leader);
  EXPECT_GT(three.propose_text(1, "again"), 0U);
}

TEST(transfer, goes_to_voters_only) {
  group two{{{1, 3}, {2}}};
  two.elect(1);
  two.step(1, transfer{2});
  two.step(1, transfer{1});
  EXPECT_GT(two.propose_text(1, "pay"), 0U);
}

TEST(transfer, is_not_taken_by_one_that_declines_and_the_leader_knows_that) {
  group three{three_voters};
  three.elect(1);
  three.step(3, decline{true});
  three.pass(1, group::heartbeat_ms);
  three.settle();
  EXPECT_TRUE(three.core(1).others().at(3).declines);
  EXPECT_FALSE(three.core(1).others().at(2).declines);
  three.step(1, transfer{3});
  three.settle();
  EXPECT_EQ(three.core(1).current_role(), role::leader);
  three.step(3, decline{false});
  three.pass(1, group::heartbeat_ms);
  three.settle();
  EXPECT_FALSE(three.core(1).others().at(3).declines);
}

TEST(one_that_declines, leads_only_if_no_other_is_elected) {
  group three{three_voters};
  three.elect(1);
  three.step(3, decline{true});
  three.silent[1] = true;
  // An election timeout is one to two of these.
  three.pass(3, 3 * group::election_ms);
  three.settle();
  EXPECT_EQ(three.core(3).current_role(), role::follower);
  three.pass(2, group::election_ms);
  three.pass(3, 5 * group::election_ms);
  three.settle();
  EXPECT_EQ(three.core(3).current_role(), role::leader);
}

}  // namespace
}  // namespace fairlead::raft
