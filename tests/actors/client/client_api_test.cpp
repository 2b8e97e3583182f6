// The client over the API of a node: what it sends, and what it makes of answers.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "actors/client/client.hpp"
#include "tests/actors/client/small_api.hpp"
#include "tests/actors/client/small_node.hpp"

namespace fairlead {
namespace {

using std::chrono::seconds;
using testing::api_answer;
using testing::api_request;
using testing::small_api;
using testing::small_node;

result<client> connect_to(std::vector<std::string> nodes, duration timeout = seconds{15}) {
  client_options out;
  out.nodes = std::move(nodes);
  out.request_timeout = timeout;
  out.token = "fl_abc";
  return client::connect(std::move(out));
}

api_answer problem(int status, const std::string& code) {
  return {status, "application/problem+json",
          R"({"type": "/v1/problems/x", "code": ")" + code +
              R"(", "detail": "What is wrong.", "remedy": "What to do.", "retry_after_ms": null, "errors": []})"};
}

api_answer status_of(const std::string& node) {
  v1::StatusReply reply;
  reply.set_node(node);
  return {200, "application/x-protobuf", reply.SerializeAsString()};
}

TEST(client_over_api, posts_each_request_as_a_message_with_the_token) {
  small_api api{[](const api_request&) {
    v1::TaskShowReply reply;
    reply.mutable_task()->set_id("order-1");
    return api_answer{200, "application/x-protobuf", reply.SerializeAsString()};
  }};
  auto to = connect_to({api.address()});
  ASSERT_TRUE(to.ok()) << to.failure().sentence;
  v1::TaskShowRequest request;
  request.set_id("order-1");
  const auto shown = to->show(request);
  ASSERT_TRUE(shown.ok()) << shown.failure().sentence;
  EXPECT_EQ(shown->task().id(), "order-1");
  ASSERT_EQ(api.asked().size(), 1U);
  const auto asked = api.asked().front();
  EXPECT_EQ(asked.path(), "/v1/requests/TaskShowRequest");
  EXPECT_EQ(asked.body, request.SerializeAsString());
  EXPECT_NE(asked.head.find("authorization: bearer fl_abc\r\n"), std::string::npos) << asked.head;
  EXPECT_NE(asked.head.find("content-type: application/x-protobuf\r\n"), std::string::npos) << asked.head;
}

TEST(client_over_api, hands_on_what_the_node_and_its_door_refuse) {
  std::atomic<int> number{0};
  small_api api{[&](const api_request&) {
    switch (number++) {
      case 0: return problem(401, "unauthenticated");
      case 1: return problem(403, "forbidden");
      case 2: return problem(413, "too_large");
      case 3: return problem(429, "overloaded");
      default: break;
    }
    v1::StatusReply reply;
    reply.mutable_error()->set_code(v1::ERROR_CODE_WRONG_STATE);
    return api_answer{200, "application/x-protobuf", reply.SerializeAsString()};
  }};
  auto to = connect_to({api.address()});
  ASSERT_TRUE(to.ok()) << to.failure().sentence;
  for (const auto code :
       {v1::ERROR_CODE_UNAUTHENTICATED, v1::ERROR_CODE_FORBIDDEN, v1::ERROR_CODE_INVALID_ARGUMENT, v1::ERROR_CODE_OVERLOADED}) {
    const auto refused = to->status_of_node({});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.failure().code, code);
    EXPECT_EQ(refused.failure().sentence, "What is wrong.");
    EXPECT_NE(refused.failure().remedy.find(code == v1::ERROR_CODE_UNAUTHENTICATED ? "--token-file" : "What to do."), std::string::npos);
  }
  const auto refused = to->status_of_node({});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_WRONG_STATE);
}

TEST(client_over_api, whoever_is_unknown_hears_so_before_anything_is_sent) {
  small_api api{[](const api_request&) { return status_of("n1"); }, problem(401, "unauthenticated")};
  const auto to = connect_to({"http://127.0.0.1:1", api.address()});
  ASSERT_FALSE(to.ok());
  EXPECT_EQ(to.failure().code, v1::ERROR_CODE_UNAUTHENTICATED);
  EXPECT_EQ(to.failure().sentence, "What is wrong.");
  EXPECT_TRUE(api.asked().empty());
}

