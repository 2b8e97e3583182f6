#include "actors/replication/describe.hpp"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

/// n1 leads n2 and n3, and has heard of both 20 ms ago. All have all.
replication_facts led() {
  replication_facts out;
  out.node = "n1";
  out.ids = {{"n1", 11}, {"n2", 12}, {"n3", 13}};
  out.election_ms = 1'000;
  out.boot_ms = 50'000;
  out.shard_unix_ms = 1'800'000'000'250;
  out.wall_unix_ms = 1'800'000'000'000;
  auto& view = out.view.emplace();
  view.role = raft::role::leader;
  view.term = 4;
  view.leader = 11;
  view.epoch = 900;
  view.last_index = view.commit_index = view.shown_index = 1'000;
  view.contact_ms = 49'980;
  view.members = {{11, 12, 13}, {}};
  view.others = {{12, 1'000, 0, 0, 49'980, false, false}, {13, 1'000, 0, 0, 49'980, false, false}};
  return out;
}

TEST(replication_status, of_a_leader_whose_replicas_follow_says_that_one_more_node_may_be_lost) {
  const auto told = describe_replication(led());
  EXPECT_EQ(told.role(), "leader");
  EXPECT_EQ(told.leader(), "n1");
  EXPECT_EQ(told.term(), 4U);
  EXPECT_EQ(told.epoch(), 900U);
  EXPECT_EQ(told.contact_ms_ago(), 20);
  EXPECT_EQ(told.clock_ahead_ms(), 250);
  EXPECT_EQ(told.may_lose(), 1U);
  ASSERT_EQ(told.others_size(), 2);
  EXPECT_EQ(told.others(0).node(), "n2");
  EXPECT_TRUE(told.others(0).votes());
  EXPECT_EQ(told.others(0).behind_entries(), 0U);
  EXPECT_EQ(told.others(0).behind_ms(), 0);
}

