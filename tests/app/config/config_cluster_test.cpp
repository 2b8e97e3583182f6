#include <gtest/gtest.h>

#include "app/config/config.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

config_file whole_file(const std::string& text) { return parse_node_config("/etc/fairlead/n.yaml", text); }
lines whole_problems(const std::string& text) { return shown(whole_file(text).problems); }
std::string with_node(const std::string& more) { return "node:\n  name: n\n" + more + "\nstore: { path: d }\n"; }
std::string with_root(const std::string& more) { return "node: { name: n }\nstore: { path: d }\n" + more + "\n"; }

TEST(config_cluster, reads_every_key) {
  const auto file = whole_file(R"(
node:
  name: n
  listen: 127.0.0.1:7100
  cluster: blue
  peers: [127.0.0.1:7101, "[::1]:7102", node.example:7100]
  data: ../who
roles: [shard]
store: { path: data }
shards: { count: 4, here: [3, 1] }
http: { listen: 127.0.0.1:7180 }
)");
  EXPECT_EQ(shown(file.problems), lines{});
  const auto& c = file.config;
  EXPECT_EQ(c.cluster, "blue");
  EXPECT_EQ(c.peers, (std::vector<std::string>{"127.0.0.1:7101", "[::1]:7102", "node.example:7100"}));
  EXPECT_EQ(c.data_path, "/etc/who");
  EXPECT_EQ(c.shard_count, 4U);
  EXPECT_EQ(c.shards_here, (std::vector<std::uint32_t>{1, 3}));
  ASSERT_TRUE(c.http);
  EXPECT_EQ(c.http->port, 7180);
  EXPECT_EQ(shard_store_path(c, 3), "/etc/fairlead/data/shard-3");
}

TEST(config_cluster, a_file_that_says_nothing_is_a_cluster_of_one_shard) {
  const auto file = whole_file(with_root(""));
  EXPECT_EQ(shown(file.problems), lines{});
  const auto& c = file.config;
  EXPECT_EQ(c.cluster, "default");
  EXPECT_TRUE(c.peers.empty());
  EXPECT_EQ(c.data_path, "/etc/fairlead/d") << "beside the tasks";
  EXPECT_EQ(c.shard_count, 1U);
  EXPECT_EQ(c.shards_here, std::vector<std::uint32_t>{0});
  EXPECT_FALSE(c.http);
  EXPECT_EQ(shard_store_path(c, 0), "/etc/fairlead/d");
}

TEST(config_cluster, a_node_of_agents_alone_needs_a_folder_and_no_store) {
  const auto file = whole_file("node: { name: n, data: who, peers: [127.0.0.1:7101] }\nroles: [agent]\n");
  EXPECT_EQ(shown(file.problems), lines{});
  EXPECT_FALSE(file.config.shard_role);
  EXPECT_TRUE(file.config.agent_role);
  EXPECT_TRUE(file.config.shards_here.empty());
  EXPECT_EQ(file.config.data_path, "/etc/fairlead/who");
  EXPECT_EQ(whole_problems("node: { name: n }\nroles: [agent]\n"),
            lines{"1:7: node.data: this key is missing; a node without a store needs a folder for its identity"});
  EXPECT_EQ(whole_problems("node: { name: n, data: who }\nroles: [agent]\nshards: { here: [0] }\n"),
            lines{"3:9: shards: a node without the role shard has no shards, and gets the number of shards from the other nodes; remove "
                  "this key, or add the role shard"});
}

TEST(config_cluster, names_line_key_and_expectation_of_every_wrong_peer) {
  const std::string what = "expected HOST:PORT of another node, such as 127.0.0.1:7101, found ";
  EXPECT_EQ(whole_problems(with_node("  peers: 127.0.0.1:7101")), lines{"3:10: node.peers: expected a list, found \"127.0.0.1:7101\""});
  EXPECT_EQ(whole_problems(with_node("  peers: [node, 127.0.0.1, 127.0.0.1:0, 5, \"\"]")),
            (lines{"3:11: node.peers[0]: " + what + "\"node\"", "3:17: node.peers[1]: " + what + "\"127.0.0.1\"",
                   "3:28: node.peers[2]: " + what + "\"127.0.0.1:0\"", "3:41: node.peers[3]: expected text, found the number 5",
                   "3:44: node.peers[4]: the text is empty"}));
  EXPECT_EQ(whole_problems(with_node("  peers: [a:1, b:1, a:1, a:2]")),
            lines{"3:21: node.peers[2]: this peer is listed twice; remove one of them"});
  EXPECT_EQ(whole_problems(with_node("  listen: 127.0.0.1:7105\n  peers: [127.0.0.1:7105, localhost:7105, 127.0.0.2:7105]")),
            (lines{"4:11: node.peers[0]: this is the node's own address (node.listen); list only other nodes",
                   "4:27: node.peers[1]: this is the node's own address (node.listen); list only other nodes"}));
  EXPECT_EQ(whole_problems(with_node("  peers: [127.0.0.1:7100]")),
            lines{"3:11: node.peers[0]: this is the node's own address (node.listen); list only other nodes"});
  std::string many;
  for (int i = 1; i <= 257; ++i) many += (i == 1 ? "h:" : ", h:") + std::to_string(i);
  EXPECT_EQ(whole_problems(with_node("  peers: [" + many + "]")).size(), 1U);
}

