// The parts of the client that need no node: addresses, and how a submission is cut.

#include <gtest/gtest.h>

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