TEST(client_over_api, goes_on_to_a_node_that_knows_it) {
  small_api stranger{[](const api_request&) { return status_of("stranger"); }, problem(401, "unauthenticated")};
  small_api friendly{[](const api_request&) { return status_of("friendly"); }};
  auto to = connect_to({stranger.address(), friendly.address()});
  ASSERT_TRUE(to.ok()) << to.failure().sentence;
  EXPECT_EQ(to->status_of_node({})->node(), "friendly");
}

TEST(client_over_api, asks_again_after_a_loss_and_while_the_node_is_unavailable) {
  std::atomic<int> number{0};
  small_api api{[&](const api_request&) {
    switch (number++) {
      case 0: return problem(503, "unavailable");
      case 1: return api_answer{502, "text/html", "of a proxy"};
      case 2: return api_answer{200, "", "", true};
      default: return status_of("n1");
    }
  }};
  auto to = connect_to({api.address()}, seconds{60});
  ASSERT_TRUE(to.ok()) << to.failure().sentence;
  const auto known = to->status_of_node({});
  ASSERT_TRUE(known.ok()) << known.failure().sentence;
  EXPECT_EQ(known->node(), "n1");
  EXPECT_GE(api.asked().size(), 4U);
}

TEST(client_over_api, a_node_that_does_not_know_the_request_is_of_another_release) {
  small_api api{[](const api_request&) { return problem(404, "not_found"); }};
  auto to = connect_to({api.address()});
  ASSERT_TRUE(to.ok()) << to.failure().sentence;
  const auto refused = to->status_of_node({});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.failure().sentence.find("does not understand this request"), std::string::npos) << refused.failure().sentence;
}

TEST(client_over_api, what_is_no_node_is_told_as_it_is) {
  small_api page{[](const api_request&) { return api_answer{302, "text/html", "elsewhere"}; }};
  auto to = connect_to({page.address()});
  ASSERT_TRUE(to.ok()) << to.failure().sentence;
  const auto refused = to->status_of_node({});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.failure().sentence.find("answered 302"), std::string::npos) << refused.failure().sentence;
}

TEST(client_over_api, nobody_there_is_said_with_the_address) {
  const auto to = connect_to({"http://127.0.0.1:1", "unix:/nothing/there"});
  ASSERT_FALSE(to.ok());
  EXPECT_EQ(to.failure().code, v1::ERROR_CODE_UNAVAILABLE);
  EXPECT_NE(to.failure().sentence.find("http://127.0.0.1:1 (Connection refused)"), std::string::npos) << to.failure().sentence;
  EXPECT_NE(to.failure().sentence.find("unix:/nothing/there ("), std::string::npos) << to.failure().sentence;
  EXPECT_NE(to.failure().remedy.find("--ca-file"), std::string::npos) << to.failure().remedy;
}

TEST(client_over_api, goes_on_to_the_port_between_nodes_of_another) {
  std::atomic<bool> leaves{false};
  small_api api{[&](const api_request&) { return leaves ? api_answer{200, "", "", true} : status_of("api"); }};
  small_node node{"node"};
  auto to = connect_to({api.address(), node.address()}, seconds{60});
  ASSERT_TRUE(to.ok()) << to.failure().sentence;
  EXPECT_EQ(to->status_of_node({})->node(), "api");
  leaves = true;
  const auto known = to->status_of_node({});
  ASSERT_TRUE(known.ok()) << known.failure().sentence;
  EXPECT_EQ(known->node(), "node");
}

TEST(client_over_api, a_token_that_would_break_the_head_is_refused) {
  client_options options;
  options.nodes = {"http://127.0.0.1:1"};
  options.token = "fl_abc\r\nX: y";
  const auto to = client::connect(std::move(options));
  ASSERT_FALSE(to.ok());
  EXPECT_EQ(to.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace fairlead
