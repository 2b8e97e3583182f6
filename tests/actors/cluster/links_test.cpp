#include "actors/cluster/links.hpp"

#include <gtest/gtest.h>

#include "tests/actors/cluster/links_world.hpp"

namespace fairlead {
namespace {

using testing::linked_node;
using testing::links_world;

struct links_of_nodes : ::testing::Test {
  links_world world;

  static bool joined(const linked_node& a, const linked_node& b) { return a.sees(b.options.me.node()) && b.sees(a.options.me.node()); }
};

TEST_F(links_of_nodes, connect_when_the_peer_comes_up_and_both_sides_know) {
  auto& a = world.add("a", {"b"});
  EXPECT_FALSE(a.peer(0).connected());
  EXPECT_EQ(a.peer(0).reason(), "Connection refused");
  auto& b = world.add("b", {});
  world.pass(6'000);
  EXPECT_TRUE(joined(a, b));
  EXPECT_TRUE(a.peer(0).connected());
  EXPECT_EQ(a.peer(0).address(), "b");
  EXPECT_EQ(a.peer(0).node(), "b");
  EXPECT_EQ(a.peer(0).reason(), "");
  EXPECT_EQ(b.peer(0).address(), "") << "it came to us";
  EXPECT_EQ(b.peer(0).node(), "a");
  EXPECT_EQ(b.log.count("node a (incarnation 1) is connected"), 1);
}

TEST_F(links_of_nodes, that_dial_each_other_are_one_peer_to_each) {
  auto& b = world.add("b", {"a"});
  auto& a = world.add("a", {"b"});
  world.pass(6'000);
  EXPECT_TRUE(joined(a, b));
  EXPECT_EQ(a.shell->peers().size(), 1U);
  EXPECT_EQ(b.shell->peers().size(), 1U);
  EXPECT_EQ(a.shell->gateways().size(), 1U);
  EXPECT_EQ(a.peer(0).connects(), 1U);
}

TEST_F(links_of_nodes, tell_where_the_shards_are_here_and_elsewhere) {
  auto& a = world.add("a", {"b"});
  auto& b = world.add("b", {});
  a.shell->on_claim(links_world::claim(0));
  world.pass(6'000);
  EXPECT_EQ(a.holder(0), "a");
  EXPECT_EQ(a.routes[0].via, own_gateway);
  EXPECT_EQ(b.holder(0), "a");
  EXPECT_EQ(a.routes[2].via, no_gateway);
  EXPECT_EQ(a.routes[2].reason, "no node with this shard has been connected yet");
  // One that comes up later is known at once.
  b.shell->on_claim(links_world::claim(2));
  world.run();
  EXPECT_EQ(a.holder(2), "b");
  EXPECT_EQ(a.routes[2].via, a.token_of(&b));
}

TEST_F(links_of_nodes, lead_to_the_leader_of_the_latest_epoch_and_away_from_one_that_leads_no_longer) {
  auto& a = world.add("a", {"b", "c"});
  auto& b = world.add("b", {});
  auto& c = world.add("c", {"b"});
  world.pass(6'000);
  auto claim = links_world::claim(1);
  claim.mutable_lineage()->set_made_unix_ms(5);
  claim.mutable_lineage()->set_several(true);
  claim.set_epoch(5);
  a.shell->on_claim(claim);
  world.run();
  EXPECT_EQ(c.holder(1), "a");
  // A former leader that does not know it yet parts nobody.
  claim.set_epoch(8);
  b.shell->on_claim(claim);
  world.run();
  EXPECT_TRUE(joined(a, b));
  for (auto* one : {&a, &b, &c}) EXPECT_EQ(one->holder(1), "b");
  claim.set_epoch(0);
  b.shell->on_claim(claim);
  world.run();
  EXPECT_EQ(c.holder(1), "a") << "as far as is known";
  a.shell->on_claim(claim);
  world.run();
  for (auto* one : {&a, &b, &c}) EXPECT_EQ(one->holder(1), "");
}

TEST_F(links_of_nodes, connect_to_the_nodes_that_a_shard_here_names_until_it_names_them_no_longer) {
  auto& a = world.add("a", {});
  auto& b = world.add("b", {});
  v1::ReplicaHello own;
  own.set_shard(1);
  for (const auto* name : {"a", "b"}) {
    auto& one = *own.mutable_nodes()->add_nodes();
    one.set_name(name);
    one.set_address(name);
  }
  a.shell->on_replica(own);
  world.pass(6'000);
  EXPECT_TRUE(joined(a, b));
  ASSERT_EQ(a.shell->peers().size(), 1U) << "not itself";
  a.restart_links();
  world.part(a, b);
  world.mend();
  world.pass(6'000);
  EXPECT_TRUE(joined(a, b)) << "also after a crash of the links";
  own.mutable_nodes()->mutable_nodes()->RemoveLast();
  a.shell->on_replica(own);
  EXPECT_TRUE(joined(a, b)) << "what is connected stays";
  world.part(a, b);
  world.mend();
  world.pass(60'000);
  EXPECT_FALSE(joined(a, b));
  const auto dialled = a.dialled.size();
  world.pass(60'000);
  EXPECT_EQ(a.dialled.size(), dialled);
}

TEST_F(links_of_nodes, tell_a_route_once_until_it_changes) {
  auto& a = world.add("a", {"b"});
  auto& b = world.add("b", {});
  b.shell->on_claim(links_world::claim(2));
  world.pass(6'000);
  const auto before = a.told.size();
  world.pass(60'000);
  EXPECT_EQ(a.told.size(), before);
}

TEST_F(links_of_nodes, take_a_route_back_when_the_node_is_lost_and_find_it_again) {
  auto& a = world.add("a", {"b"});
  auto& b = world.add("b", {});
  b.shell->on_claim(links_world::claim(2));
  world.pass(6'000);
  a.log.notes.clear();
  world.part(a, b);
  EXPECT_EQ(a.holder(2), "");
  EXPECT_EQ(a.routes[2].reason, "node b, which has the shard, is not connected: the connection was lost");
  EXPECT_EQ(a.routes[2].node, "b");
  EXPECT_FALSE(a.peer(0).connected());
  world.pass(60'000);
  EXPECT_FALSE(a.sees("b"));
  EXPECT_FALSE(b.sees("a"));
  world.mend();
  world.pass(6'000);
  EXPECT_TRUE(joined(a, b));
  EXPECT_EQ(a.holder(2), "b");
  EXPECT_EQ(a.peer(0).connects(), 2U);
  EXPECT_EQ(a.log.count("Connection refused"), 1) << "a cause is told once, however often it is tried";
}

TEST_F(links_of_nodes, try_for_ever_ever_more_rarely) {
  auto& a = world.add("a", {"b"});
  world.pass(1'000);
  const auto early = a.dialled.size();
  EXPECT_GE(early, 4U);
  EXPECT_LE(early, 12U);
  world.pass(600'000);
  const auto later = a.dialled.size() - early;
  EXPECT_GE(later, 600'000U / 5'000U);
  EXPECT_LE(later, 600'000U / 2'500U + 10);
  world.add("b", {});
  world.pass(5'000);
  EXPECT_TRUE(a.sees("b"));
}

TEST_F(links_of_nodes, begin_again_with_short_waits_after_a_connection) {
  auto& a = world.add("a", {"b"});
  world.pass(60'000);
  auto& b = world.add("b", {});
  world.pass(6'000);
  ASSERT_TRUE(a.sees("b"));
  world.part(a, b);
  world.mend();
  world.pass(100);
  EXPECT_TRUE(a.sees("b"));
}

TEST_F(links_of_nodes, refuse_another_cluster_on_both_sides_once_and_go_on_trying) {
  auto& b = world.add("b", {}, [](v1::Hello& me) { me.set_cluster("red"); });
  auto& a = world.add("a", {"b"});
  world.pass(100'000);
  EXPECT_FALSE(a.sees("b"));
  EXPECT_FALSE(b.sees("a"));
  EXPECT_TRUE(a.peer(0).refused());
  EXPECT_EQ(a.peer(0).node(), "b");
  EXPECT_EQ(a.peer(0).reason().rfind("node a is of cluster blue, node b of cluster red", 0), 0U);
  ASSERT_EQ(b.shell->peers().size(), 1U);
  EXPECT_TRUE(b.peer(0).refused());
  EXPECT_EQ(b.peer(0).reason(), "node a is of cluster blue, node b of cluster red");
  EXPECT_EQ(a.log.count("of cluster"), 1);
  EXPECT_EQ(b.log.count("of cluster"), 1);
  EXPECT_GE(a.dialled.size(), 4U);
  EXPECT_LE(a.dialled.size(), 15U) << "at most every 15 s once it has become clear";
  EXPECT_TRUE(a.watched.empty());
  EXPECT_TRUE(b.watched.empty());
  // Somebody has mended the one.
  world.kill(b);
  world.add("b", {});
  world.pass(31'000);
  EXPECT_TRUE(a.sees("b"));
  EXPECT_FALSE(a.peer(0).refused());
}

TEST_F(links_of_nodes, what_one_side_alone_knows_keeps_both_apart) {
  // Only b knows the node c, whose shard a claims too.
  auto& c = world.add("c", {});
  auto& b = world.add("b", {"c"});
  c.shell->on_claim(links_world::claim(3, "first"));
  world.pass(6'000);
  auto& a = world.add("a", {"b"});
  a.shell->on_claim(links_world::claim(3, "second"));
  world.pass(100'000);
  EXPECT_FALSE(a.sees("b"));
  EXPECT_FALSE(b.sees("a"));
  EXPECT_EQ(b.holder(3), "c") << "the one that was there first keeps its place";
  EXPECT_NE(a.peer(0).reason().find("shard 3 is held by node c, and node a claims it too with another store"), std::string::npos);
  EXPECT_EQ(b.log.count("shard 3 is held by node c"), 1);
}

TEST_F(links_of_nodes, a_newcomer_that_refuses_is_not_connected_on_the_other_side_either) {
  // Now it is the one that dials who has another of the peer's name already.
  auto& first = world.add("b", {}, [](v1::Hello& me) { me.set_node_id("first"); });
  auto& a = world.add("a", {"b", "other"});
  world.pass(6'000);
  ASSERT_TRUE(joined(a, first));
  auto& second = world.add("b", {}, [](v1::Hello& me) { me.set_node_id("second"); });
  second.address = "other";
  world.pass(100'000);
  EXPECT_TRUE(joined(a, first));
  EXPECT_FALSE(second.sees("a"));
  EXPECT_TRUE(a.peer(1).refused());
  EXPECT_NE(a.peer(1).reason().find("another node named b is already in the cluster"), std::string::npos);
  EXPECT_EQ(second.log.count("another node named b is already in the cluster"), 1);
  EXPECT_EQ(second.log.count("is connected"), 0);
}

TEST_F(links_of_nodes, a_second_claim_of_a_shard_parts_nodes_that_were_connected) {
  auto& b = world.add("b", {});
  auto& a = world.add("a", {"b"});
  world.pass(1'000);
  ASSERT_TRUE(joined(a, b));
  b.shell->on_claim(links_world::claim(1, "first"));
  world.run();
  EXPECT_EQ(a.holder(1), "b");
  a.shell->on_claim(links_world::claim(1, "second"));
  world.pass(100);
  EXPECT_FALSE(a.sees("b"));
  EXPECT_FALSE(b.sees("a"));
  EXPECT_EQ(b.holder(1), "b");
  EXPECT_EQ(a.holder(1), "a");
  EXPECT_TRUE(a.peer(0).refused());
}

TEST_F(links_of_nodes, a_shard_goes_on_where_its_later_lineage_is_and_the_earlier_one_is_let_go_by_name) {
  const auto claim = [](std::int64_t made_unix_ms) {
    auto out = links_world::claim(2);
    out.mutable_lineage()->set_made_unix_ms(made_unix_ms);
    return out;
  };
  auto& agents = world.add("agents", {"lost", "restored"});
  auto& lost = world.add("lost", {});
  lost.shell->on_claim(claim(1'000));
  world.pass(10'000);
  ASSERT_EQ(agents.holder(2), "lost");
  auto& restored = world.add("restored", {});
  restored.shell->on_claim(claim(2'000));
  world.pass(10'000);
  EXPECT_EQ(agents.holder(2), "restored");
  EXPECT_FALSE(agents.sees("lost"));
  world.pass(40'000);
  EXPECT_EQ(agents.holder(2), "restored") << "and stays so, however often the other one comes back";
  EXPECT_FALSE(agents.sees("lost"));
  EXPECT_NE(agents.peer(0).reason().find("is of an earlier lineage"), std::string::npos) << agents.peer(0).reason();
}

TEST_F(links_of_nodes, a_node_that_serves_an_earlier_lineage_learns_of_the_later_one) {
  const auto claim = [](std::int64_t made_unix_ms) {
    auto out = links_world::claim(2);
    out.mutable_lineage()->set_made_unix_ms(made_unix_ms);
    return out;
  };
  auto& restored = world.add("restored", {"first"});
  restored.shell->on_claim(claim(2'000));
  for (const auto* const name : {"first", "second"}) {
    auto& lost = world.add(name, name == std::string("first") ? std::vector<std::string>{} : std::vector<std::string>{"restored"});
    lost.shell->on_claim(claim(1'000));
    world.pass(40'000);
    EXPECT_FALSE(lost.sees("restored"));
    EXPECT_EQ(lost.memory.lineages[2].made_unix_ms(), 2'000) << name << ": whoever of the two connects";
  }
}

TEST_F(links_of_nodes, a_restarted_node_takes_its_place_before_the_old_connection_is_known_to_be_lost) {
  auto& a = world.add("a", {"b"});
  auto& b = world.add("b", {});
  b.shell->on_claim(links_world::claim(2));
  world.pass(6'000);
  ASSERT_EQ(a.holder(2), "b");
  b.alive = false;  // nobody is told
  auto& next = world.add("b", {"a"}, [](v1::Hello& me) { me.set_incarnation(2); });
  next.shell->on_claim(links_world::claim(2));
  world.pass(1'000);
  EXPECT_TRUE(joined(a, next));
  EXPECT_EQ(a.routes[2].via, a.token_of(&next));
  EXPECT_EQ(a.shell->gateways().size(), 1U);
  EXPECT_EQ(a.watched.size(), 1U);
  // An older copy of its folder is found out, whenever it comes.
  world.kill(next);
  auto& old = world.add("b", {"a"});
  world.pass(10'000);
  EXPECT_FALSE(a.sees("b"));
  EXPECT_TRUE(old.peer(0).refused());
  EXPECT_NE(old.peer(0).reason().find("shows incarnation 1, but its incarnation 2 was connected before"), std::string::npos);
}

TEST_F(links_of_nodes, a_peer_that_is_the_node_itself_is_noted_once_and_left_alone) {
  auto& a = world.add("a", {"a"});
  world.pass(100'000);
  EXPECT_EQ(a.dialled.size(), 1U);
  EXPECT_EQ(a.log.count("is this node itself"), 1);
  EXPECT_TRUE(a.shell->gateways().empty());
  ASSERT_EQ(a.shell->peers().size(), 1U);
  EXPECT_EQ(a.peer(0).reason(), "this address leads to this node itself");
  EXPECT_FALSE(a.peer(0).refused());
}

TEST_F(links_of_nodes, a_gateway_that_does_not_answer_is_given_up_although_its_connection_stands) {
  auto& a = world.add("a", {"b"});
  auto& b = world.add("b", {});
  b.shell->on_claim(links_world::claim(2));
  world.pass(1'000);
  ASSERT_EQ(a.holder(2), "b");
  b.answers = false;
  world.pass(12'000);
  EXPECT_FALSE(a.sees("b"));
  EXPECT_NE(a.routes[2].reason.find("its gateway does not answer"), std::string::npos);
  b.answers = true;
  world.pass(12'000);
  EXPECT_TRUE(joined(a, b));
  EXPECT_EQ(a.holder(2), "b");
}

TEST_F(links_of_nodes, one_answer_that_is_lost_parts_nobody) {
  auto& a = world.add("a", {"b"});
  auto& b = world.add("b", {});
  world.pass(1'000);
  b.answers = false;
  world.pass(5'500);
  b.answers = true;
  world.pass(30'000);
  EXPECT_TRUE(joined(a, b));
  EXPECT_EQ(a.peer(0).connects(), 1U);
}

TEST_F(links_of_nodes, a_node_without_shards_takes_their_number_from_the_first_that_has_some) {
  auto& agent = world.add("agent", {"b", "c"}, [](v1::Hello& me) { me.set_shard_count(0); });
  EXPECT_TRUE(agent.totals.empty());
  EXPECT_TRUE(agent.shell->routes().empty());
  auto& b = world.add("b", {});
  b.shell->on_claim(links_world::claim(1));
  world.pass(6'000);
  EXPECT_EQ(agent.totals, std::vector<std::uint32_t>{4});
  EXPECT_EQ(agent.holder(1), "b");
  auto& c = world.add("c", {}, [](v1::Hello& me) { me.set_shard_count(9); });
  world.pass(6'000);
  EXPECT_TRUE(agent.sees("b"));
  EXPECT_FALSE(agent.sees("c"));
  EXPECT_NE(agent.peer(1).reason().find("shards"), std::string::npos);
  EXPECT_EQ(agent.totals, std::vector<std::uint32_t>{4});
  EXPECT_TRUE(c.shell->gateways().empty());
}

TEST_F(links_of_nodes, started_again_after_a_crash_take_no_route_back_that_still_holds) {
  auto& a = world.add("a", {"b"});
  auto& b = world.add("b", {});
  auto& c = world.add("c", {"a"});  // which a has no address of
  a.shell->on_claim(links_world::claim(0));
  b.shell->on_claim(links_world::claim(2));
  c.shell->on_claim(links_world::claim(3));
  world.pass(6'000);
  ASSERT_EQ(a.holder(3), "c");
  a.told.clear();
  a.restart_links();
  world.pass(10'000);
  EXPECT_TRUE(a.told.empty());
  EXPECT_EQ(a.shell->gateways().size(), 2U);
  EXPECT_EQ(a.shell->routes()[0].via, own_gateway);
  EXPECT_EQ(a.watched.size(), 2U);
}

TEST_F(links_of_nodes, started_again_after_a_crash_take_back_what_does_not_hold_any_more) {
  auto& a = world.add("a", {"b"});
  auto& b = world.add("b", {});
  b.shell->on_claim(links_world::claim(2));
  world.pass(6'000);
  ASSERT_EQ(a.holder(2), "b");
  b.alive = false;  // while nobody looks
  a.restart_links();
  world.pass(10'000);
  EXPECT_EQ(a.holder(2), "");
}

TEST_F(links_of_nodes, count_what_makes_no_sense_and_tell_it_rarely) {
  auto& a = world.add("a", {});
  for (int i = 0; i < 100; ++i) {
    v1::Hello nonsense;
    nonsense.set_node("\x1b[2J");
    const auto reply = a.shell->on_hello(nonsense, 1'000 + static_cast<gateway_token>(i));
    EXPECT_EQ(reply.error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
    EXPECT_EQ(reply.me().node(), "a");
  }
  EXPECT_EQ(a.shell->refused_messages(), 100U);
  EXPECT_EQ(a.log.count("invalid greeting"), 1);
  EXPECT_TRUE(a.watched.empty());
  EXPECT_TRUE(a.shell->peers().empty());
}

TEST_F(links_of_nodes, refused_strangers_are_remembered_in_bounds_and_forgotten) {
  auto& a = world.add("a", {});
  for (int i = 0; i < 1'000; ++i) {
    auto stranger = a.options.me;
    stranger.set_cluster("red");
    stranger.set_node("n" + std::to_string(i));
    stranger.set_version(std::string(100'000, '\n'));
    EXPECT_EQ(a.shell->on_hello(stranger, 1'000 + static_cast<gateway_token>(i)).error().code(), v1::ERROR_CODE_CONFLICT);
  }
  EXPECT_EQ(a.shell->peers().size(), 64U);
  EXPECT_LE(a.peer(0).version().size(), 64U);
  EXPECT_EQ(a.peer(0).version().find('\n'), std::string::npos);
  world.pass(200'000);
  EXPECT_TRUE(a.shell->peers().empty());
}

TEST_F(links_of_nodes, greet_only_so_many_unknown_nodes_at_a_time) {
  auto& a = world.add("a", {});
  int taken = 0;
  for (int i = 0; i < 1'000; ++i) {
    auto stranger = a.options.me;
    stranger.set_node("n" + std::to_string(i));
    stranger.set_node_id("id" + std::to_string(i));
    const auto reply = a.shell->on_hello(stranger, 1'000 + static_cast<gateway_token>(i));
    if (reply.error().code() == v1::ERROR_CODE_OK) {
      ++taken;
    } else {
      EXPECT_EQ(reply.error().code(), v1::ERROR_CODE_OVERLOADED);
    }
  }
  EXPECT_EQ(taken, 256);
  EXPECT_EQ(a.watched.size(), 256U);
  world.pass(4'000);
  EXPECT_TRUE(a.watched.empty()) << "none of them has answered";
  EXPECT_TRUE(a.shell->gateways().empty());
}

TEST_F(links_of_nodes, a_lost_node_that_nobody_has_configured_is_shown_for_an_hour) {
  auto& a = world.add("a", {});
  auto& b = world.add("b", {"a"});
  world.pass(1'000);
  ASSERT_TRUE(a.sees("b"));
  world.kill(b);
  world.pass(600'000);
  ASSERT_EQ(a.shell->peers().size(), 1U);
  EXPECT_FALSE(a.peer(0).connected());
  EXPECT_EQ(a.peer(0).reason(), "the connection was lost");
  world.time.ms += 3'600'000;
  world.pass(60'000);
  EXPECT_TRUE(a.shell->peers().empty());
}

}  // namespace
}  // namespace fairlead
