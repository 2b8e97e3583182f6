#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/console/views/views.hpp"
#include "app/json/node/agents.hpp"
#include "app/json/node/nodes.hpp"

namespace fairlead::app {
namespace {

using nlohmann::json;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

v1::StatusReply a_cluster() {
  v1::StatusReply out;
  out.set_node("n1");
  out.set_cluster("shop");
  out.set_version("0.1.0");
  out.set_incarnation(4);
  out.add_roles("shard");
  auto* here = out.add_shards();
  here->set_shard(0);
  here->set_node("n1");
  here->set_here(true);
  here->set_up(true);
  here->set_epoch(9);
  here->mutable_counts()->set_running(12);
  here->mutable_counts()->set_parked(3);
  here->mutable_store()->set_used_bytes(512);
  here->mutable_store()->set_max_bytes(1024);
  here->mutable_store()->set_sequence(77);
  here->mutable_commits()->set_commits(10);
  here->mutable_commits()->mutable_micros()->set_sum(4'200);
  auto* away = out.add_shards();
  away->set_shard(1);
  away->set_reason("n2 is not connected");
  auto* peer = out.add_peers();
  peer->set_address("10.0.0.2:7100");
  peer->set_node("n2");
  peer->set_reason("the connection was lost");
  auto* refused = out.add_peers();
  refused->set_address("10.0.0.3:7100");
  refused->set_refused(true);
  refused->set_reason("it is of cluster test\x1b[2J");
  return out;
}

v1::InspectReply a_tree() {
  v1::InspectReply out;
  out.set_node("n1");
  out.set_log_level("info");
  const auto add = [&](const char* path, bool guardian, std::uint64_t mailbox, std::uint64_t handled) {
    auto* actor = out.add_actors();
    actor->set_path(path);
    actor->set_guardian(guardian);
    if (guardian) actor->set_strategy("one_for_one");
    actor->set_state("running");
    actor->set_restart("permanent");
    actor->set_mailbox(mailbox);
    actor->set_handled(handled);
    return actor;
  };
  add("node", true, 0, 0);
  add("node/agents", true, 0, 0);
  auto* crashed = add("node/agents/payment", false, 2, 100);
  crashed->set_restarts(3);
  crashed->set_last_reason("internal error in the agent: no");
  add("node/agents/stock", false, 7, 50);
  return out;
}

TEST(console_views, nodes_names_this_one_and_why_others_are_not_connected) {
  const auto text = nodes_text(a_cluster());
  EXPECT_TRUE(contains(text, "cluster shop\n")) << text;
  EXPECT_TRUE(contains(text, "away")) << text;
  EXPECT_TRUE(contains(text, "the connection was lost")) << text;
  EXPECT_TRUE(contains(text, "refused")) << text;
  EXPECT_FALSE(contains(text, "\x1b")) << "what a peer says must not steer the terminal";
  const auto told = json::parse(nodes_json(a_cluster()));
  EXPECT_EQ(told["node"], "n1");
  EXPECT_EQ(told["shards"], json::array({0}));
  EXPECT_EQ(told["peers"][0]["state"], "away");
  EXPECT_EQ(told["peers"][1]["state"], "refused");
  EXPECT_TRUE(told["peers"][1]["node"].is_null());
}

TEST(console_views, a_node_that_cannot_be_asked_is_named_with_the_reason) {
  auto cluster = a_cluster();
  EXPECT_TRUE(check_node(cluster, "n1").ok());
  EXPECT_EQ(check_node(cluster, "n2").failure().code, v1::ERROR_CODE_WRONG_STATE);
  EXPECT_TRUE(contains(check_node(cluster, "n2").failure().sentence, "the connection was lost"));
  EXPECT_EQ(check_node(cluster, "nx").failure().code, v1::ERROR_CODE_NOT_FOUND);
  cluster.mutable_peers(0)->set_connected(true);
  EXPECT_TRUE(check_node(cluster, "n2").ok());
}

TEST(console_views, the_tree_is_indented_and_says_why_an_actor_was_restarted) {
  auto tree = a_tree();
  const auto text = tree_text(tree);
  EXPECT_TRUE(contains(text, "\nnode ")) << text;
  EXPECT_TRUE(contains(text, "\n  agents ")) << text;
  EXPECT_TRUE(contains(text, "\n    payment ")) << text;
  EXPECT_TRUE(contains(text, "internal error in the agent: no")) << text;
  EXPECT_FALSE(contains(text, "in the supervision tree")) << text;
  tree.set_outside(2);
  EXPECT_TRUE(contains(tree_text(tree), "2 live actors are not in the supervision tree"));
  const auto told = json::parse(tree_json(tree));
  EXPECT_EQ(told["outside"], 2);
  EXPECT_EQ(told["actors"].size(), 4u);
  EXPECT_EQ(told["actors"][2]["restarts"], 3);
}

TEST(console_views, actors_are_sorted_and_bounded_and_without_guardians) {
  const auto first = [](const char* by, std::uint32_t top = 50) {
    return json::parse(actors_json(a_tree(), {by, top}))["actors"][0]["path"].get<std::string>();
  };
  EXPECT_EQ(first("mailbox"), "node/agents/stock");
  EXPECT_EQ(first("handled"), "node/agents/payment");
  EXPECT_EQ(first("restarts"), "node/agents/payment");
  EXPECT_EQ(first("path"), "node/agents/payment");
  const auto one = json::parse(actors_json(a_tree(), {"mailbox", 1}));
  EXPECT_EQ(one["actors"].size(), 1u);
  EXPECT_EQ(one["count"], 2);
  EXPECT_TRUE(contains(actors_text(a_tree(), {"mailbox", 1}), "and 1 more"));
}

TEST(console_views, shards_show_their_store_and_commits_or_why_they_are_down) {
  const auto text = shards_text(a_cluster());
  EXPECT_TRUE(contains(text, "50%")) << text;
  EXPECT_TRUE(contains(text, "420 us")) << text;
  EXPECT_TRUE(contains(text, "n2 is not connected")) << text;
  const auto told = json::parse(shards_json(a_cluster()));
  EXPECT_EQ(told["shards"][0]["epoch"], 9);
  EXPECT_EQ(told["shards"][0]["counts"]["parked"], 3);
  EXPECT_EQ(told["shards"][1]["state"], "down");
  EXPECT_TRUE(told["shards"][1]["node"].is_null());
  EXPECT_TRUE(contains(shards_text({}), "No shards"));
}

v1::StatusReply a_registry() {
  v1::StatusReply out;
  for (const auto* name : {"payment", "stock"}) {
    auto* agent = out.add_agents();
    agent->set_agent(name);
    agent->set_instance(std::string{"n1/"} + name);
    agent->set_node("n1");
    agent->set_sick(std::string{name} == "payment");
    auto* service = out.add_services();
    service->mutable_record()->set_agent(name);
    auto* limit = service->add_limits();
    limit->mutable_policy()->set_call("charge");
    limit->mutable_policy()->set_concurrency(8);
    limit->set_held(3);
  }
  out.mutable_services(0)->mutable_record()->set_breaker(v1::BREAKER_STATE_OPEN);
  return out;
}

TEST(console_views, the_registry_shows_breakers_and_limits_and_can_be_filtered) {
  const auto text = registry_text(a_registry());
  EXPECT_TRUE(contains(text, "open")) << text;
  EXPECT_TRUE(contains(text, "charge 3/8")) << text;
  registry_filter sick;
  sick.sick = true;
  const auto only = json::parse(agent_list_json(filtered(a_registry(), sick)));
  EXPECT_EQ(only["agents"].size(), 1u);
  EXPECT_EQ(only["services"].size(), 1u);
  EXPECT_EQ(only["agents"][0]["agent"], "payment");
  registry_filter named;
  named.name = "sto";
  EXPECT_EQ(filtered(a_registry(), named).agents_size(), 1);
  named.name = "nobody";
  EXPECT_EQ(registry_text(filtered(a_registry(), named)), "No agent matches.\n");
}

}  // namespace
}  // namespace fairlead::app
