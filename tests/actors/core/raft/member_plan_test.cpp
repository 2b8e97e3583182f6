#include "actors/core/raft/member_plan.hpp"

#include <gtest/gtest.h>

namespace fairlead::raft {
namespace {

// 1 leads. The store of 3 was lost, and its node has 30 now.
struct member_plan_test : ::testing::Test {
  members now{{1, 2, 3}, {}};
  std::vector<known_member> others{{2, true, 0}, {3, false, lost_after_ms}};
  std::vector<node_replica> of_nodes{{1, true}, {2, true}, {30, true}};

  std::optional<members> next() const { return next_members(now, 1, others, of_nodes); }
  known_member& other(replica_id id) {
    for (auto& one : others)
      if (one.id == id) return one;
    others.push_back({id, false, 0});
    return others.back();
  }
};

TEST_F(member_plan_test, leaves_the_members_as_they_are_while_each_node_has_its_own) {
  of_nodes[2] = {3, false};
  EXPECT_EQ(next(), std::nullopt) << "a node that is away is not lost";
  of_nodes[2] = {};
  EXPECT_EQ(next(), std::nullopt) << "one that nobody has met yet neither";
}

TEST_F(member_plan_test, brings_a_new_store_to_the_place_of_the_lost_one_in_three_steps) {
  const members with_standby{{1, 2, 3}, {30}}, without_lost{{1, 2}, {30}}, whole{{1, 2, 30}, {}};
  EXPECT_EQ(next(), with_standby);
  now = with_standby;
  EXPECT_EQ(next(), std::nullopt) << "it lacks entries";
  other(30).follows = true;
  EXPECT_EQ(next(), without_lost);
  now = without_lost;
  EXPECT_EQ(next(), whole);
  now = whole;
  EXPECT_EQ(next(), std::nullopt);
}

TEST_F(member_plan_test, takes_no_store_that_is_not_linked) {
  of_nodes[2].present = false;
  EXPECT_EQ(next(), std::nullopt);
}

TEST_F(member_plan_test, removes_nobody_who_was_heard_of_lately) {
  now.standbys = {30};
  other(30).follows = true;
  other(3).silent_ms = lost_after_ms - 1;
  EXPECT_EQ(next(), std::nullopt);
}

TEST_F(member_plan_test, removes_nobody_while_a_majority_of_those_that_stay_does_not_follow) {
  now.standbys = {30};
  other(30).follows = true;
  other(2).follows = false;
  EXPECT_EQ(next(), std::nullopt);
  now = {{1, 2}, {30}};
  EXPECT_EQ(next(), (members{{1, 2, 30}, {}})) << "with a vote for the new one it does";
}

TEST_F(member_plan_test, of_five_waits_until_each_node_is_known_before_it_says_which_one_is_lost) {
  now = {{1, 2, 3, 4, 5}, {30}};
  others = {{2, true, 0}, {3, false, 2 * lost_after_ms}, {4, true, 0}, {5, false, 3 * lost_after_ms}, {30, true, 0}};
  of_nodes = {{1, true}, {2, true}, {30, true}, {4, true}, {0, false}};
  EXPECT_EQ(next(), std::nullopt) << "3 or 5";
  of_nodes[4] = {5, false};
  EXPECT_EQ(next(), (members{{1, 2, 4, 5}, {30}}));
  // Both were lost.
  of_nodes[4] = {50, true};
  EXPECT_EQ(next(), (members{{1, 2, 3, 4}, {30}})) << "the one that is away for longest first";
}

TEST_F(member_plan_test, drops_a_store_that_was_lost_again_before_it_had_a_vote) {
  now = {{1, 2, 3}, {30}};
  other(30).silent_ms = lost_after_ms;
  of_nodes[2] = {31, true};
  EXPECT_EQ(next(), (members{{1, 2, 3}, {30, 31}}));
  now = {{1, 2, 31}, {30}};
  other(31).follows = true;
  EXPECT_EQ(next(), (members{{1, 2, 31}, {}}));
}

TEST_F(member_plan_test, a_store_that_comes_back_after_another_took_its_place_goes_the_same_way) {
  now = {{1, 2, 30}, {}};
  others = {{2, true, 0}, {30, false, lost_after_ms}};
  of_nodes[2] = {3, true};
  EXPECT_EQ(next(), (members{{1, 2, 30}, {3}}));
}

TEST_F(member_plan_test, has_no_more_members_than_a_shard_may_and_makes_room_for_a_store_that_stays) {
  now = {{1, 2, 3}, {40, 41, 42, 43, 44, 45, 46, 47, 48, 49}};
  for (const auto id : now.standbys) other(id).silent_ms = lost_after_ms - 1;
  EXPECT_EQ(next(), std::nullopt);
  other(44).silent_ms = lost_after_ms;
  EXPECT_EQ(next(), (members{{1, 2, 3}, {40, 41, 42, 43, 45, 46, 47, 48, 49}}));
  now = *next();
  EXPECT_EQ(next(), (members{{1, 2, 3}, {30, 40, 41, 42, 43, 45, 46, 47, 48, 49}}));
}

}  // namespace
}  // namespace fairlead::raft
