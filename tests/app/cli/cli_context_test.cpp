#include "app/cli/context.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

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

}  // namespace
}  // namespace fairlead::app
