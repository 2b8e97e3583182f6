#include "actors/supervision/supervision_tree.hpp"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

class clock_by_hand final : public clock {
 public:
  moment now() const override { return at; }
  moment at = from_unix_ms(1'700'000'000'000);
};

class supervision_tree_test : public ::testing::Test {
 protected:
  std::shared_ptr<actor_gauge> start(const std::string& path, const std::string& strategy = "") {
    return tree.started(path, core::restart_kind::permanent, strategy);
  }
  std::vector<std::string> paths() const {
    std::vector<std::string> out;
    for (const auto& one : tree.describe()) out.push_back(one.path());
    return out;
  }
  v1::SupervisedActor shown(const std::string& path) const {
    for (const auto& one : tree.describe())
      if (one.path() == path) return one;
    ADD_FAILURE() << path << " is not there";
    return {};
  }

  clock_by_hand time;
  supervision_tree tree{time};
};

TEST_F(supervision_tree_test, shows_each_branch_as_a_whole_parents_first_and_children_in_the_order_of_their_first_start) {
  start("node", "one_for_one");
  start("node/shards", "one_for_one");
  start("node/shards/0");
  start("node/agents", "one_for_one");
  start("node/agents/b");
  start("node/agents/a");
  start("node/shards/1");
  start("node/shards/0");
  EXPECT_EQ(paths(), (std::vector<std::string>{"node", "node/shards", "node/shards/0", "node/shards/1", "node/agents", "node/agents/b",
                                               "node/agents/a"}));
}

TEST_F(supervision_tree_test, tells_guardians_from_others) {
  start("node", "rest_for_one");
  tree.started("node/a", core::restart_kind::transient, "");
  EXPECT_TRUE(shown("node").guardian());
  EXPECT_EQ(shown("node").strategy(), "rest_for_one");
  EXPECT_FALSE(shown("node/a").guardian());
  EXPECT_EQ(shown("node/a").restart(), "transient");
}

TEST_F(supervision_tree_test, counts_restarts_and_keeps_the_last_reason) {
  start("node/a");
  tree.named("node/a", 7);
  EXPECT_EQ(shown("node/a").state(), "running");
  EXPECT_EQ(shown("node/a").actor_id(), 7U);
  EXPECT_EQ(tree.restarts(), 0U);

  tree.ended("node/a", "restarting", "out of luck");
  EXPECT_EQ(shown("node/a").state(), "restarting");
  time.at += std::chrono::seconds{5};
  start("node/a");
  const auto after = shown("node/a");
  EXPECT_EQ(after.state(), "running");
  EXPECT_EQ(after.restarts(), 1U);
  EXPECT_EQ(after.last_reason(), "out of luck");
  EXPECT_EQ(after.started_at_unix_ms(), to_unix_ms(time.at));
  start("node/b");
  start("node/b");
  EXPECT_EQ(tree.restarts(), 2U);
}

TEST_F(supervision_tree_test, shows_what_the_gauge_of_the_present_one_says) {
  const auto before = start("node/a");
  before->handled = 40;
  const auto now = start("node/a");
  now->handled = 3;
  now->mailbox = 2;
  before->handled = 50;
  EXPECT_EQ(shown("node/a").handled(), 3U);
  EXPECT_EQ(shown("node/a").mailbox(), 2U);
  tree.ended("node/a", "stopped", "");
  EXPECT_EQ(shown("node/a").mailbox(), 0U);
}

TEST_F(supervision_tree_test, forgets_a_whole_branch_and_nothing_beside_it) {
  for (const auto* path : {"node", "node/a", "node/a/b", "node/ab"}) start(path);
  tree.removed("node/a");
  EXPECT_EQ(paths(), (std::vector<std::string>{"node", "node/ab"}));
}

TEST_F(supervision_tree_test, plants_a_crash_only_where_something_runs) {
  EXPECT_FALSE(tree.plant_crash("node/a"));
  const auto gauge = start("node/a");
  EXPECT_TRUE(tree.plant_crash("node/a"));
  EXPECT_TRUE(gauge->crash_next);
  tree.ended("node/a", "restarting", "");
  EXPECT_FALSE(tree.plant_crash("node/a"));
  // The next one starts without the crash that was meant for the one before.
  EXPECT_FALSE(start("node/a")->crash_next);
}

TEST_F(supervision_tree_test, wakes_one_that_waits_when_a_crash_is_planted) {
  int pokes = 0;
  start("node");
  tree.named("node", 1, [&] {
    ++pokes;
    EXPECT_EQ(paths().size(), 1U);  // whoever is woken may look at the tree
  });
  EXPECT_TRUE(tree.plant_crash("node"));
  EXPECT_EQ(pokes, 1);
}

}  // namespace
}  // namespace fairlead
