#include "app/cli/context.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>

namespace fairlead::app {
namespace {

struct cli_context_test : ::testing::Test {
  ~cli_context_test() override { ::unsetenv("FAIRLEAD_NODE"); }
  /// The nodes that `first` asks, beside another command.
  std::string nodes_of(const std::string& words) {
    CLI::App app;
    cli_context context;
    context.nodes = "default:1";
    for (const auto* name : {"first", "second"}) add_client_options(*app.add_subcommand(name), context);
    app.parse("first " + words);
    return context.nodes;
  }
};

TEST_F(cli_context_test, asks_the_nodes_of_the_command_line_before_those_of_the_environment) {
  EXPECT_EQ(nodes_of(""), "default:1");
  ::setenv("FAIRLEAD_NODE", "environment:1", 1);
  EXPECT_EQ(nodes_of(""), "environment:1");
  EXPECT_EQ(nodes_of("--node said:1"), "said:1");
}

struct cli_api_test : ::testing::Test {
  void SetUp() override { forget(); }
  void TearDown() override { forget(); }
  static void forget() {
    for (const auto* const name : {"FAIRLEAD_TOKEN", "FAIRLEAD_CA_FILE"}) ::unsetenv(name);
  }
  std::string file_with(const std::string& text, mode_t mode = 0600) {
    auto path = ::testing::TempDir() + "cli_api_token";
    std::ofstream{path} << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  result<client_options> options() const { return options_of(context, std::chrono::seconds{1}, duration{0}); }
  cli_context context;
};

TEST_F(cli_api_test, a_token_is_of_the_file_or_of_the_environment_and_only_for_an_api) {
  ::setenv("FAIRLEAD_TOKEN", "of-the-environment", 1);
  ::setenv("FAIRLEAD_CA_FILE", "/ca.pem", 1);
  ASSERT_TRUE(options().ok());
  EXPECT_EQ(options()->token, "") << "the port between nodes knows no tokens";
  context.nodes = "https://n1.example.org:7190";
  EXPECT_EQ(options()->token, "of-the-environment");
  EXPECT_EQ(options()->ca_file, "/ca.pem");
  context.token_file = file_with("of-the-file\n");
  context.ca_file = "/other.pem";
  EXPECT_EQ(options()->token, "of-the-file");
  EXPECT_EQ(options()->ca_file, "/other.pem");
  context.nodes = "127.0.0.1:7100,unix:/run/api.sock";
  EXPECT_EQ(options()->token, "of-the-file") << "one of the nodes is asked over its API";
}

TEST_F(cli_api_test, a_file_that_everybody_may_read_is_refused) {
  context.nodes = "unix:/run/api.sock";
  context.token_file = file_with("of-the-file\n", 0644);
  ASSERT_FALSE(options().ok());
  EXPECT_EQ(options().failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(options().failure().sentence.rfind("--token-file: ", 0), 0U) << options().failure().sentence;
  context.token_file = "/nothing/there";
  EXPECT_FALSE(options().ok());
}

TEST_F(cli_api_test, a_token_file_without_an_api_is_a_mistake) {
  context.token_file = file_with("of-the-file\n");
  ASSERT_FALSE(options().ok());
  EXPECT_NE(options().failure().remedy.find("https://"), std::string::npos);
  context.token_file.clear();
  EXPECT_TRUE(options().ok());
}

}  // namespace
}  // namespace fairlead::app
