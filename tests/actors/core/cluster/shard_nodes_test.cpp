#include "actors/core/cluster/shard_nodes.hpp"

#include <gtest/gtest.h>

#include <map>

namespace fairlead::core {
namespace {

struct shard_nodes_test : ::testing::Test {
  v1::ShardNodes now;

  shard_nodes_test() {
    now = shard_nodes_of({"n2", "n1"});
    now.set_version(4);
    now.mutable_nodes(0)->set_replica(1);
    now.mutable_nodes(1)->set_replica(2);
  }

  static v1::ShardNodesRequest asks(v1::ShardNodesRequest::Verb verb, const std::string& node, std::uint64_t replica = 0) {
    v1::ShardNodesRequest out;
    out.set_verb(verb);
    out.mutable_node()->set_name(node);
    out.mutable_node()->set_address(node + ":7100");
    out.mutable_node()->set_replica(replica);
    return out;
  }
  static v1::ShardNodesRequest join(const std::string& node, std::uint64_t replica) {
    return asks(v1::ShardNodesRequest::JOIN, node, replica);
  }
  static v1::ShardNodesRequest leave(const std::string& node) { return asks(v1::ShardNodesRequest::LEAVE, node); }

  std::string names() const {
    std::string out;
    for (const auto& one : now.nodes()) out += one.name() + (one.leaves() ? "- " : " ");
    return out;
  }
  void carry_out(const v1::ShardNodesRequest& what) {
    const auto next = after_request(now, what, false);
    ASSERT_TRUE(next.ok()) << next.failure().sentence;
    now = *next;
    EXPECT_TRUE(valid_shard_nodes(now));
  }
  error_code refusal(const v1::ShardNodesRequest& what, bool is_linked = false) const {
    const auto next = after_request(now, what, is_linked);
    return next.ok() ? v1::ERROR_CODE_OK : next.failure().code;
  }
};

TEST_F(shard_nodes_test, are_in_the_order_of_their_names_and_rise_in_version_with_each_change) {
  carry_out(join("n0", 7));
  EXPECT_EQ(names(), "n0 n1 n2 ");
  EXPECT_EQ(now.version(), 5U);
  EXPECT_EQ(find_node(now, "n0")->replica(), 7U);
  carry_out(leave("n1"));
  EXPECT_EQ(names(), "n0 n1- n2 ");
  EXPECT_EQ(now.version(), 6U);
}

TEST_F(shard_nodes_test, stay_the_same_when_a_request_comes_a_second_time) {
  carry_out(join("n3", 3));
  carry_out(join("n3", 3));
  EXPECT_EQ(now.version(), 5U);
  carry_out(leave("n3"));
  carry_out(leave("n3"));
  EXPECT_EQ(now.version(), 6U);
}

TEST_F(shard_nodes_test, refuse_what_would_be_another_node_or_another_store) {
  EXPECT_EQ(refusal(join("n2", 9), true), v1::ERROR_CODE_CONFLICT) << "another node of that name is there";
  EXPECT_EQ(refusal(join("n3", 2)), v1::ERROR_CODE_CONFLICT) << "a copy of the store of n2";
  EXPECT_EQ(refusal(join("n3", 0)), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(refusal(leave("n3")), v1::ERROR_CODE_NOT_FOUND);
  carry_out(leave("n2"));
  EXPECT_EQ(refusal(join("n2", 2)), v1::ERROR_CODE_WRONG_STATE) << "it has not left yet";
  EXPECT_EQ(refusal(leave("n1")), v1::ERROR_CODE_WRONG_STATE) << "the last one";
}

TEST_F(shard_nodes_test, take_another_store_of_a_node_that_is_away) {
  carry_out(join("n2", 9));
  EXPECT_EQ(find_node(now, "n2")->replica(), 9U);
  EXPECT_EQ(names(), "n1 n2 ");
}

TEST_F(shard_nodes_test, are_seven_at_most) {
  for (const auto* const name : {"n3", "n4", "n5", "n6", "n7"}) carry_out(join(name, static_cast<std::uint64_t>(name[1])));
  EXPECT_EQ(refusal(join("n8", 8)), v1::ERROR_CODE_WRONG_STATE);
}

TEST_F(shard_nodes_test, take_the_replica_that_a_node_has_by_now_and_let_go_of_one_that_has_left) {
  const auto met = [](const std::string& node) { return std::uint64_t{node == "n2" ? 20U : 0U}; };
  const auto next = brought_up_to_date(now, met, {1, 2});
  ASSERT_TRUE(next);
  EXPECT_EQ(next->version(), 5U);
  EXPECT_EQ(find_node(*next, "n2")->replica(), 20U);
  EXPECT_EQ(find_node(*next, "n1")->replica(), 1U);
  now = *next;
  EXPECT_FALSE(brought_up_to_date(now, met, {1, 20}));

  carry_out(leave("n2"));
  EXPECT_FALSE(brought_up_to_date(now, met, {1, 20})) << "it is a member still";
  now = *brought_up_to_date(now, met, {1});
  EXPECT_EQ(names(), "n1 ");
}

TEST_F(shard_nodes_test, let_no_node_go_while_a_member_is_of_nobody) {
  now.mutable_nodes(1)->set_replica(0);
  carry_out(leave("n2"));
  const auto met = [](const std::string&) { return std::uint64_t{0}; };
  EXPECT_FALSE(brought_up_to_date(now, met, {1, 2})) << "2 may be that of n2";
  EXPECT_TRUE(brought_up_to_date(now, met, {1}));
}

TEST_F(shard_nodes_test, of_a_node_file_become_the_first_version) {
  now.set_version(0);
  const auto next = brought_up_to_date(now, [](const std::string&) { return std::uint64_t{0}; }, {7});
  ASSERT_TRUE(next);
  EXPECT_EQ(next->version(), 1U);
}

TEST(valid_shard_nodes, are_named_once_and_in_order) {
  EXPECT_TRUE(valid_shard_nodes({}));
  v1::ShardNodes all;
  all.add_nodes()->set_name("n2");
  EXPECT_TRUE(valid_shard_nodes(all));
  all.add_nodes()->set_name("n1");
  EXPECT_FALSE(valid_shard_nodes(all));
  all.mutable_nodes(1)->set_name("n2");
  EXPECT_FALSE(valid_shard_nodes(all));
  all.mutable_nodes(1)->set_name("no name");
  EXPECT_FALSE(valid_shard_nodes(all));
}

TEST_F(shard_nodes_test, rise_to_a_later_format_once_all_nodes_are_connected_and_know_it) {
  std::map<std::string, v1::ReplicaHello> met;
  const auto hello = [&](const std::string& node) { return met.count(node) != 0 ? &met[node] : nullptr; };
  const auto why_not = [&] {
    const auto next = with_format(now, 2, hello);
    return next.ok() ? std::string{} : next.failure().sentence;
  };
  EXPECT_EQ(format_of(now), 1U);
  met["n1"].set_reads(2);
  EXPECT_EQ(why_not(), "Node n2 is not connected, so nobody knows which release it has.");
  EXPECT_FALSE(with_format(now, 1, hello).ok()) << "it may be one that knows more";
  met["n2"].set_release("0.1.0");
  EXPECT_EQ(with_format(now, 1, hello)->version(), now.version()) << "it is so already";
  EXPECT_EQ(why_not(), "Node n2 does not know format 2: it has release 0.1.0.");
  met["n2"].set_reads(3);
  const auto next = with_format(now, 2, hello);
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(format_of(*next), 2U);
  EXPECT_EQ(next->version(), now.version() + 1);
  now = *next;

  // The list keeps it, and so is no place for a node that knows less.
  EXPECT_EQ(refusal(join("n3", 3)), v1::ERROR_CODE_WRONG_STATE);
  auto knows = join("n3", 3);
  knows.set_reads(2);
  carry_out(knows);
  EXPECT_EQ(format_of(now), 2U);
  const auto news = brought_up_to_date(now, [](const std::string& node) { return node == "n3" ? 30 : 0; }, {1, 2, 3});
  ASSERT_TRUE(news);
  EXPECT_EQ(format_of(*news), 2U);
}

}  // namespace
}  // namespace fairlead::core
