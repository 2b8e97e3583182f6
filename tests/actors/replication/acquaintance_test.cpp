#include "actors/replication/acquaintance.hpp"

#include <gtest/gtest.h>

#include "actors/core/cluster/shard_nodes.hpp"

namespace fairlead {
namespace {

const std::vector<std::string> three{"n1", "n2", "n3"};

v1::ReplicaHello hello(const std::string& node, std::uint64_t replica, const std::vector<std::string>& nodes = three) {
  v1::ReplicaHello out;
  *out.mutable_nodes() = core::shard_nodes_of(nodes);
  out.set_node(node);
  out.set_replica(replica);
  return out;
}

v1::Lineage lineage(std::int64_t made) {
  v1::Lineage out;
  out.set_made_unix_ms(made);
  out.set_bits(7);
  return out;
}

/// Three new replicas, with ids that do not sort as their nodes do.
struct acquaintance_test : ::testing::Test {
  acquaintance one{hello("n1", 30)}, two{hello("n2", 10)}, other{hello("n3", 20)};

  void begin() {
    ASSERT_TRUE(one.meet(two.me()).ok());
    ASSERT_TRUE(one.meet(other.me()).ok());
    ASSERT_TRUE(one.begin(lineage(5), "store"));
  }
};

TEST_F(acquaintance_test, begins_a_shard_once_the_first_node_knows_that_all_stores_are_new) {
  EXPECT_FALSE(one.begin(lineage(5), "store"));
  ASSERT_TRUE(one.meet(two.me()).ok());
  EXPECT_FALSE(one.begin(lineage(5), "store"));
  ASSERT_TRUE(one.meet(other.me()).ok());
  EXPECT_TRUE(one.begin(lineage(5), "store"));
  EXPECT_TRUE(one.began());
  EXPECT_FALSE(one.began());
  EXPECT_EQ(one.members()->voters, (std::vector<raft::replica_id>{10, 20, 30}));
  EXPECT_FALSE(one.begin(lineage(6), "another"));
}

TEST_F(acquaintance_test, begins_none_on_another_node) {
  ASSERT_TRUE(two.meet(one.me()).ok());
  ASSERT_TRUE(two.meet(other.me()).ok());
  EXPECT_FALSE(two.begin(lineage(5), "store"));
}

TEST_F(acquaintance_test, takes_the_shard_from_whoever_knows_it) {
  begin();
  ASSERT_TRUE(two.meet(one.me()).ok());
  EXPECT_TRUE(two.began());
  ASSERT_TRUE(other.meet(two.me()).ok());
  EXPECT_TRUE(other.began());
  EXPECT_EQ(other.members(), one.members());
  EXPECT_EQ(other.me().store_id(), "store");
  EXPECT_EQ(other.me().lineage().made_unix_ms(), 5);
  EXPECT_TRUE(one.meet(other.me()).ok());
  EXPECT_EQ(one.node_of(20), "n3");
  EXPECT_EQ(one.node_of(99), "");
}

TEST_F(acquaintance_test, a_store_that_was_made_anew_takes_the_shard_from_the_others_and_is_none_of_its_members) {
  begin();
  EXPECT_TRUE(one.began());
  acquaintance fresh{hello("n2", 11)};
  ASSERT_TRUE(one.meet(fresh.me()).ok());
  EXPECT_EQ(one.node_of(11), "n2");
  EXPECT_EQ(one.node_of(10), "") << "another replica speaks for that node now";
  EXPECT_FALSE(one.began());
  ASSERT_TRUE(fresh.meet(one.me()).ok());
  EXPECT_TRUE(fresh.began());
  EXPECT_EQ(fresh.members(), one.members());
  EXPECT_FALSE(fresh.members()->has(11));
  EXPECT_EQ(fresh.me().lineage().made_unix_ms(), 5);
  EXPECT_TRUE(one.meet(fresh.me()).ok());
}

TEST_F(acquaintance_test, a_new_store_speaks_with_whoever_holds_the_shard_when_all_have_left_that_it_knew) {
  begin();
  acquaintance anew{hello("n2", 11)};
  ASSERT_TRUE(anew.meet(one.me()).ok());
  auto holds = hello("n3", 21);
  holds.mutable_members()->add_voters(21);
  *holds.mutable_lineage() = lineage(5);
  EXPECT_TRUE(anew.meet(holds).ok());
  EXPECT_TRUE(acquaintance{holds}.meet(anew.me()).ok());
}

TEST_F(acquaintance_test, takes_the_shard_from_no_store_that_is_none_of_its_members) {
  begin();
  acquaintance anew{hello("n2", 11)}, another{hello("n3", 21)};
  ASSERT_TRUE(anew.meet(one.me()).ok());
  ASSERT_TRUE(anew.began());
  // What it has heard may be of a lineage that is over.
  ASSERT_TRUE(another.meet(anew.me()).ok());
  EXPECT_FALSE(another.began());
  ASSERT_TRUE(another.meet(one.me()).ok());
  EXPECT_TRUE(another.began());
}

TEST_F(acquaintance_test, tells_the_members_that_the_log_has_by_now) {
  begin();
  one.follow({{20, 30}, {11}});
  acquaintance fresh{hello("n2", 11)};
  ASSERT_TRUE(fresh.meet(one.me()).ok());
  EXPECT_EQ(fresh.members(), (raft::members{{20, 30}, {11}}));
  EXPECT_TRUE(other.meet(one.me()).ok()) << "which members there are says the log of each";
}

TEST_F(acquaintance_test, speaks_with_no_copy_of_a_store) {
  ASSERT_TRUE(one.meet(two.me()).ok());
  const auto copied = one.meet(hello("n3", 10));
  ASSERT_FALSE(copied.ok());
  EXPECT_NE(copied.failure().sentence.find("Nodes n2 and n3 have the same replica"), std::string::npos) << copied.failure().sentence;
  EXPECT_FALSE(one.meet(hello("n3", 30)).ok()) << "its own";
}

TEST_F(acquaintance_test, speaks_with_no_shard_that_began_apart) {
  begin();
  acquaintance apart{hello("n1", 30)};
  ASSERT_TRUE(apart.meet(two.me()).ok());
  ASSERT_TRUE(apart.meet(other.me()).ok());
  ASSERT_TRUE(apart.begin(lineage(9), "other"));
  ASSERT_TRUE(two.meet(one.me()).ok());
  const auto refused = two.meet(apart.me());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.failure().sentence.find("began apart"), std::string::npos) << refused.failure().sentence;
}

TEST_F(acquaintance_test, speaks_with_no_copy_of_a_store_that_became_one_of_several_by_itself) {
  begin();
  auto copied = hello("n2", 11);
  copied.mutable_members()->add_voters(11);
  *copied.mutable_lineage() = lineage(5);
  const auto refused = one.meet(copied);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.failure().sentence.find("began apart"), std::string::npos) << refused.failure().sentence;
}

