#include <gtest/gtest.h>

#include "tests/app/config/node_file.hpp"

namespace fairlead::app {
namespace {

TEST(api_config, is_off_unless_it_is_there) {
  EXPECT_FALSE(parsed("").config.api);
  const auto on = parsed("api: {}").config;
  ASSERT_TRUE(on.api);
  EXPECT_EQ(to_text(*on.api), "127.0.0.1:7190");
  EXPECT_EQ(to_text(*parsed("api: { listen: \"[::1]:80\" }").config.api), "[::1]:80");
}

TEST(api_config, stays_on_this_machine_and_off_the_ports_of_the_node) {
  EXPECT_EQ(problems_of("api: { listen: 0.0.0.0:7190 }").size(), 1U);
  EXPECT_EQ(problems_of("api: { listen: node.example:7190 }").size(), 1U);
  EXPECT_EQ(problems_of("api: { listen: 7190 }").size(), 1U);
  EXPECT_EQ(problems_of("api: { listen: \"localhost:7100\" }").size(), 1U);
  EXPECT_EQ(problems_of("http: { listen: 127.0.0.1:7190 }\napi: {}").size(), 1U) << "also where the default is in the way";
  EXPECT_EQ(problems_of("api: { hosts: [a] }").size(), 1U);
}

}  // namespace
}  // namespace fairlead::app
