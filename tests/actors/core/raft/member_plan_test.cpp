#include "actors/core/raft/member_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace fairlead::raft {
namespace {

// 1 leads. The store of 3 was lost, and its node has 30 now.
struct member_plan_test : ::testing::Test {
  members now{{1, 2, 3}, {}};
  std::vector<known_member> others{{2, true, 0}, {3, false, lost_after_ms}};
  std::vector<node_replica> of_nodes{{1, true}, {2, true}, {30, true}};
  bool declines = false;

  std::optional<members> next() const { return next_members(now, 1, declines, others, of_nodes); }
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

// ---- nodes come and go ----

TEST_F(member_plan_test, gives_the_second_and_the_third_node_their_votes_together) {
  now = {{1}, {}};
  others.clear();
  of_nodes = {{1, true}, {2, true}, {3, true}};
  EXPECT_EQ(next(), (members{{1}, {2}}));
  now = *next();
  other(2).follows = true;
  EXPECT_EQ(next(), (members{{1}, {2, 3}}));
  now = *next();
  EXPECT_EQ(next(), std::nullopt) << "of two voters either would stop the shard";
  other(3).follows = true;
  EXPECT_EQ(next(), (members{{1, 2}, {3}}));
  now = *next();
  EXPECT_EQ(next(), (members{{1, 2, 3}, {}}));
  now = *next();
  EXPECT_EQ(next(), std::nullopt);
}

TEST_F(member_plan_test, of_two_nodes_lets_one_vote_and_of_four_three) {
  now = {{1}, {2}};
  others = {{2, true, 0}};
  of_nodes = {{1, true}, {2, true}};
  EXPECT_EQ(next(), std::nullopt);
  now = {{1, 2, 3}, {4}};
  others = {{2, true, 0}, {3, true, 0}, {4, true, 0}};
  of_nodes = {{1, true}, {2, true}, {3, true}, {4, true}};
  EXPECT_EQ(next(), std::nullopt);
}

TEST_F(member_plan_test, has_no_more_than_five_voters) {
  now = {{1, 2, 3, 4, 5}, {6, 7}};
  others = {{2, true, 0}, {3, true, 0}, {4, true, 0}, {5, true, 0}, {6, true, 0}, {7, true, 0}};
  of_nodes = {{1, true}, {2, true}, {3, true}, {4, true}, {5, true}, {6, true}, {7, true}};
  EXPECT_EQ(next(), std::nullopt);
}

TEST_F(member_plan_test, leaves_the_vote_with_one_that_leaves_until_another_can_have_it) {
  others = {{2, true, 0}, {3, true, 0}, {4, false, 0}};
  of_nodes = {{1, true}, {2, true}, {3, true, true}, {4, true}};
  EXPECT_EQ(next(), (members{{1, 2, 3}, {4}}));
  now = *next();
  EXPECT_EQ(next(), std::nullopt) << "of two voters either would stop the shard";
  other(4).follows = true;
  EXPECT_EQ(next(), (members{{1, 2, 3, 4}, {}}));
  now = {{1, 2, 3}, {}};
  of_nodes[3].present = false;
  EXPECT_EQ(next(), (members{{1, 2}, {}})) << "one that was not started may never come";
  // Of two that leave. The one that comes gets no vote alone, and the next one may never come.
  now = {{1, 2, 3}, {4}};
  of_nodes = {{1, true}, {2, true, true}, {3, true, true}, {4, true}, {0, false}};
  others = {{2, true, 0}, {3, true, 0}, {4, true, 0}};
  EXPECT_EQ(next(), (members{{1, 3}, {4}}));
}

TEST_F(member_plan_test, takes_the_vote_from_one_that_leaves_and_gives_it_to_the_one_that_stands_by) {
  now = {{1, 2, 3}, {4}};
  others = {{2, true, 0}, {3, false, 500'000}, {4, true, 0}};
  of_nodes = {{1, true}, {2, true}, {3, false, true}, {4, true}};
  EXPECT_EQ(next(), (members{{1, 2, 3, 4}, {}})) << "the shard is never without a vote that it can have";
  now = *next();
  EXPECT_EQ(next(), (members{{1, 2, 4}, {}}));
  now = *next();
  EXPECT_EQ(next(), std::nullopt);
}

TEST_F(member_plan_test, from_three_nodes_to_one_takes_one_vote_after_the_other) {
  others = {{2, true, 0}, {3, true, 0}};
  of_nodes = {{1, true}, {2, true}, {3, true, true}};
  EXPECT_EQ(next(), (members{{1, 2}, {}}));
  now = *next();
  EXPECT_EQ(next(), (members{{1}, {2}})) << "two nodes have one vote";
  now = *next();
  of_nodes[1].leaves = true;
  EXPECT_EQ(next(), (members{{1}, {}}));
}

TEST_F(member_plan_test, takes_no_vote_without_which_nothing_can_be_decided) {
  now = {{1, 2, 3}, {4}};
  others = {{2, false, 0}, {3, true, 0}, {4, false, 0}};
  of_nodes = {{1, true}, {2, true}, {3, true, true}, {4, true}};
  EXPECT_EQ(next(), std::nullopt);
}

TEST_F(member_plan_test, a_leader_that_leaves_stays_until_another_one_leads) {
  now = {{1}, {2}};
  others = {{2, true, 0}};
  of_nodes = {{1, true, true}, {2, true}};
  EXPECT_EQ(next(), (members{{1, 2}, {}}));
  now = *next();
  EXPECT_EQ(next(), std::nullopt);
  EXPECT_EQ(next_members(now, 2, false, {{1, true, 0}}, of_nodes), (members{{2}, {}}));
}

TEST_F(member_plan_test, takes_no_vote_from_a_node_that_stays_for_one_of_which_nobody_is_known_to_be) {
  others = {{2, true, 0}, {3, true, lost_after_ms - 1}};
  of_nodes = {{1, true}, {2, true}, {0, false, true}};
  EXPECT_EQ(next(), std::nullopt);
  other(3) = {3, false, lost_after_ms};
  EXPECT_EQ(next(), (members{{1, 2}, {}})) << "it was of the node that leaves";
}

TEST_F(member_plan_test, adds_no_replica_of_a_node_that_leaves) {
  now = {{1, 2, 3}, {}};
  others = {{2, true, 0}, {3, true, 0}};
  of_nodes = {{1, true}, {2, true}, {3, true}, {4, true, true}};
  EXPECT_EQ(next(), std::nullopt);
}

TEST_F(member_plan_test, of_two_nodes_the_one_that_declines_to_lead_gives_its_vote_to_the_other) {
  now = {{1}, {2}};
  others = {{2, true, 0}};
  of_nodes = {{1, true}, {2, true}};
  EXPECT_EQ(next(), std::nullopt);
  declines = true;
  EXPECT_EQ(next(), (members{{1, 2}, {}}));
  other(2).follows = false;
  EXPECT_EQ(next(), std::nullopt) << "it could not decide";
  other(2) = {2, true, 0, true};
  EXPECT_EQ(next(), std::nullopt) << "neither wants to lead";
  now = {{1, 2}, {}};
  other(2).declines = false;
  EXPECT_EQ(next(), std::nullopt) << "the lead goes to 2 first";
  EXPECT_EQ(next_members(now, 2, false, {{1, true, 0, true}}, of_nodes), (members{{2}, {1}}));
  EXPECT_EQ(next_members({{2}, {1}}, 2, false, {{1, true, 0, true}}, of_nodes), std::nullopt);
  other(2).follows = false;
  EXPECT_EQ(next(), (members{{1}, {2}})) << "2 is gone before it leads";
}

TEST_F(member_plan_test, a_leader_that_leaves_two_nodes_does_not_wait_for_a_voter_that_declines) {
  declines = true;
  now = {{1, 2}, {3}};
  others = {{2, true, 0, true}, {3, true, 0}};
  of_nodes = {{1, true, true}, {2, true}, {3, true}};
  EXPECT_EQ(next(), (members{{1, 2, 3}, {}}));
  now = *next();
  EXPECT_EQ(next(), std::nullopt) << "the lead goes to 3 first";
  EXPECT_EQ(next_members(now, 3, false, {{1, true, 0, true}, {2, true, 0, true}}, of_nodes), (members{{1, 3}, {2}}))
      << "with 2, which declines, 3 alone could decide nothing once 2 ends";
  EXPECT_EQ(next_members({{1, 3}, {2}}, 3, false, {{1, true, 0, true}, {2, true, 0, true}}, of_nodes), (members{{3}, {2}}));
}

TEST_F(member_plan_test, a_node_that_leaves_votes_on_while_the_others_need_one_that_declines) {
  now = {{1, 2, 3, 4}, {}};
  others = {{2, true, 0}, {3, true, 0, true}, {4, true, 0, true}};
  of_nodes = {{1, true}, {2, true, true}, {3, true}, {4, true}};
  EXPECT_EQ(next(), std::nullopt) << "1 alone of three would be left to rely on";
  other(4).declines = false;
  EXPECT_EQ(next(), (members{{1, 3, 4}, {}}));
}

TEST_F(member_plan_test, one_that_declines_gets_no_vote_by_which_the_others_would_need_it) {
  now = {{1}, {2, 3}};
  others = {{2, true, 0, true}, {3, true, 0}};
  of_nodes = {{1, true}, {2, true}, {3, true}};
  EXPECT_EQ(next(), (members{{1, 3}, {2}})) << "2 may be gone: with it, 1 could decide nothing";
  now = *next();
  EXPECT_EQ(next(), (members{{1, 2, 3}, {}})) << "1 and 3 decide without it";
  now = {{1}, {2, 3}};
  other(3).declines = true;
  EXPECT_EQ(next(), std::nullopt) << "1 decides alone until one of them has begun anew";
}

TEST_F(member_plan_test, one_that_declines_gets_a_vote_that_demands_no_more_of_the_others) {
  now = {{1, 2}, {3}};
  others = {{2, true, 0, true}, {3, true, 0, true}};
  of_nodes = {{1, true}, {2, true}, {3, true}};
  EXPECT_EQ(next(), (members{{1, 2, 3}, {}})) << "either of them will do";
}

TEST_F(member_plan_test, three_votes_stay_where_they_are_when_one_declines_to_lead) {
  now = {{1, 2, 3}, {4}};
  others = {{2, true, 0}, {3, true, 0}, {4, true, 0}};
  of_nodes = {{1, true}, {2, true}, {3, true}, {4, true}};
  declines = true;
  EXPECT_EQ(next(), std::nullopt);
}

/// Whatever of the replicas follow: each step changes one vote, a majority of those that vote afterwards follows, and the steps end.
TEST_F(member_plan_test, goes_from_any_nodes_to_any_others_by_steps_that_can_be_decided) {
  for (unsigned from = 1; from < 32; ++from) {
    for (unsigned to = 1; to < 32; ++to) {
      for (unsigned up = 1; up < 32; up += 2) {  // 1 leads, and stays
        declines = (from + to + up) % 3 == 0;
        const auto has = [](unsigned set, replica_id id) { return (set >> (id - 1) & 1U) != 0; };
        if (!has(from, 1) || !has(to, 1)) continue;
        members at;
        of_nodes.clear();
        others.clear();
        for (replica_id id = 1; id <= 5; ++id) {
          if (has(from, id)) at.voters.push_back(id);
          if (has(from, id) || has(to, id)) of_nodes.push_back({id, has(up, id), !has(to, id)});
          if (id != 1) others.push_back({id, has(up, id), 0, declines && id % 2 == 0});
        }
        int steps = 0;
        for (auto then = next_members(at, 1, declines, others, of_nodes); then; then = next_members(at, 1, declines, others, of_nodes)) {
          ASSERT_LT(++steps, 20) << from << " " << to << " " << up;
          ASSERT_TRUE(one_voter_apart(at, *then));
          ASSERT_TRUE(then->votes(1));
          if (then->voters != at.voters) {
            const auto sound = std::count_if(then->voters.begin(), then->voters.end(), [&](replica_id id) { return has(up, id); });
            ASSERT_GT(2 * static_cast<std::size_t>(sound), then->voters.size()) << from << " " << to << " " << up;
          }
          at = *then;
        }
        // Where it declines, votes may wait until another one leads.
        if ((to & ~up) != 0 || (from & ~up) != 0 || declines) continue;
        // All follow: the nodes that are to hold the shard do, with an odd number of votes.
        auto all = at.voters;
        all.insert(all.end(), at.standbys.begin(), at.standbys.end());
        std::sort(all.begin(), all.end());
        std::vector<replica_id> wanted;
        for (replica_id id = 1; id <= 5; ++id)
          if (has(to, id)) wanted.push_back(id);
        ASSERT_EQ(all, wanted) << from << " " << up;
        ASSERT_EQ(at.voters.size(), wanted.size() - (wanted.size() % 2 == 0 ? 1 : 0));
      }
    }
  }
}

}  // namespace
}  // namespace fairlead::raft