TEST_F(acquaintance_test, begins_no_shard_with_a_node_whose_file_names_other_nodes) {
  acquaintance wrong{hello("n3", 20, {"n1", "n3", "n4"})};
  ASSERT_TRUE(one.meet(two.me()).ok());
  for (const auto& met : {one.meet(wrong.me()), wrong.meet(one.me())}) {
    ASSERT_FALSE(met.ok());
    EXPECT_EQ(met.failure().code, v1::ERROR_CODE_CONFLICT);
    EXPECT_NE(met.failure().sentence.find("name different nodes that are to hold shard 0: "), std::string::npos) << met.failure().sentence;
  }
  EXPECT_FALSE(one.begin(lineage(5), "store"));
  EXPECT_FALSE(wrong.begin(lineage(5), "store"));
  ASSERT_TRUE(one.meet(other.me()).ok()) << "its file was corrected";
  EXPECT_TRUE(one.begin(lineage(5), "store"));
}

TEST_F(acquaintance_test, speaks_with_no_node_that_the_node_file_does_not_name_and_with_no_other_shard) {
  EXPECT_FALSE(one.meet(hello("n4", 40)).ok());
  EXPECT_FALSE(one.meet(hello("n1", 40)).ok());
  EXPECT_FALSE(one.meet(hello("n2", 0)).ok());
  auto elsewhere = hello("n2", 10);
  elsewhere.set_shard(1);
  EXPECT_FALSE(one.meet(elsewhere).ok());
  auto impossible = hello("n2", 10);
  impossible.mutable_members()->add_voters(20);
  impossible.mutable_members()->add_voters(10);
  EXPECT_FALSE(one.meet(impossible).ok());
}

