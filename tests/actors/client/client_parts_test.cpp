// The parts of the client that need no node: addresses, and how a submission is cut.

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "actors/client/node_address.hpp"
#include "actors/client/split.hpp"
#include "actors/core/request_limits.hpp"
#include "actors/protocol/address.hpp"

namespace fairlead {
namespace {

TEST(client_address, takes_host_and_port) {
  auto v4 = parse_client_address("localhost:7100");
  ASSERT_TRUE(v4.ok());
  EXPECT_EQ(v4->host, "localhost");
  EXPECT_EQ(v4->port, 7100);
  auto v6 = parse_client_address("[::1]:1");
  ASSERT_TRUE(v6.ok());
  EXPECT_EQ(v6->host, "::1");
}

TEST(client_address, refuses_everything_else_by_name) {
  for (const char* text : {"", "localhost", ":7100", "localhost:", "localhost:0", "localhost:65536", "localhost:7x", "localhost:007100",
                           "::1:7100", "[::1]", "[::1]7100", "[::1:7100", "[localhost]:1", "a b:1", "localhost:+1"}) {
    auto read = parse_client_address(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
    EXPECT_NE(read.failure().sentence.find("'" + std::string{text} + "'"), std::string::npos);
  }
}

TEST(node_address, is_of_the_port_between_nodes_or_of_an_api) {
  const auto between = parse_node_address("localhost:7100");
  ASSERT_TRUE(between.ok());
  EXPECT_FALSE(between->is_of_api());
  EXPECT_EQ(between->between.port, 7100);
  const auto named_unix = parse_node_address("unix:7100");
  ASSERT_TRUE(named_unix.ok());
  EXPECT_EQ(named_unix->between.host, "unix") << "a host may be called so";
  for (const auto& [text, url, socket] :
       std::vector<std::array<std::string, 3>>{{"https://n1.example.org:7190", "https://n1.example.org:7190", ""},
                                               {"HTTPS://N1.example.org/", "https://n1.example.org:443", ""},
                                               {"https://10.0.0.7:7190", "https://10.0.0.7:7190", ""},
                                               {"http://localhost:7190", "http://localhost:7190", ""},
                                               {"http://127.0.0.2", "http://127.0.0.2:80", ""},
                                               {"http://[::1]:7190", "http://[::1]:7190", ""},
                                               {"unix:/run/fairlead/api.sock", "http://localhost", "/run/fairlead/api.sock"},
                                               {"unix:api.sock", "http://localhost", "api.sock"}}) {
    const auto read = parse_node_address(text);
    ASSERT_TRUE(read.ok()) << text << ": " << read.failure().sentence;
    EXPECT_TRUE(read->is_of_api()) << text;
    EXPECT_EQ(read->url, url);
    EXPECT_EQ(read->socket, socket);
    EXPECT_EQ(read->text, text);
  }
}

TEST(node_address, refuses_what_would_send_a_token_in_clear_text_to_another_machine) {
  for (const char* text : {"http://n1.example.org:7190", "http://10.0.0.7:7190", "http://0.0.0.0:7190", "http://[::]:7190",
                           "http://localhost.example", "http://127.0.0.1.example:7190"}) {
    const auto read = parse_node_address(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_NE(read.failure().sentence.find("clear text"), std::string::npos) << read.failure().sentence;
    EXPECT_NE(read.failure().remedy.find("https://"), std::string::npos) << read.failure().remedy;
  }
}

TEST(node_address, refuses_what_is_no_address_of_an_api) {
  for (const char* text : {"https://", "https://n1:0", "https://n1:99999", "ftp://n1", "https://n1/v1", "https://n1?a=1",
                           "https://ana:fl_x@n1:7190", "https://n 1", "unix:", "https:///run/api.sock", "://n1"}) {
    const auto read = parse_node_address(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT) << text;
    EXPECT_FALSE(read.failure().remedy.empty()) << text;
  }
  EXPECT_FALSE(parse_node_address("unix:" + std::string(108, 'a')).ok());
  EXPECT_EQ(parse_node_address("https://ana:fl_x@n1:7190").failure().sentence.find("fl_x"), std::string::npos) << "it may be a secret";
  EXPECT_FALSE(parse_node_addresses({}).ok());
  EXPECT_FALSE(parse_node_addresses({"localhost:7100", "https://"}).ok());
}

TEST(client_split, keeps_every_item_in_order_within_the_limits_of_a_message) {
  v1::SubmitRequest whole;
  for (int i = 0; i < 2'100; ++i) whole.add_items()->set_workflow("order");
  for (int i = 0; i < 1'100; ++i) whole.mutable_items(i)->set_input(std::string(2'000, ' '));
  whole.mutable_items(7)->set_input(std::string(max_input_bytes + 1, ' '));
  auto cut = split(std::move(whole));
  EXPECT_EQ(cut.oversized, std::vector<int>{7});
  int expected = 0;
  for (const auto& part : cut.parts) {
    std::size_t bytes = 0;
    ASSERT_EQ(static_cast<std::size_t>(part.request.items_size()), part.positions.size());
    EXPECT_LE(part.request.items_size(), max_request_items);
    for (const auto& item : part.request.items()) bytes += item.input().size();
    EXPECT_LE(bytes, max_input_bytes_a_message);
    for (int position : part.positions) {
      if (expected == 7) ++expected;
      EXPECT_EQ(position, expected++);
    }
  }
  EXPECT_EQ(expected, 2'100);
}
}  // namespace
}  // namespace fairlead