TEST(replication_status, counts_a_replica_that_is_silent_or_cannot_catch_up_as_lost) {
  auto silent = led();
  silent.view->others[1].last_contact_ms = 48'000;
  EXPECT_EQ(describe_replication(silent).may_lose(), 0U);
  EXPECT_EQ(describe_replication(silent).others(1).heard_ms_ago(), 2'000);

  auto far = led();
  far.view->others[0].lacks_base = true;
  EXPECT_EQ(describe_replication(far).may_lose(), 0U);

  auto back = led();
  back.view->others[0].went_back = back.view->others[1].went_back = true;
  EXPECT_EQ(describe_replication(back).may_lose(), 0U) << "never below none";
}

TEST(replication_status, says_how_much_a_replica_has_of_a_copy_of_the_state) {
  auto far = led();
  far.view->others[0].lacks_base = true;
  EXPECT_TRUE(describe_replication(far).others(0).needs_copy());
  EXPECT_EQ(describe_replication(far).others(0).copy_bytes(), 0U) << "it is not made yet";
  far.view->copy = {12, 900, 3'000, 10'000};
  EXPECT_EQ(describe_replication(far).others(0).copied_bytes(), 3'000U);
  EXPECT_EQ(describe_replication(far).others(0).copy_bytes(), 10'000U);
  EXPECT_EQ(describe_replication(far).others(0).trouble(), "");
  EXPECT_FALSE(describe_replication(far).others(1).needs_copy());
  EXPECT_EQ(describe_replication(far).others(1).copy_bytes(), 0U);

  far.view->copy = {};
  far.view->no_copy = "No space left on device.";
  EXPECT_EQ(describe_replication(far).others(0).trouble(), "it needs a copy of the state, and none can be made: No space left on device.");
  EXPECT_EQ(describe_replication(far).others(1).trouble(), "");
}

TEST(replication_status, knows_nothing_of_a_replica_that_has_not_answered_a_new_leader) {
  auto some = led();
  some.view->others[1] = {13, 0, 90'000, some.shard_unix_ms - 9'000, 50'000, false, false};
  const auto told = describe_replication(some);
  EXPECT_EQ(told.others(1).heard_ms_ago(), -1);
  EXPECT_EQ(told.others(1).behind_entries(), 0U);
  EXPECT_EQ(told.may_lose(), 0U) << "although an election timeout has not passed";
}

TEST(replication_status, says_how_far_a_replica_is_behind_in_entries_bytes_and_time) {
  auto late = led();
  late.view->others[0] = {12, 990, 4'096, late.shard_unix_ms - 3'000, 49'990, false, false};
  const auto told = describe_replication(late);
  EXPECT_EQ(told.others(0).behind_entries(), 10U);
  EXPECT_EQ(told.others(0).behind_bytes(), 4'096U);
  EXPECT_EQ(told.others(0).behind_ms(), 3'000);
  EXPECT_EQ(told.may_lose(), 1U) << "it follows, only later";
}

TEST(replication_status, of_a_standby_says_that_it_does_not_vote) {
  auto some = led();
  some.view->members = {{11, 12}, {13}};
  const auto told = describe_replication(some);
  EXPECT_FALSE(told.others(1).votes());
  EXPECT_EQ(told.may_lose(), 0U) << "two voters need each other";
}

TEST(replication_status, of_two_nodes_says_that_one_stands_by_and_of_one_that_leaves_that_it_does) {
  auto some = led();
  some.ids.erase("n3");
  some.view->members = {{11}, {12}};
  some.view->others.pop_back();
  auto told = describe_replication(some);
  EXPECT_TRUE(told.others(0).stands_by());
  EXPECT_EQ(told.may_lose(), 0U);
  some.leaving = {"n2"};
  told = describe_replication(some);
  EXPECT_TRUE(told.others(0).leaves());
  EXPECT_EQ(told.nodes_size(), 1) << "it is to hold the shard no more";
  some.ids["n3"] = 0;
  some.leaving = {};
  EXPECT_FALSE(describe_replication(some).others(0).stands_by()) << "with the third node it is to vote";
}

TEST(replication_status, names_the_one_node_that_was_never_met) {
  auto some = led();
  some.ids["n3"] = 0;
  EXPECT_EQ(describe_replication(some).others(1).node(), "n3");
  some.ids["n2"] = 0;
  EXPECT_EQ(describe_replication(some).others(1).node(), "") << "either could be it";
}

TEST(replication_status, of_a_node_with_a_new_store_names_that_one_and_not_the_former) {
  auto some = led();
  some.ids["n3"] = 30;
  auto told = describe_replication(some);
  ASSERT_EQ(told.others_size(), 2);
  EXPECT_EQ(told.others(1).node(), "n3");
  EXPECT_FALSE(told.others(1).votes());
  EXPECT_EQ(told.others(1).heard_ms_ago(), -1) << "it is no member yet";

  some.view->members.standbys = {30};
  some.view->others[1].last_contact_ms = 30'000;
  some.view->others.push_back({30, 900, 100, 0, 49'980, false, false});
  told = describe_replication(some);
  ASSERT_EQ(told.others_size(), 2);
  EXPECT_EQ(told.others(1).node(), "n3");
  EXPECT_EQ(told.others(1).behind_entries(), 100U);
  EXPECT_FALSE(told.others(1).votes());
  EXPECT_EQ(told.may_lose(), 0U);

  some.ids["n2"] = 0;
  told = describe_replication(some);
  EXPECT_EQ(told.others(0).node(), "") << "the former one of n3 could be it, too";
}

TEST(replication_status, of_a_follower_says_whom_it_follows_and_when_it_heard_of_it) {
  auto some = led();
  some.view->role = raft::role::follower;
  some.view->leader = 12;
  some.view->contact_ms = 49'000;
  some.view->others.clear();
  auto told = describe_replication(some);
  EXPECT_EQ(told.role(), "follower");
  EXPECT_EQ(told.leader(), "n2");
  EXPECT_EQ(told.contact_ms_ago(), 1'000);
  EXPECT_EQ(told.others_size(), 0);
  some.view->role = raft::role::pre_candidate;
  some.view->leader = 0;
  some.view->contact_ms = 0;
  some.view->quarantined = "its leader wrote twice";
  told = describe_replication(some);
  EXPECT_EQ(told.role(), "candidate");
  EXPECT_EQ(told.leader(), "");
  EXPECT_EQ(told.contact_ms_ago(), -1);
  EXPECT_EQ(told.trouble(), "its leader wrote twice");
}

TEST(replication_status, of_a_shard_that_has_not_begun_names_the_nodes_that_hold_it) {
  auto some = led();
  some.view.reset();
  const auto told = describe_replication(some);
  EXPECT_EQ(told.role(), "new");
  EXPECT_EQ(told.nodes_size(), 3);
  EXPECT_EQ(told.contact_ms_ago(), -1);
}

TEST(replication_status, a_replica_whose_state_is_another_is_in_trouble_and_counts_as_lost) {
  auto facts = led();
  auto& last = facts.comparison.emplace();
  last.set_number(3);
  last.set_ended_at_unix_ms(1);
  for (const auto id : {11, 12, 13}) {
    auto& one = *last.add_replicas();
    one.set_replica(static_cast<std::uint64_t>(id));
    one.set_answered(true);
    one.set_differs(id == 13);
  }
  const auto told = describe_replication(facts);
  EXPECT_EQ(told.comparison().number(), 3U);
  EXPECT_EQ(told.others(0).trouble(), "");
  EXPECT_EQ(told.others(1).trouble(), "its state is not that of the other nodes");
  EXPECT_EQ(told.may_lose(), 0U);
  facts.view->others[1].id = facts.ids["n3"] = 23;
  facts.view->members = {{11, 12, 23}, {}};
  EXPECT_EQ(describe_replication(facts).others(1).trouble(), "") << "it has another store since";
}

TEST(replication_status, names_the_nodes_whose_stores_were_damaged) {
  auto facts = led();
  EXPECT_EQ(describe_replication(facts).damages_size(), 0);
  facts.damaged["n2"] = 77;
  const auto told = describe_replication(facts);
  ASSERT_EQ(told.damages_size(), 1);
  EXPECT_EQ(told.damages(0).node(), "n2");
  EXPECT_EQ(told.damages(0).at_unix_ms(), 77);
}

}  // namespace
}  // namespace fairlead