// ---- nodes come and go ----

v1::ShardNodes list(std::uint64_t version, const std::vector<std::string>& names) {
  auto out = core::shard_nodes_of(names);
  out.set_version(version);
  return out;
}

TEST_F(acquaintance_test, follows_the_newest_list_of_nodes_of_whoever_knows_the_shard) {
  begin();
  one.follow(list(2, {"n1", "n2", "n4"}));
  acquaintance joins{hello("n4", 40, {})};
  EXPECT_FALSE(joins.begin(lineage(9), "other")) << "it waits for the others";
  ASSERT_TRUE(joins.meet(one.me()).ok());
  EXPECT_TRUE(joins.began());
  EXPECT_EQ(joins.nodes().version(), 2U);
  EXPECT_EQ(joins.others(), (std::vector<std::string>{"n1", "n2"}));
  // One that was away hears of it from the newcomer.
  ASSERT_TRUE(two.meet(one.me()).ok());
  ASSERT_TRUE(two.meet(joins.me()).ok());
  EXPECT_EQ(two.node_of(40), "n4");
  one.follow(list(1, {"n1"}));
  EXPECT_EQ(one.nodes().version(), 2U) << "an older list changes nothing";
}

TEST_F(acquaintance_test, speaks_with_no_node_that_has_left_and_takes_no_list_of_one_that_knows_no_shard) {
  begin();
  one.follow(list(2, {"n1", "n2"}));
  const auto refused = one.meet(other.me());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.failure().sentence.find("Node n3 is none of those that hold shard 0"), std::string::npos) << refused.failure().sentence;
  acquaintance left{hello("n3", 20)};
  EXPECT_FALSE(left.meet(one.me()).ok()) << "it reads it in the other's list";
  auto stranger = hello("n2", 10);
  *stranger.mutable_nodes() = list(9, {"n2", "n3"});
  EXPECT_TRUE(one.meet(stranger).ok());
  EXPECT_EQ(one.nodes().version(), 2U);
}

TEST_F(acquaintance_test, two_that_join_wait_for_one_that_knows_the_shard) {
  acquaintance first{hello("n4", 40, {})}, second{hello("n5", 50, {})};
  const auto waits = first.meet(second.me());
  ASSERT_FALSE(waits.ok());
  EXPECT_EQ(waits.failure().code, v1::ERROR_CODE_UNAVAILABLE);
}

TEST_F(acquaintance_test, refuses_a_list_of_nodes_that_cannot_be) {
  begin();
  auto you = hello("n2", 10);
  you.mutable_nodes()->add_nodes()->set_name("n1");
  EXPECT_FALSE(one.meet(you).ok());
}

TEST_F(acquaintance_test, refuses_whoever_does_not_know_the_format_in_which_the_shard_is_written) {
  begin();
  auto later = one.me().nodes();
  later.set_version(9);
  later.set_format(2);
  one.follow(later);
  auto former = two.me();
  former.set_release("0.1.0");
  const auto refused = one.meet(former);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().sentence, "Node n1 does not know format 2, in which shard 0 is written.");
  // Whoever knows it sees that the other one does not.
  v1::ReplicaHello knows = one.me();
  knows.set_reads(2);
  acquaintance upgraded{knows};
  EXPECT_EQ(upgraded.meet(former).failure().sentence, "Node n2 does not know format 2, in which shard 0 is written: it has release 0.1.0.");
  former.set_reads(2);
  EXPECT_TRUE(upgraded.meet(former).ok());
}

}  // namespace
}  // namespace fairlead
