#include "app/api/work/registration.hpp"

#include <gtest/gtest.h>

namespace fairlead::app::api {
namespace {

struct read_registration {
  explicit read_registration(std::string_view body) {
    auto read = read_json_object(body, "The body", asked.fields(), pointer);
    if (!read) {
      sentence = read.failure().sentence;
      return;
    }
    auto made = asked.read(pointer);
    if (made)
      as = std::move(*made);
    else
      sentence = made.failure().sentence;
  }
  asked_registration asked;
  v1::RegisterAgent as;
  std::string pointer, sentence;
};

/// The least registration with these members besides.
std::string registration_with(const std::string& more) {
  return R"({"agent": "mail", "instance": "m-1", "calls": ["send", "recall"])" + (more.empty() ? "" : ", " + more) + "}";
}
/// Pointer and sentence of the refusal.
std::string registration_refused(const std::string& body) {
  const read_registration read{body};
  return read.pointer + ": " + (read.sentence.empty() ? "accepted" : read.sentence);
}

TEST(worker_registration, needs_agent_instance_and_calls_alone) {
  const read_registration read{registration_with("")};
  ASSERT_EQ(read.sentence, "") << read.pointer;
  EXPECT_EQ(read.as.agent(), "mail");
  EXPECT_EQ(read.as.instance(), "m-1");
  EXPECT_EQ(read.as.kind(), "worker");
  EXPECT_EQ(read.as.capacity(), 1U);
  EXPECT_EQ(read.as.calls_size(), 2);
  EXPECT_FALSE(read.as.has_breaker());
  EXPECT_FALSE(read.asked.session.has_value());
  EXPECT_FALSE(read.asked.take_over);
  for (const char* body :
       {"{}", R"({"instance": "m", "calls": ["a"]})", R"({"agent": "a", "calls": ["a"]})", R"({"agent": "a", "instance": "m"})"})
    EXPECT_NE(read_registration{body}.sentence.find("has no field"), std::string::npos) << body;
}

TEST(worker_registration, takes_all_fields) {
  const read_registration read{registration_with(
      R"("capacity": 1000, "lookups": ["send"], "labels": {"zone": "eu"}, "policies": [{"call": "send", "key_valid_for": "24h"}, {"call": "recall"}],
         "breaker": {"failure_percent": 40, "slow": "2s", "window": "20s"}, "limits": [{"call": "send", "key": ".to", "rate": "50/s"}, {"concurrency": 3}],
         "session": "abc.DEF.7", "have": ["t-1", "t-2"])")};
  ASSERT_EQ(read.sentence, "") << read.pointer;
  EXPECT_EQ(read.as.capacity(), 1'000U);
  EXPECT_EQ(read.as.lookups(0), "send");
  EXPECT_EQ(read.as.labels(0).value(), "eu");
  EXPECT_EQ(read.as.policies(0).key_valid_for_ms(), 86'400'000);
  EXPECT_EQ(read.as.policies(1).key_valid_for_ms(), 0);
  EXPECT_EQ(read.as.breaker().failure_percent(), 40U);
  EXPECT_EQ(read.as.breaker().slow_ms(), 2'000);
  EXPECT_EQ(read.as.limits(0).rate(), 50U);
  EXPECT_EQ(read.as.limits(0).key(), ".to");
  EXPECT_EQ(read.as.limits(1).concurrency(), 3U);
  EXPECT_EQ(read.asked.session, "abc.DEF.7");
  EXPECT_EQ(read.asked.have, (std::vector<std::string>{"t-1", "t-2"}));
  EXPECT_TRUE(read_registration{registration_with(R"("breaker": "off")")}.as.breaker().off());
  EXPECT_TRUE(read_registration{registration_with(R"("take_over": true, "session": null)")}.asked.take_over);
}

TEST(worker_registration, points_to_what_is_wrong) {
  const std::pair<const char*, const char*> rows[] = {
      {R"("capacity": 0)", "/capacity"},
      {R"("capacity": 1001)", "/capacity"},
      {R"("capacity": "8")", "/capacity"},
      {R"("capacity": 1.5)", "/capacity"},
      {R"("lookups": ["ask"])", "/lookups/0"},
      {R"("lookups": "send")", "/lookups"},
      {R"("labels": {"a": 1})", "/labels/a"},
      {R"("labels": {"a=b": "1"})", "/labels/a=b"},
      {R"("labels": ["a"])", "/labels"},
      {R"("policies": [{"call": "ask"}])", "/policies/0/call"},
      {R"("policies": [{"call": "send", "key_valid_for": 5}])", "/policies/0/key_valid_for"},
      {R"("policies": [{"key_valid_for": "5s"}])", "/policies/0/call"},
      {R"("policies": [{"call": "send", "valid": "5s"}])", "/policies/0/valid"},
      {R"("breaker": {"failure_percent": 101})", "/breaker/failure_percent"},
      {R"("breaker": {"percent": 1})", "/breaker/percent"},
      {R"("breaker": 5)", "/breaker"},
      {R"("limits": [{"concurrency": 1}, {"rate": "fast"}])", "/limits/1/rate"},
      {R"("limits": [{"call": "ask", "concurrency": 1}])", "/limits/0/call"},
      {R"("limits": {})", "/limits"},
      {R"("session": "abc")", "/session"},
      {R"("session": "abc.x")", "/session"},
      {R"("session": "abc.")", "/session"},
      {R"("session": ".1")", "/session"},
      {R"("session": "abc.-1")", "/session"},
      {R"("session": "abc.18446744073709551615")", "/session"},
      {R"("session": "abc.18446744073709551616")", "/session"},
      {R"("session": 7)", "/session"},
      {R"("have": ["t"])", "/have"},
      {R"("session": "abc.1", "have": [7])", "/have/0"},
      {R"("session": "abc.1", "have": [""])", "/have/0"},
      {R"("session": "abc.1", "take_over": true)", "/take_over"},
      {R"("take_over": 1)", "/take_over"},
      {R"("agents": "mail")", "/agents"},
      {R"("agent": "mail")", "/agent"},
  };
  for (const auto& [more, pointer] : rows) {
    const auto refused = registration_refused(registration_with(more));
    EXPECT_EQ(refused.substr(0, refused.find(": ")), pointer) << more << " " << refused;
    EXPECT_EQ(refused.find("accepted"), std::string::npos) << more;
  }
  for (const auto& [body, pointer] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({"agent": "ma il", "instance": "m", "calls": ["send"]})", "/agent"},
           {R"({"agent": "mail", "instance": "n1/mail", "calls": ["send"]})", "/instance"},
           {R"({"agent": "mail", "instance": "", "calls": ["send"]})", "/instance"},
           {R"({"agent": "mail", "instance": "m", "calls": []})", "/calls"},
           {R"({"agent": "mail", "instance": "m", "calls": ["send", "send"]})", "/calls/1"},
           {R"({"agent": "mail", "instance": "m", "calls": ["se nd"]})", "/calls/0"},
           {R"([])", ""}}) {
    const auto refused = registration_refused(body);
    EXPECT_EQ(refused.substr(0, refused.find(": ")), pointer) << body << " " << refused;
    EXPECT_EQ(refused.find("accepted"), std::string::npos) << body;
  }
}

TEST(worker_session_text, counts_moves_behind_the_last_dot) {
  const auto read = read_session_text("a.b.c.12");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->words, "a.b.c");
  EXPECT_EQ(read->moves, 12U);
  EXPECT_EQ(to_text(*read), "a.b.c.12");
}

}  // namespace
}  // namespace fairlead::app::api
