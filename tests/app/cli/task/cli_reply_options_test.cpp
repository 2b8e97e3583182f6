#include "app/cli/task/reply_options.hpp"

#include <gtest/gtest.h>

#include "app/json/submission.hpp"

namespace fairlead::app {
namespace {

std::string refusal(const reply_options& options) {
  const auto address = reply_address_of(options);
  if (address.ok()) return "accepted";
  EXPECT_EQ(address.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_FALSE(address.failure().remedy.empty());
  return address.failure().sentence;
}

TEST(cli_reply_options, give_no_address_when_none_is_asked_for) {
  const auto address = reply_address_of({});
  ASSERT_TRUE(address.ok());
  EXPECT_FALSE(address->has_value());
}

TEST(cli_reply_options, give_a_client_or_a_webhook) {
  const auto client = reply_address_of({"shop", std::nullopt, true});
  ASSERT_TRUE(client.ok() && *client);
  EXPECT_EQ((*client)->client(), "shop");
  EXPECT_TRUE((*client)->steps());
  const auto webhook = reply_address_of({std::nullopt, "http://host/x", false});
  ASSERT_TRUE(webhook.ok() && *webhook);
  EXPECT_EQ((*webhook)->webhook(), "http://host/x");
  EXPECT_FALSE((*webhook)->steps());
}

TEST(cli_reply_options, refuse_what_is_no_address) {
  EXPECT_EQ(refusal({"", std::nullopt, false}), "--reply-client is empty");
  EXPECT_EQ(refusal({std::nullopt, "", false}), "--reply-webhook is empty");
  EXPECT_EQ(refusal({"a b", std::nullopt, false}), "The client name of the reply address is not valid");
  EXPECT_EQ(refusal({std::nullopt, "gopher://x", false}), "The webhook URL does not begin with http:// or https://");
  EXPECT_EQ(refusal({std::nullopt, std::nullopt, true}), "--reply-steps is given without a reply address");
}

std::string line_refusal(const std::string& reply) {
  const auto read = parse_batch_line("{\"reply\": " + reply + "}");
  return read.ok() ? "accepted" : read.failure().sentence;
}

TEST(batch_line_reply, is_an_object_with_client_or_webhook_and_steps) {
  const auto client = parse_batch_line(R"({"id": "a", "reply": {"client": "sh\u006fp", "steps": true}})");
  ASSERT_TRUE(client.ok()) << client.failure().sentence;
  EXPECT_EQ(client->reply().client(), "shop");
  EXPECT_TRUE(client->reply().steps());
  const auto webhook = parse_batch_line(R"({"reply": {"webhook": "https://host/x?a={b}"}, "priority": 2})");
  ASSERT_TRUE(webhook.ok()) << webhook.failure().sentence;
  EXPECT_EQ(webhook->reply().webhook(), "https://host/x?a={b}");
  EXPECT_FALSE(webhook->reply().steps());
  EXPECT_EQ(webhook->priority(), 2);
  EXPECT_FALSE(parse_batch_line("{}")->has_reply());
}

TEST(batch_line_reply, names_what_is_wrong) {
  EXPECT_EQ(line_refusal("\"shop\"").rfind("Field 'reply' must be an object", 0), 0U);
  EXPECT_EQ(line_refusal("{}"), "Field 'reply': The reply address names neither a client nor a webhook");
  EXPECT_EQ(line_refusal(R"({"client": "a", "webhook": "http://h/"})"),
            "Field 'reply': The reply address names both a client and a webhook");
  EXPECT_EQ(line_refusal(R"({"client": 7})").rfind("Field 'client' of 'reply' must be a string", 0), 0U);
  EXPECT_EQ(line_refusal(R"({"client": "a", "steps": 1})").rfind("Field 'steps' of 'reply' must be true or false", 0), 0U);
  EXPECT_EQ(line_refusal(R"({"client": "a", "client": "b"})"), "Field 'client' of 'reply' is given twice");
  EXPECT_EQ(line_refusal(R"({"clients": "a"})"), "Unknown field 'clients' of 'reply'");
  EXPECT_EQ(line_refusal(R"({"webhook": "http://user:pw@h/"})"), "Field 'reply': The webhook URL has a user or a password");
}

}  // namespace
}  // namespace fairlead::app
