// Everything in config/ runs as it is: node files and workflows pass every check, the workflows against the agents of the demo's node.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "app/config/config.hpp"
#include "app/files/workflow_file.hpp"
#include "tests/app/agents_of.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

std::filesystem::path config_folder() {
  const char* source = std::getenv("FAIRLEAD_SOURCE");
  return std::filesystem::path{source == nullptr ? "." : source} / "config";
}

TEST(config_folder, every_node_file_passes) {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(config_folder())) {
    if (entry.path().extension() != ".yaml") continue;
    ++seen;
    EXPECT_EQ(shown(read_node_config(entry.path()).problems), lines{}) << entry.path();
  }
  EXPECT_GE(seen, 1);
}

TEST(config_folder, every_workflow_passes_and_those_of_the_demo_against_its_node) {
  const auto node = read_node_config(config_folder() / "single.yaml");
  const auto agents = catalog_of(node.config);
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(config_folder() / "workflows")) {
    if (entry.is_directory()) continue;
    ++seen;
    EXPECT_EQ(entry.path().extension(), ".yaml");
    // The others are for people to read and to try with `fairlead dev`.
    const bool is_of_demo = std::set<std::string>{"order", "preorder", "replacement"}.count(entry.path().stem()) != 0;
    const auto file = read_workflow(entry.path(), is_of_demo ? &agents : nullptr);
    EXPECT_EQ(shown(file.problems), lines{}) << entry.path();
    EXPECT_EQ(file.definition.name(), entry.path().stem()) << "a workflow's file bears its name";
  }
  EXPECT_GE(seen, 3);
}

TEST(config_folder, the_demo_s_node_is_what_the_demo_expects) {
  const auto node = read_node_config(config_folder() / "single.yaml").config;
  EXPECT_EQ(node.listen.host, "127.0.0.1");
  EXPECT_EQ(node.listen.port, 7100);
  ASSERT_TRUE(node.api && node.api->listen);
  EXPECT_EQ(to_text(*node.api->listen), "127.0.0.1:7190");
  EXPECT_EQ(std::filesystem::path{node.store_path}, (config_folder().parent_path() / "data").lexically_normal());
  ASSERT_EQ(agents_of<agents::http_agent_config>(node).size(), 3U);
  EXPECT_EQ(agents_of<agents::http_agent_config>(node)[0].name, "inventory");
  EXPECT_EQ(agents_of<agents::http_agent_config>(node)[0].base_url, "http://127.0.0.1:7101");
  EXPECT_EQ(agents_of<agents::http_agent_config>(node)[0].calls.at("release").url, "/reservations/release");
  EXPECT_EQ(agents_of<agents::http_agent_config>(node)[1].base_url, "http://127.0.0.1:7102");
  EXPECT_EQ(agents_of<agents::http_agent_config>(node)[1].calls.at("refund").url, "/charges/refund");
  EXPECT_EQ(agents_of<agents::http_agent_config>(node)[2].base_url, "http://127.0.0.1:7103");
  EXPECT_EQ(agents_of<agents::http_agent_config>(node)[2].calls.at("recall").url, "/shipments/recall");
  for (const auto& agent : agents_of<agents::http_agent_config>(node)) EXPECT_EQ(agent.concurrency, 32U);
}

}  // namespace
}  // namespace fairlead::app
