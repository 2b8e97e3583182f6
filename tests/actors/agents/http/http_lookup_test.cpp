// A lookup asks whether a perform happened, and changes nothing.

#include <gtest/gtest.h>

#include "actors/agents/http/http.hpp"
#include "actors/agents/http/request.hpp"
#include "actors/agents/http/response.hpp"
#include "tests/actors/agents/http/http_backends.hpp"
#include "tests/actors/agents/http/http_test_server.hpp"
#include "tests/actors/agents/http/http_test_support.hpp"

namespace fairlead::test {
namespace {

using namespace agents;

http_agent_config with_lookup(const std::string& base, http_lookup lookup = {}) {
  auto out = one_call(base);
  if (lookup.url.empty()) lookup.url = "/by-key/{perform_key}";
  out.calls["do"].lookup = std::move(lookup);
  return out;
}

v1::Perform a_lookup(const std::string& input = "{}") {
  auto out = a_perform(1, "do", input);
  out.set_direction(v1::DIRECTION_LOOKUP);
  out.set_idempotency_key("order-1/charge/lookup/1");
  out.set_perform_key("order-1/charge/perform/1");
  return out;
}

std::string verdict_of(const attempt_result& result) {
  if (result.fault) return brief(result);
  switch (result.verdict) {
    case v1::LOOKUP_VERDICT_DONE: return "done " + result.output;
    case v1::LOOKUP_VERDICT_NEVER_HAPPENED: return "never happened";
    case v1::LOOKUP_VERDICT_UNKNOWN: return "unknown";
    default: return "no verdict";
  }
}

std::string looked_up(int status, const std::string& body, http_lookup lookup = {}) {
  http_test_server server{[&](peer& p, const seen_request&) { p.answer(status, "", body); }};
  return verdict_of(run_one(*make(with_lookup(server.url(), std::move(lookup))), a_lookup()));
}

TEST(http_lookup, asks_by_the_key_of_the_perform_and_sends_none_of_its_own) {
  http_test_server server{[](peer& p, const seen_request&) { p.answer(200, "OK", R"({"id":7})"); }};
  http_lookup lookup;
  lookup.url = "/charges/{order}/by-key/{perform_key}?own={key}";
  lookup.headers = {{"X-Key", "{perform_key}"}};
  const auto agent = make(with_lookup(server.url(), lookup));
  EXPECT_EQ(agent->lookups(), std::vector<std::string>{"do"});
  EXPECT_EQ(verdict_of(run_one(*agent, a_lookup(R"({"order":"A","perform_key":"mine","key":"mine"})"))), R"(done {"id":7})");
  auto seen = server.seen().at(0);
  EXPECT_EQ(seen.method, "GET");
  EXPECT_EQ(seen.target, "/charges/A/by-key/order-1%2Fcharge%2Fperform%2F1?own=order-1%2Fcharge%2Flookup%2F1");
  EXPECT_EQ(seen.body, "");
  EXPECT_EQ(seen.headers["x-key"], "order-1/charge/perform/1");
  EXPECT_EQ(seen.headers["fairlead-perform-key"], "order-1/charge/perform/1");
  EXPECT_EQ(seen.headers.count("idempotency-key"), 0U);
  EXPECT_EQ(seen.headers.count("fairlead-in-doubt"), 0U);
}

TEST(http_lookup, says_done_unknown_or_that_it_got_no_answer_by_default) {
  EXPECT_EQ(looked_up(200, R"({"id":7})"), R"(done {"id":7})");
  EXPECT_EQ(looked_up(204, ""), "done null");
  for (const int s : {400, 401, 404, 409, 410, 302}) EXPECT_EQ(looked_up(s, "{}"), "unknown") << s;
  for (const int s : {408, 425, 429, 503, 500, 502, 504}) EXPECT_EQ(looked_up(s, "{}"), "transient http_" + std::to_string(s));
}

TEST(http_lookup, says_never_happened_only_where_the_configuration_does) {
  http_lookup lookup;
  lookup.never_happened = {{404, 404}};
  EXPECT_EQ(looked_up(404, "{}", lookup), "never happened");
  EXPECT_EQ(looked_up(410, "{}", lookup), "unknown");
}

TEST(http_lookup, takes_its_own_list_of_what_is_done_in_place_of_every_success) {
  http_lookup lookup;
  lookup.done = {{200, 200}};
  EXPECT_EQ(looked_up(200, "1", lookup), "done 1");
  EXPECT_EQ(looked_up(202, "1", lookup), "unknown") << "accepted is not done";
}

TEST(http_lookup, judges_by_rules_first_and_makes_the_performs_output) {
  http_lookup lookup;
  lookup.output_template = R"({"id":"${ .body.charge.id }"})";
  lookup.rules = {{{}, ".body.state", {R"("pending")"}, {}, http_meaning::transient, R"("still_pending")", ""},
                  {{}, ".body.state", {R"("rejected")"}, {}, http_meaning::never_happened, "", ""},
                  {{}, ".body.state", {R"("lost")"}, {}, http_meaning::unknown, "", ""},
                  {{{404, 404}}, ".body.charge.id", {}, true, http_meaning::done, "", ""}};
  EXPECT_EQ(looked_up(200, R"({"state":"paid","charge":{"id":9007199254740993}})", lookup), R"(done {"id":9007199254740993})");
  EXPECT_EQ(looked_up(200, R"({"state":"pending"})", lookup), "transient still_pending");
  EXPECT_EQ(looked_up(200, R"({"state":"rejected"})", lookup), "never happened");
  EXPECT_EQ(looked_up(200, R"({"state":"lost"})", lookup), "unknown");
  EXPECT_EQ(looked_up(404, R"({"charge":{"id":1}})", lookup), R"(done {"id":1})");
  EXPECT_EQ(looked_up(200, R"({"state":"paid"})", lookup), "permanent bad_response") << "an answer that cannot be read is no verdict";
}

TEST(http_lookup, is_never_in_doubt) {
  const auto end_with = [](http_test_server::script script, std::int64_t budget_ms = 20'000) {
    http_test_server server{std::move(script)};
    auto config = with_lookup(server.url());
    config.max_response_bytes = 1000;
    auto what = a_lookup();
    what.set_try_until_unix_ms(now_ms() + budget_ms);
    return verdict_of(run_one(*make(config), what));
  };
  EXPECT_EQ(end_with([](peer& p, const seen_request&) { p.close(); }), "transient connection_lost");
  EXPECT_EQ(end_with([](peer& p, const seen_request&) {
              p.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{");
              p.close();
            }),
            "transient bad_response");
  EXPECT_EQ(end_with([](peer& p, const seen_request&) { p.answer(200, "OK", "\"" + std::string(2000, 'x') + "\""); }),
            "permanent response_too_large");
  EXPECT_EQ(end_with([](peer& p, const seen_request&) { p.answer(200, "OK", "<html>"); }), "permanent bad_response");
  EXPECT_EQ(end_with([](peer& p, const seen_request&) { p.wait_for_client_to_close(std::chrono::seconds{15}); }, 300), "transient timeout");
  auto config = with_lookup("http://127.0.0.1:1");
  EXPECT_EQ(verdict_of(run_one(*make(config), a_lookup())), "transient connection_refused");
}

TEST(http_lookup, is_refused_where_it_could_not_work) {
  const auto refused = [](http_lookup lookup) {
    const auto config = with_lookup("http://h", std::move(lookup));
    const auto out = check_http_agent(config);
    return out.ok() ? "accepted" : out.failure().sentence;
  };
  http_lookup one;
  EXPECT_EQ(refused(one), "accepted");
  one.method = "DELETE";
  EXPECT_NE(refused(one).find("lookup: method 'DELETE' is not allowed for a lookup"), std::string::npos);
  one = {};
  one.url = "ftp://x";
  EXPECT_NE(refused(one).find("lookup: url has the scheme 'ftp'"), std::string::npos);
  one = {};
  one.done = {{200, 600}};
  EXPECT_NE(refused(one).find("lookup: done: 200-600"), std::string::npos);
  one = {};
  one.output_template = R"("${ .input.a }")";
  EXPECT_NE(refused(one).find("lookup: output: "), std::string::npos);
  one = {};
  one.headers = {{"Idempotency-Key", "x"}};
  EXPECT_NE(refused(one).find("set by the agent itself"), std::string::npos);
}

TEST(http_undo, can_name_the_key_of_what_it_takes_back) {
  http_test_server server{[](peer& p, const seen_request&) { p.answer(200, "OK", "{}"); }};
  auto config = one_call(server.url());
  config.calls["do"].url = "/charges/{perform_key}/refund";
  config.calls["do"].headers = {{"X-Own", "{key}"}};
  const auto agent = make(config);
  auto undo = a_perform(1, "do", R"({"perform_key":"of the input"})");
  undo.set_direction(v1::DIRECTION_UNDO);
  undo.set_idempotency_key("u-1");
  undo.set_perform_key("p-1");
  EXPECT_EQ(brief(run_one(*agent, undo)), "ok {}");
  EXPECT_EQ(brief(run_one(*agent, a_perform(2, "do", R"({"perform_key":"p","key":"k"})"))), "ok {}");
  const auto seen = server.seen();
  EXPECT_EQ(seen.at(0).target, "/charges/p-1/refund");
  EXPECT_EQ(seen.at(0).headers.at("x-own"), "u-1");
  EXPECT_EQ(seen.at(1).target, "/charges/p/refund") << "a perform has only its input";
  EXPECT_EQ(seen.at(1).headers.at("x-own"), "k");
}

TEST(http_key, goes_out_under_the_name_that_the_service_knows) {
  http_test_server server{[](peer& p, const seen_request&) { p.answer(200, "OK", "{}"); }};
  auto config = one_call(server.url());
  config.calls["do"].idempotency.header = "X-Request-Id";
  config.calls["do"].idempotency.valid_for_ms = 86'400'000;
  config.calls["other"].url = "/other";
  const auto agent = make(config);
  EXPECT_EQ(brief(run_one(*agent, a_perform(1, "do"))), "ok {}");
  const auto seen = server.seen().at(0);
  EXPECT_EQ(seen.headers.at("x-request-id"), "order-1/charge/perform/1");
  EXPECT_EQ(seen.headers.count("idempotency-key"), 0U);
  const auto policies = agent->policies();
  ASSERT_EQ(policies.size(), 1U);
  EXPECT_EQ(policies[0].call(), "do");
  EXPECT_EQ(policies[0].key_valid_for_ms(), 86'400'000);
}

TEST(http_key, cannot_go_out_under_a_name_with_another_meaning) {
  for (const char* name : {"Content-Length", "Fairlead-Attempt", "traceparent", "Content-Type", "Host", "two words", ""}) {
    auto config = one_call("http://h");
    config.calls["do"].idempotency.header = name;
    EXPECT_FALSE(check_http_agent(config).ok()) << name;
  }
  auto config = one_call("http://h");
  config.calls["do"].idempotency.header = "X-Key";
  config.calls["do"].headers = {{"x-key", "a"}};
  EXPECT_FALSE(check_http_agent(config).ok()) << "two headers of one name";
}

}  // namespace
}  // namespace fairlead::test
