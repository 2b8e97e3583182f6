#include "actors/core/raft/doing_without.hpp"

#include <gtest/gtest.h>

namespace fairlead::raft {
namespace {

/// Five nodes, n1 to n5 with replicas 1 to 5, which all vote and follow; n1 leads.
struct doing_without_test : ::testing::Test {
  known_nodes of{7, {}, {1, 2, 3, 4, 5}, {{1, 2, 3, 4, 5}, {}}};

  doing_without_test() {
    for (replica_id id = 1; id <= 5; ++id) of.nodes["n" + std::to_string(id)] = {id, true, false};
  }
  void is_away(replica_id id) {
    of.nodes["n" + std::to_string(id)].present = false;
    of.follow.erase(id);
  }
  /// The node has another store now, which is no member yet.
  void is_new(replica_id id, bool present) {
    is_away(id);
    of.nodes["n" + std::to_string(id)] = {id * 10, present, false};
  }
  static std::string said(const status& what) { return what.ok() ? "yes" : what.failure().sentence; }
  std::string leave(const std::string& node) const { return said(can_leave(of, node)); }
  std::string rebuild(replica_id id) const { return said(can_rebuild(of, "n" + std::to_string(id), id)); }
};

TEST_F(doing_without_test, a_node_leaves_while_a_majority_of_the_others_follows) {
  EXPECT_EQ(leave("n5"), "yes");
  is_away(4);
  EXPECT_EQ(leave("n5"), "yes");
  EXPECT_EQ(leave("n4"), "yes") << "it is away itself";
  is_away(3);
  EXPECT_EQ(leave("n5"), "Shard 7 cannot do without node n5 now: of the 4 nodes that stay only 2 follow.");
  EXPECT_EQ(leave("n4"), "yes");
}

TEST_F(doing_without_test, a_store_is_given_up_while_a_majority_of_the_votes_is_with_other_nodes) {
  is_away(5);
  EXPECT_EQ(rebuild(5), "yes");
  is_away(4);
  EXPECT_EQ(rebuild(5), "yes") << "the other one is a member, and may have all";
  is_away(3);
  EXPECT_EQ(rebuild(5), "Shard 7 cannot do without the store of node n5: of its 5 votes only 2 are with nodes that follow.");
}

TEST_F(doing_without_test, what_the_store_itself_has_confirmed_a_moment_ago_does_not_count) {
  of.all = {{1, 4, 5}, {2, 3}};
  is_away(4);
  EXPECT_EQ(rebuild(5), "Shard 7 cannot do without the store of node n5: of its 3 votes only 1 are with nodes that follow.");
  EXPECT_EQ(said(can_rebuild(of, "n5", 50)), rebuild(5)) << "the list has its next one already";
}

TEST_F(doing_without_test, followers_that_do_not_vote_do_not_count) {
  of.all = {{1, 5}, {2, 3, 4}};
  EXPECT_EQ(rebuild(5), "Shard 7 cannot do without the store of node n5: of its 2 votes only 1 are with nodes that follow.");
  of.all = {{1}, {2, 3, 4, 5}};
  EXPECT_EQ(rebuild(5), "yes") << "it has none itself";
}

TEST_F(doing_without_test, one_store_at_a_time_is_filled) {
  is_away(5);
  is_new(4, false);
  EXPECT_EQ(rebuild(5), "Shard 7 cannot do without the store of node n5 while node n4 does not follow.");
  is_new(4, true);
  EXPECT_EQ(rebuild(5), "Shard 7 cannot do without the store of node n5 while node n4 does not follow.");
  of.all.standbys = {40};
  of.follow.insert(40);
  EXPECT_EQ(rebuild(5), "yes") << "it has caught up";
  of.nodes["n4"].leaves = true;
  of.follow.erase(40);
  EXPECT_EQ(rebuild(5), "yes") << "it is to hold nothing";
  EXPECT_EQ(rebuild(4), "yes");
}

}  // namespace
}  // namespace fairlead::raft