TEST(config_cluster, names_line_key_and_expectation_of_every_other_wrong_value) {
  struct bad_case {
    std::string text;
    std::string problem;
  };
  const std::vector<bad_case> of_node{
      {"  cluster: 5", "3:12: node.cluster: expected text, found the number 5"},
      {"  cluster: a b", "3:12: node.cluster: expected a letter, then letters, digits, _, . and -; at most 64 in all"},
      {"  data: []", "3:9: node.data: expected text, found a list"},
      {"  peer: []", "3:3: node.peer: this key is not known here; did you mean peers?"},
  };
  for (const auto& c : of_node) EXPECT_EQ(whole_problems(with_node(c.text)), lines{c.problem});
  const std::vector<bad_case> of_root{
      {"shards: 4", "3:9: shards: expected a map, found the number 4"},
      {"shards: { count: 0 }", "3:18: shards.count: expected a whole number from 1 to 256, found the number 0"},
      {"shards: { count: 257 }", "3:18: shards.count: expected a whole number from 1 to 256, found the number 257"},
      {"shards: { count: 4 }", "3:9: shards.here: this key is missing; expected the list of this node's shards, such as [0]"},
      {"shards: { count: 4, here: 1 }", "3:27: shards.here: expected a list, found the number 1"},
      {"shards: { count: 4, here: [] }",
       "3:27: shards.here: a node with the role shard needs at least one shard; list its shards, such as [0], or remove the role"},
      {"shards: { count: 4, here: [1, 4] }", "3:31: shards.here[1]: expected a whole number from 0 to 3, found the number 4"},
      {"shards: { count: 4, here: [-1] }", "3:28: shards.here[0]: expected a whole number from 0 to 3, found the number -1"},
      {"shards: { count: 4, here: [2, 2] }", "3:31: shards.here[1]: this shard is listed twice; remove one of them"},
      {"shards: { here: [1] }", "3:18: shards.here[0]: expected a whole number from 0 to 0, found the number 1"},
      {"shards: { count: 1, heer: [0] }", "3:21: shards.heer: this key is not known here; did you mean here?"},
      {"http: 7180", "3:7: http: expected a map, found the number 7180"},
      {"http: {}", "3:7: http.listen: this key is missing; expected HOST:PORT, such as 127.0.0.1:7180"},
      {"http: { listen: 7180 }", "3:17: http.listen: expected text, found the number 7180"},
      {"http: { listen: nowhere }", "3:17: http.listen: expected HOST:PORT, such as 127.0.0.1:7180, found \"nowhere\""},
      {"http: { listen: 127.0.0.1:7100 }", "3:17: http.listen: the node itself listens on this address (node.listen); choose another port"},
      {"http: { lisen: 127.0.0.1:7180, listen: 127.0.0.1:7180 }", "3:9: http.lisen: this key is not known here; did you mean listen?"},
  };
  for (const auto& c : of_root) EXPECT_EQ(whole_problems(with_root(c.text)), lines{c.problem});
}

TEST(config_cluster, every_shard_has_to_get_a_part_of_the_launches_in_flight) {
  const std::string problem =
      "cron.in_flight: this limit is divided among the 4 shards of the cluster (shards.count), and some shards would get 0; set it to at "
      "least 4, "
      "or 0 for no limit";
  EXPECT_EQ(whole_problems(with_root("shards: { count: 4, here: [0] }\ncron: { in_flight: 3 }")), lines{"4:20: " + problem});
  EXPECT_EQ(whole_problems(with_root("cron: { in_flight: 1, starts_per_second: 1 }\nshards: { count: 4, here: [0] }")),
            lines{"3:20: " + problem});
  for (const auto* sound : {"4", "0"})
    EXPECT_EQ(whole_problems(with_root(std::string{"shards: { count: 4, here: [0] }\ncron: { in_flight: "} + sound + " }")), lines{});
  EXPECT_EQ(whole_problems(with_root("shards: { count: 256, here: [0] }")), lines{}) << "by default there is enough";
  EXPECT_EQ(whole_problems(with_root("cron: { in_flight: 1 }")), lines{});
}

TEST(config_cluster, figures_for_others_need_to_be_wanted_by_name_as_the_port_does) {
  EXPECT_EQ(
      whole_problems(with_root("http: { listen: 0.0.0.0:7180 }")),
      lines{
          "3:17: http.listen: this address can be reached from other machines, and the port shows its pages to everybody who can reach it; "
          "listen on 127.0.0.1, or add trusted_network: true under node if only trusted machines are in the network"});
  EXPECT_EQ(whole_problems("node: { name: n, trusted_network: true }\nstore: { path: d }\nhttp: { listen: 0.0.0.0:7180 }\n"), lines{});
  EXPECT_EQ(whole_problems(with_node("  peers: [10.1.2.3:7100]")), lines{}) << "to connect to another machine opens nothing";
}

TEST(config_cluster, the_log_is_told_what_a_trusted_network_means_only_where_there_is_one) {
  EXPECT_EQ(trust_warning(whole_file("node: { name: n, trusted_network: true }\nstore: { path: d }\n").config), "");
  const auto open =
      whole_file("node: { name: n, trusted_network: true, listen: 0.0.0.0:7100 }\nstore: { path: d }\nhttp: { listen: 10.0.0.1:7180 }\n");
  const auto sentence = trust_warning(open.config);
  EXPECT_NE(sentence.find("0.0.0.0:7100 and 10.0.0.1:7180"), std::string::npos);
  EXPECT_NE(sentence.find("Everybody who can reach the port"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::app
