#include "app/metrics/node_figures.hpp"

#include <gtest/gtest.h>

#include "tests/app/metrics/node_figures_world.hpp"

namespace fairlead::app {
namespace {

using testing::well_node;

std::string why_not_healthy(const node_figures& all) {
  const auto verdict = healthy(all);
  return verdict.good() ? "" : verdict.reasons.front();
}

std::string why_not_ready(const node_figures& all) {
  const auto verdict = ready(all);
  return verdict.good() ? "" : verdict.reasons.front();
}

TEST(node_figures, a_node_whose_parts_answer_is_healthy_and_ready) {
  EXPECT_EQ(why_not_healthy(well_node()), "");
  EXPECT_EQ(why_not_ready(well_node()), "");
}

TEST(node_figures, a_node_whose_gateway_does_not_answer_is_not_healthy) {
  auto all = well_node();
  all.told.tree = {std::nullopt, "no answer in time"};
  EXPECT_EQ(why_not_healthy(all), "the gateway does not answer: no answer in time");
  EXPECT_EQ(why_not_ready(all), why_not_healthy(all));
}

TEST(node_figures, a_shard_that_does_not_answer_or_is_not_up_is_named) {
  auto all = well_node();
  all.told.shards[2] = {std::nullopt, "no answer in time"};
  EXPECT_EQ(why_not_healthy(all), "shard 2 does not answer: no answer in time");
  all.told.shards[2].reply = testing::shard_reply(2);
  EXPECT_EQ(why_not_healthy(all), "");
  all.told.shards[2].reply->mutable_shards(0)->set_up(false);
  all.told.shards[2].reply->mutable_shards(0)->set_reason("its store is being opened");
  EXPECT_EQ(why_not_healthy(all), "shard 2 is not up: its store is being opened");
}

TEST(node_figures, what_its_guardian_has_given_up_is_named_with_the_reason) {
  auto all = well_node();
  testing::add_actor(*all.told.tree.reply, "node/desk/doctor", false, "given_up");
  all.told.tree.reply->mutable_actors(all.told.tree.reply->actors_size() - 1)->set_last_reason("five restarts in 10 s");
  EXPECT_EQ(why_not_healthy(all), "node/desk/doctor has failed too often and is not restarted: five restarts in 10 s");
}

TEST(node_figures, an_actor_that_is_being_started_again_is_no_sickness) {
  auto all = well_node();
  testing::add_actor(*all.told.tree.reply, "node/desk/doctor", false, "restarting");
  EXPECT_EQ(why_not_healthy(all), "");
}

TEST(node_figures, a_shard_that_takes_up_old_tasks_is_healthy_and_not_ready) {
  auto all = well_node();
  all.told.shards[0].reply->mutable_shards(0)->set_resuming(true);
  EXPECT_EQ(why_not_healthy(all), "");
  EXPECT_EQ(why_not_ready(all), "shard 0 is still loading its open tasks");
}

TEST(node_figures, an_agent_that_is_not_registered_or_away_is_waited_for) {
  auto all = well_node();
  all.told.shards[0].reply->mutable_agents(0)->set_away(true);
  EXPECT_EQ(why_not_ready(all), "agent payment is not registered with shard 0 yet");
  all.told.shards[0].reply->clear_agents();
  EXPECT_EQ(why_not_ready(all), "agent payment is not registered with shard 0 yet");
  all.told.tree.reply->mutable_actors(3)->set_state("stopped");
  EXPECT_EQ(why_not_ready(all), "");
}

TEST(node_figures, a_node_of_agents_alone_waits_for_the_shards_of_others) {
  auto all = well_node();
  all.told.shards.clear();
  EXPECT_EQ(why_not_ready(all), "") << "no shard can be reached, so that there is none to register with";
  auto& elsewhere = *all.told.status.reply->add_shards();
  elsewhere.set_node("n2");
  elsewhere.set_up(true);
  EXPECT_EQ(why_not_ready(all), "agent payment is not registered with the shards of other nodes yet");
  *all.told.status.reply->add_agents() = testing::shard_reply(0).agents(0);
  EXPECT_EQ(why_not_ready(all), "");
}

TEST(node_figures, a_node_that_drains_or_stops_is_healthy_and_not_ready) {
  auto all = well_node();
  all.told.status.reply->set_draining(true);
  EXPECT_EQ(why_not_healthy(all), "");
  EXPECT_EQ(why_not_ready(all), "the node is draining");
  all = well_node();
  all.told.tree = {std::nullopt, "its gateway has been stopped"};
  all.stopping = true;
  EXPECT_EQ(why_not_healthy(all), "");
  EXPECT_EQ(why_not_ready(all), "the node is stopping");
}

TEST(node_figures, what_a_scheduler_says_without_a_gateway_counts_as_well) {
  v1::StatusReply reply;
  reply.set_epoch(9);
  reply.set_resuming(true);
  reply.mutable_counts()->set_running(4);
  reply.mutable_traffic()->set_submitted(5);
  const auto status = shard_status_of(reply, 1);
  EXPECT_TRUE(status.up());
  EXPECT_EQ(status.shard(), 1U);
  EXPECT_EQ(status.epoch(), 9U);
  EXPECT_TRUE(status.resuming());
  EXPECT_EQ(status.counts().running(), 4U);
  EXPECT_EQ(status.traffic().submitted(), 5U);
}

node_figures following_node() {
  auto all = well_node();
  all.told.shards.clear();
  auto& own = *all.replicas[0].mutable_replication();
  own.set_role("follower");
  own.set_leader("n2");
  auto& led = *all.told.status.reply;
  *led.add_shards() = testing::shard_reply(0).shards(0);
  led.mutable_shards(0)->set_here(false);
  *led.add_agents() = testing::shard_reply(0).agents(0);
  return all;
}

TEST(node_figures, a_node_that_follows_a_leader_is_healthy_and_ready) {
  EXPECT_FALSE(leads(following_node(), 0));
  EXPECT_EQ(why_not_healthy(following_node()), "");
  EXPECT_EQ(why_not_ready(following_node()), "");
}

TEST(node_figures, without_a_leader_a_node_is_healthy_and_not_ready) {
  auto all = following_node();
  all.replicas[0].mutable_replication()->clear_leader();
  EXPECT_EQ(why_not_healthy(all), "") << "a restart would not mend it";
  EXPECT_EQ(why_not_ready(all), "no leader of shard 0 is known");
}

TEST(node_figures, a_new_leader_whose_scheduler_has_not_begun_is_healthy_and_not_ready) {
  auto all = following_node();
  all.replicas[0].mutable_replication()->set_role("leader");
  all.replicas[0].mutable_replication()->set_leader("n1");
  all.told.shards[0] = {std::nullopt, "shard 0 is led by no node that is known"};
  EXPECT_EQ(why_not_healthy(all), "");
  EXPECT_EQ(why_not_ready(all), "shard 0 does not answer: shard 0 is led by no node that is known");
}

TEST(node_figures, a_leader_whose_scheduler_hangs_is_not_healthy) {
  auto all = following_node();
  all.replicas[0].mutable_replication()->set_role("leader");
  all.replicas[0].mutable_replication()->set_epoch(900);
  all.told.shards[0] = {std::nullopt, "no answer within 2 s"};
  EXPECT_EQ(why_not_healthy(all), "shard 0 does not answer: no answer within 2 s");
}

TEST(node_figures, a_replica_that_stands_aside_is_not_healthy) {
  auto all = following_node();
  all.replicas[0].mutable_replication()->set_trouble("there were two leaders in term 4");
  EXPECT_EQ(why_not_healthy(all), "the replica of shard 0 takes no part: there were two leaders in term 4");
}

}  // namespace
}  // namespace fairlead::app
