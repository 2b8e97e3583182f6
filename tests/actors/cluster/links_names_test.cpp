// Whose a node's name is while that node is away, and how another one takes it.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/actors/cluster/links_world.hpp"

namespace fairlead {
namespace {

using testing::linked_node;
using testing::links_world;

struct name_of_a_node : ::testing::Test {
  links_world world;

  static v1::NodeOperateReply forget(linked_node& at, const std::string& name, bool only_ask = false) {
    v1::NodeOperateRequest what;
    what.set_verb(v1::NODE_VERB_FORGET);
    what.set_forgotten(name);
    what.set_who("ann");
    what.set_reason("its disk is lost");
    what.set_only_ask(only_ask);
    return at.shell->forget(what);
  }
  linked_node& remade(const std::vector<std::string>& peers) {
    return world.add("b", peers, [](v1::Hello& me) {
      me.set_node_id("another-id");
      me.set_incarnation(1'800'000'000);
    });
  }
};

TEST_F(name_of_a_node, stays_with_its_folder_while_it_is_away_until_an_operator_gives_it_up) {
  auto& a = world.add("a", {});
  auto& b = world.add("b", {"a"});
  world.pass(6'000);
  ASSERT_TRUE(a.sees("b"));
  world.kill(b);
  auto& next = remade({"a"});
  world.pass(40'000);
  EXPECT_FALSE(a.sees("b"));
  const auto sentence =
      "another node named b was there before, with another data folder; fairlead node forget b lets this one take its name";
  EXPECT_NE(next.peer(0).reason().find(sentence), std::string::npos) << next.peer(0).reason();
  EXPECT_EQ(a.log.count(sentence), 1);
  bool shown = false;
  for (const auto& peer : a.shell->peers()) shown = shown || (peer.refused() && peer.node() == "b" && peer.reason() == sentence);
  EXPECT_TRUE(shown);

  const auto done = forget(a, "b");
  EXPECT_FALSE(done.has_error()) << done.error().sentence();
  EXPECT_TRUE(done.known());
  EXPECT_EQ(a.log.count("node b was forgotten by ann: its disk is lost; another node may take its name"), 1);
  world.pass(31'000);
  EXPECT_TRUE(a.sees("b"));
  EXPECT_TRUE(next.sees("a"));
}

TEST_F(name_of_a_node, is_not_given_up_while_the_node_is_connected) {
  auto& a = world.add("a", {});
  auto& b = world.add("b", {"a"});
  world.pass(6'000);
  const auto refused = forget(a, "b", true);
  EXPECT_EQ(refused.error().code(), v1::ERROR_CODE_WRONG_STATE);
  EXPECT_EQ(refused.error().sentence(), "node b is connected with node a");
  EXPECT_FALSE(refused.error().remedy().empty());
  // All have been asked, and it has come meanwhile: there is nothing to be forgotten any more.
  EXPECT_FALSE(forget(a, "b").has_error());
  EXPECT_EQ(forget(a, "a").error().sentence(), "node a is running");
  world.kill(b);
  remade({"a"});
  world.pass(40'000);
  EXPECT_FALSE(a.sees("b")) << "what was refused has changed nothing";
}

TEST_F(name_of_a_node, is_refused_to_another_one_once_while_its_own_says_hello_again_and_again) {
  auto& a = world.add("a", {});
  auto& b = world.add("b", {"a"});
  world.pass(6'000);
  ASSERT_TRUE(a.sees("b"));
  auto other = b.options.me;
  other.set_node_id("another-id");
  other.set_run_id("another-run");
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(a.shell->on_hello(other, 1'000).has_error());
    world.pass(4'000);
  }
  EXPECT_TRUE(a.sees("b"));
  EXPECT_EQ(a.log.count("node b is refused: another node named b is already in the cluster"), 1);
  const auto peers = a.shell->peers();
  EXPECT_TRUE(std::any_of(peers.begin(), peers.end(), [](const auto& one) { return one.node() == "b" && one.refused(); }));
}

TEST_F(name_of_a_node, is_given_up_twice_without_harm_and_who_is_only_asked_changes_nothing) {
  auto& a = world.add("a", {});
  auto& b = world.add("b", {"a"});
  world.pass(6'000);
  world.kill(b);
  EXPECT_FALSE(forget(a, "nobody").known());
  EXPECT_FALSE(forget(a, "nobody").has_error());
  EXPECT_TRUE(forget(a, "b", true).known());
  EXPECT_TRUE(forget(a, "b").known()) << "asking has not done it";
  const auto again = forget(a, "b");
  EXPECT_FALSE(again.has_error());
  EXPECT_FALSE(again.known());
  EXPECT_EQ(a.log.count("was forgotten"), 1);
  EXPECT_TRUE(a.shell->peers().empty()) << "it is shown no more";
}

TEST_F(name_of_a_node, a_configured_peer_that_was_refused_for_its_name_is_taken_at_once_when_that_is_given_up) {
  auto& a = world.add("a", {"b"});
  auto& b = world.add("b", {});
  world.pass(6'000);
  world.kill(b);
  auto& next = remade({});
  world.pass(100'000);
  ASSERT_FALSE(a.sees("b"));
  forget(a, "b");
  world.pass(1'000);
  EXPECT_TRUE(a.sees("b"));
  EXPECT_TRUE(next.sees("a"));
}

TEST_F(name_of_a_node, that_is_connected_is_kept_however_many_names_there_are) {
  auto& c = world.add("c", {});
  world.add("a", {"c"});
  world.pass(6'000);
  ASSERT_TRUE(c.sees("a"));
  for (int i = 0; c.memory.names.size() < 4'096; ++i) c.memory.names["gone-" + std::to_string(i)] = "id-gone-" + std::to_string(i);
  world.add("b", {"c"});
  world.pass(6'000);
  EXPECT_EQ(c.memory.names.size(), 4'096u);
  EXPECT_EQ(c.memory.names.count("a"), 1u) << "the first by its letters, and connected";
  EXPECT_EQ(c.memory.names.count("b"), 1u);
}

TEST_F(name_of_a_node, that_was_given_another_one_is_free) {
  auto& a = world.add("a", {});
  auto& b = world.add("b", {"a"});
  world.pass(6'000);
  world.kill(b);
  auto& renamed = world.add("c", {"a"}, [](v1::Hello& me) {
    me.set_node_id("id-b");
    me.set_incarnation(2);
  });
  world.pass(6'000);
  ASSERT_TRUE(a.sees("c"));
  auto& next = remade({"a"});
  world.pass(6'000);
  EXPECT_TRUE(a.sees("b"));
  EXPECT_TRUE(next.sees("a"));
  EXPECT_TRUE(renamed.sees("a"));
}

}  // namespace
}  // namespace fairlead
