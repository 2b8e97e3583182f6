#include "app/cli/node/cluster.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/json/node/cluster.hpp"

namespace fairlead::app {
namespace {

v1::StatusReply led_by_n1() {
  v1::StatusReply out;
  out.set_cluster("orders");
  out.set_node("n2");
  auto& shard = *out.add_shards();
  shard.set_shard(0);
  shard.set_node("n1");
  shard.set_up(true);
  auto& known = *shard.mutable_replication();
  known.set_node("n1");
  known.set_role("leader");
  known.set_leader("n1");
  known.set_term(4);
  known.set_contact_ms_ago(20);
  known.set_may_lose(1);
  for (const auto* node : {"n2", "n3"}) {
    auto& one = *known.add_others();
    one.set_node(node);
    one.set_votes(true);
    one.set_heard_ms_ago(15);
  }
  return out;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(cluster_status, says_first_what_each_shard_survives) {
  auto reply = led_by_n1();
  EXPECT_TRUE(
      has(cluster_text(reply), "Shard 0 survives the loss of 1 more node. n1 leads it, in term 4, and heard of a majority 20ms ago."))
      << cluster_text(reply);
  reply.mutable_shards(0)->mutable_replication()->set_may_lose(0);
  EXPECT_TRUE(has(cluster_text(reply), "survives the loss of no more node.")) << cluster_text(reply);
}

TEST(cluster_status, says_how_far_a_replica_is_behind_and_why) {
  auto reply = led_by_n1();
  auto& late = *reply.mutable_shards(0)->mutable_replication()->mutable_others(1);
  late.set_behind_entries(1'200);
  late.set_behind_bytes(3 << 20);
  late.set_behind_ms(90'000);
  auto& peer = *reply.add_peers();
  peer.set_node("n3");
  peer.set_reason("connection refused");
  EXPECT_FALSE(has(cluster_text(reply), "connection refused")) << "the leader hears of it, whatever the node that was asked knows";
  late.set_heard_ms_ago(5'000);
  const auto text = cluster_text(reply);
  for (const auto* part : {"1200", "3.0 MiB", "1m30s", "connection refused"}) EXPECT_TRUE(has(text, part)) << part << " in\n" << text;
}

TEST(cluster_status, says_that_releases_differ_while_they_do) {
  auto reply = led_by_n1();
  reply.set_version("0.2.0");
  for (const auto* node : {"n1", "n2", "n3"}) reply.mutable_shards(0)->mutable_replication()->add_nodes(node);
  for (const auto* node : {"n1", "n3"}) {
    auto& peer = *reply.add_peers();
    peer.set_node(node);
    peer.set_connected(true);
    peer.set_version("0.2.0");
  }
  EXPECT_FALSE(has(cluster_text(reply), "Releases")) << cluster_text(reply);
  reply.mutable_peers(1)->set_version("0.1.0");
  EXPECT_TRUE(has(cluster_text(reply), "Releases differ: n1 has 0.2.0, n2 has 0.2.0, n3 has 0.1.0.\n")) << cluster_text(reply);
  const auto json = nlohmann::json::parse(cluster_json(reply));
  EXPECT_EQ(json["shards"][0]["replication"]["replicas"][1]["release"], "0.1.0");
}

TEST(cluster_status, says_for_which_shard_a_journal_keeps_many_files) {
  auto reply = led_by_n1();
  auto& journal = *reply.mutable_shards(0)->mutable_store()->mutable_journal();
  journal.set_segment_bytes(64 << 20);
  journal.set_segments(7);
  journal.set_most_segments(16);
  journal.set_kept_by_shard(3);
  EXPECT_FALSE(has(cluster_text(reply), "journal")) << cluster_text(reply);
  EXPECT_EQ(nlohmann::json::parse(cluster_json(reply))["shards"][0]["journal"]["kept_by_shard"], 3);
  journal.set_segments(8);
  const auto* const said =
      "The journal of n1 has 8 of at most 16 files of 64.0 MiB in use, the oldest for shard 3, whose entries are not in its tables yet or "
      "are kept for other nodes.\n";
  EXPECT_TRUE(has(cluster_text(reply), said)) << cluster_text(reply);
  // A shard that has all of its entries in its tables keeps nothing.
  journal.clear_kept_by_shard();
  EXPECT_FALSE(has(cluster_text(reply), "journal")) << cluster_text(reply);
}

TEST(cluster_status, says_how_much_a_replica_has_of_a_copy_of_the_state) {
  auto reply = led_by_n1();
  auto& far = *reply.mutable_shards(0)->mutable_replication()->mutable_others(1);
  far.set_needs_copy(true);
  EXPECT_TRUE(has(cluster_text(reply), "waits for a copy of the state")) << cluster_text(reply);
  far.set_copied_bytes(3 << 20);
  far.set_copy_bytes(12 << 20);
  EXPECT_TRUE(has(cluster_text(reply), "gets a copy of the state: 3.0 MiB of 12.0 MiB so far")) << cluster_text(reply);
  const auto json = nlohmann::json::parse(cluster_json(reply));
  const auto& told = json["shards"][0]["replication"]["replicas"][1];
  EXPECT_EQ(told["needs_copy"], true);
  EXPECT_EQ(told["copied_bytes"], 3 << 20);
  EXPECT_EQ(told["copy_bytes"], 12 << 20);
}

TEST(cluster_status, of_a_shard_without_a_leader_says_what_this_node_knows) {
  auto reply = led_by_n1();
  auto& shard = *reply.mutable_shards(0);
  shard.set_up(false);
  auto& known = *shard.mutable_replication();
  known.Clear();
  known.set_node("n2");
  known.set_role("candidate");
  known.set_term(7);
  known.set_contact_ms_ago(3'000);
  reply.set_node("n2");
  for (const auto* name : {"n1", "n2", "n3"}) known.add_nodes(name);
  reply.clear_peers();
  auto& peer = *reply.add_peers();
  peer.set_node("n1");
  peer.set_connected(true);
  EXPECT_TRUE(has(cluster_text(reply),
                  "Shard 0 has no leader. n2 last heard of a leader 3s ago, in term 7. Its nodes are n1, n2, n3. Node n2 is "
                  "not connected with n3."))
      << cluster_text(reply);
  known.set_leader("n1");
  EXPECT_TRUE(has(cluster_text(reply), "Shard 0 is led by n1, which does not answer.")) << cluster_text(reply);
  known.set_trouble("two leaders in one term");
  EXPECT_TRUE(has(cluster_text(reply), "takes no part, because two leaders in one term")) << cluster_text(reply);
  known.set_role("new");
  EXPECT_TRUE(has(cluster_text(reply), "Shard 0 has not begun")) << cluster_text(reply);
}

TEST(cluster_status, of_a_shard_on_one_node_says_so) {
  auto reply = led_by_n1();
  reply.mutable_shards(0)->clear_replication();
  EXPECT_TRUE(has(cluster_text(reply), "Shard 0 lives on node n1 alone.")) << cluster_text(reply);
  reply.mutable_shards(0)->clear_node();
  EXPECT_TRUE(has(cluster_text(reply), "Shard 0 is on no connected node.")) << cluster_text(reply);
  const auto json = nlohmann::json::parse(cluster_json(reply));
  EXPECT_TRUE(json["shards"][0]["replication"].is_null());
}

TEST(cluster_status, as_json_has_the_leader_and_each_replica) {
  const auto json = nlohmann::json::parse(cluster_json(led_by_n1()));
  const auto& known = json["shards"][0]["replication"];
  EXPECT_EQ(known["leader"], "n1");
  EXPECT_EQ(known["may_lose_nodes"], 1);
  ASSERT_EQ(known["replicas"].size(), 2U);
  EXPECT_EQ(known["replicas"][1]["node"], "n3");
  EXPECT_EQ(known["replicas"][1]["heard_ms_ago"], 15);
}

TEST(cluster_status, says_what_came_of_the_last_comparison_of_states) {
  auto reply = led_by_n1();
  auto& known = *reply.mutable_shards(0)->mutable_replication();
  EXPECT_TRUE(nlohmann::json::parse(cluster_json(reply))["shards"][0]["replication"]["comparison"].is_null());
  auto& last = *known.mutable_comparison();
  last.set_number(2);
  last.set_asked_at_unix_ms(1'700'000'000'000);
  EXPECT_EQ(comparison_text(reply.shards(0)), "") << "it goes on";
  EXPECT_TRUE(nlohmann::json::parse(cluster_json(reply))["shards"][0]["replication"]["comparison"]["ended_at"].is_null());
  last.set_ended_at_unix_ms(1'700'000'001'000);
  last.set_index(12);
  for (const auto* node : {"n1", "n2", "n3"}) {
    auto& one = *last.add_replicas();
    one.set_node(node);
    one.set_replica(static_cast<std::uint64_t>(node[1] - '0'));
    one.set_answered(true);
  }
  const auto begins = [&](const std::string& text) { return comparison_text(reply.shards(0)).starts_with(text); };
  EXPECT_TRUE(begins("Shard 0: n1, n2, n3 have the same state, as of entry 12, ")) << comparison_text(reply.shards(0));
  EXPECT_TRUE(has(cluster_text(reply), comparison_text(reply.shards(0)))) << cluster_text(reply);
  last.mutable_replicas(2)->set_differs(true);
  EXPECT_TRUE(begins("Shard 0: n1, n2 have the same state, as of entry 12, ")) << comparison_text(reply.shards(0));
  EXPECT_TRUE(has(comparison_text(reply.shards(0)), "\nShard 0: node n3: its state is not that of the other nodes.\n"));
  last.mutable_replicas(1)->set_answered(false);
  EXPECT_TRUE(begins("Shard 0: n1 has told its state, as of entry 12, ")) << comparison_text(reply.shards(0));
  EXPECT_TRUE(has(comparison_text(reply.shards(0)), ". Not compared: n2.\n")) << comparison_text(reply.shards(0));
  const auto json = nlohmann::json::parse(cluster_json(reply))["shards"][0]["replication"]["comparison"];
  EXPECT_EQ(json["index"], 12);
  EXPECT_EQ(json["no_majority"], false);
  EXPECT_EQ(json["nodes"][2], (nlohmann::json{{"node", "n3"}, {"answered", true}, {"differs", true}}));
}

}  // namespace
}  // namespace fairlead::app
