#include <gtest/gtest.h>

#include "tests/app/config/node_file.hpp"

namespace fairlead::app {
namespace {

TEST(api_config, is_off_unless_it_is_there) {
  EXPECT_FALSE(parsed("").config.api);
  const auto on = parsed("api: {}").config;
  ASSERT_TRUE(on.api);
  EXPECT_EQ(to_text(*on.api->listen), "127.0.0.1:7190");
  EXPECT_EQ(to_text(*parsed("api: { listen: \"[::1]:80\" }").config.api->listen), "[::1]:80");
}

TEST(api_config, stays_off_the_ports_of_the_node) {
  EXPECT_EQ(problems_of("api: { listen: 7190 }").size(), 1U);
  EXPECT_EQ(problems_of("api: { listen: \"localhost:7100\" }").size(), 1U);
  EXPECT_EQ(problems_of("http: { listen: 127.0.0.1:7190 }\napi: {}").size(), 1U) << "also where the default is in the way";
}

TEST(api_config, is_reached_from_other_machines_only_with_tls_and_tokens) {
  const std::string tls = "tls: { certificate: c.pem, key: k.pem }", tokens = "access: { tokens_file: tokens.yaml }\n";
  for (const std::string at : {"0.0.0.0:7190", "node.example:7190"}) {
    EXPECT_EQ(problems_of("api: { listen: \"" + at + "\" }").size(), 2U) << at;
    EXPECT_EQ(problems_of(tokens + "api: { listen: \"" + at + "\" }").size(), 1U) << at;
    EXPECT_EQ(problems_of("api: { listen: \"" + at + "\", " + tls + " }").size(), 1U) << at;
    EXPECT_EQ(problems_of(tokens + "api: { listen: \"" + at + "\", " + tls + " }").size(), 0U) << at;
  }
  const auto read = parsed(tokens + "api: { listen: \"0.0.0.0:7190\", " + tls + ", hosts: [Node.Example, \"::1\"] }").config;
  EXPECT_TRUE(read.access.tokens_file.ends_with("tokens.yaml"));
  EXPECT_TRUE(read.api->certificate.ends_with("c.pem") && read.api->key.ends_with("k.pem"));
  EXPECT_EQ(read.api->hosts, (std::vector<std::string>{"node.example", "::1"}));
}

TEST(api_config, knows_users_of_a_socket) {
  const auto read = parsed("api: { socket: api.sock }\naccess: { users: { root: [admin], nobody: [viewer, payloads] } }").config;
  EXPECT_FALSE(read.api->listen) << "a socket alone listens on no port";
  EXPECT_TRUE(read.api->socket.ends_with("api.sock"));
  ASSERT_EQ(read.access.users.size(), 2U);
  EXPECT_EQ(read.access.users[0].uid, 0U);
  EXPECT_EQ(read.access.users[1].roles, (std::vector<std::string>{"viewer", "payloads"}));
}

TEST(api_config, refuses_what_cannot_be_meant) {
  EXPECT_EQ(problems_of("api: { socket: s }\naccess: { users: { root: [boss] } }").size(), 2U) << "no such role, and so no role";
  EXPECT_EQ(problems_of("api: { socket: s }\naccess: { users: { no-such-user-here: [viewer] } }").size(), 1U);
  EXPECT_EQ(problems_of("api: {}\naccess: { users: { root: [viewer] } }").size(), 1U) << "there is no socket";
  EXPECT_EQ(problems_of("api: { socket: s, tls: { certificate: c, key: k } }").size(), 1U) << "a socket has no TLS";
  EXPECT_EQ(problems_of("api: { tls: { certificate: c } }").size(), 1U);
  EXPECT_EQ(problems_of("api: { hosts: [\"a b\"] }").size(), 1U);
  EXPECT_EQ(problems_of("api: { socket: " + std::string(120, 'x') + " }").size(), 1U);
  EXPECT_EQ(problems_of("access: { token_file: x }").size(), 1U) << "an unknown key";
}

}  // namespace
}  // namespace fairlead::app
