// The keys of shards that several nodes hold.

#include <gtest/gtest.h>

#include "tests/app/config/node_file.hpp"

namespace fairlead::app {
namespace {

TEST(config_replicas, names_the_nodes_that_hold_the_shards) {
  const auto file = parsed("shards: { replicas: [p, n, o], election_timeout: 300ms, heartbeat: 30ms }");
  EXPECT_EQ(shown(file.problems), lines{});
  EXPECT_EQ(file.config.shard_nodes, (std::vector<std::string>{"n", "o", "p"}));
  EXPECT_EQ(file.config.election_ms, 300);
  EXPECT_EQ(file.config.heartbeat_ms, 30);
  EXPECT_TRUE(parsed("").config.shard_nodes.empty());
}

TEST(config_replicas, says_what_is_wrong_with_each_value) {
  struct bad_case {
    std::string text;
    std::string part;
  };
  const std::vector<bad_case> cases{
      {"replicas: n", "shards.replicas: expected a list"},
      {"replicas: [n, o]", "a replicated shard lives on 3 or 5 nodes; this list has 2"},
      {"replicas: [n, o, p, q]", "this list has 4"},
      {"replicas: [n, o, o]", "shards.replicas[2]: this node is listed twice"},
      {"replicas: [m, o, p]", "this node, n, is not in the list"},
      {"replicas: [n, o, 1p]", "shards.replicas[2]: expected the name of a node"},
      {"replicas: [n, o, p], election_timeout: 1ms", "shards.election_timeout: "},
      {"replicas: [n, o, p], election_timeout: 1s, heartbeat: 400ms", "it is shorter than three times shards.heartbeat"},
  };
  for (const auto& one : cases) {
    const auto problems = problems_of("shards: { " + one.text + " }");
    ASSERT_FALSE(problems.empty()) << one.text;
    EXPECT_NE(problems.front().find(one.part), std::string::npos) << one.text << " -> " << problems.front();
  }
}

}  // namespace
}  // namespace fairlead::app
