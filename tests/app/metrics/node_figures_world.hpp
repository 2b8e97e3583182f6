#pragma once
// A node with one shard and one agent, all of it well, as its gateway would tell it.

#include "actors/core/distribution.hpp"
#include "app/metrics/node_figures.hpp"

namespace fairlead::app::testing {

inline constexpr std::int64_t world_now_ms = 1'800'000'000'000;

inline void add_actor(v1::InspectReply& tree, const std::string& path, bool guardian, const std::string& state = "running") {
  auto& actor = *tree.add_actors();
  actor.set_path(path);
  actor.set_guardian(guardian);
  actor.set_state(state);
}

inline v1::StatusReply shard_reply(std::uint32_t shard) {
  v1::StatusReply out;
  auto& status = *out.add_shards();
  status.set_shard(shard);
  status.set_here(true);
  status.set_up(true);
  status.set_epoch(7);
  auto& counts = *status.mutable_counts();
  counts.set_pending(1);
  counts.set_running(2);
  counts.set_completed(3);
  counts.set_undoing(4);
  counts.set_undone(5);
  counts.set_parked(6);
  status.mutable_store()->set_used_bytes(1'000);
  status.mutable_store()->set_max_bytes(10'000);
  status.mutable_store()->mutable_journal()->set_groups(3);
  auto& agent = *out.add_agents();
  agent.set_agent("payment");
  agent.set_instance("n1/payment");
  agent.set_node("n1");
  agent.set_capacity(64);
  agent.set_held(3);
  return out;
}

inline node_figures well_node() {
  node_figures out;
  out.now = from_unix_ms(world_now_ms);
  out.node = "n1";
  out.version = "1.2.3";
  out.told.status.reply.emplace();
  out.told.status.reply->set_cluster("test");
  out.told.tree.reply.emplace();
  add_actor(*out.told.tree.reply, "node", true);
  add_actor(*out.told.tree.reply, "node/shards/0/core/scheduler", false);
  add_actor(*out.told.tree.reply, "node/agents", true);
  add_actor(*out.told.tree.reply, "node/agents/payment", false);
  out.told.shards[0].reply = shard_reply(0);
  return out;
}

}  // namespace fairlead::app::testing
