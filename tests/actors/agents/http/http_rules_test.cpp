// Rules over status and body, keys that are spent, and how long a service asks to be left alone.

#include <gtest/gtest.h>

#include "actors/agents/http/request.hpp"
#include "actors/agents/http/response.hpp"
#include "tests/actors/agents/http/http_backends.hpp"
#include "tests/actors/agents/http/http_test_support.hpp"

namespace fairlead::test {
namespace {

using namespace agents;

http_answer answer_of(int status, const std::string& body) {
  http_answer out;
  out.how = http_answer::ending::answered;
  out.status = status;
  out.body = body;
  out.headers = {{"content-type", "application/json"}, {"x-result", "late"}};
  out.sends = 1;
  return out;
}

http_rule rule(std::vector<status_range> status, const std::string& path, std::vector<std::string> one_of, http_meaning is,
               const std::string& code = "", const std::string& message = "") {
  return {std::move(status), path, std::move(one_of), {}, is, code, message};
}

http_rule rule_on(const std::string& path, bool present, http_meaning is) { return {{}, path, {}, present, is, "", ""}; }

http_prepared_call with_rules(std::vector<http_rule> rules) {
  auto agent = one_call("http://h");
  agent.calls["do"].rules = std::move(rules);
  auto out = prepare_call(agent, "do", agent.calls["do"]);
  EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.failure().sentence);
  return std::move(out).value();
}

std::string ends(std::vector<http_rule> rules, int status, const std::string& body) {
  return brief(conclude(with_rules(std::move(rules)), answer_of(status, body)));
}

std::string refusal(http_rule one, rule_place place = rule_place::call) {
  const auto out = prepare_rule("rule", one, place);
  return out.ok() ? "accepted" : out.failure().sentence;
}

TEST(http_rules, find_the_error_in_a_success) {
  const std::vector<http_rule> rules{rule({{200, 299}}, ".body.error.code", {R"("insufficient_funds")"}, http_meaning::permanent,
                                          R"("insufficient_funds")", R"("${ .body.error.text }")")};
  const auto result = conclude(with_rules(rules), answer_of(200, R"({"error":{"code":"insufficient_funds","text":"empty \u0007 purse"}})"));
  EXPECT_EQ(brief(result), "permanent insufficient_funds");
  EXPECT_EQ(result.fault->message(), "empty . purse");
  EXPECT_EQ(ends(rules, 200, R"({"id":1})"), R"(ok {"id":1})");
  EXPECT_EQ(ends(rules, 404, R"({"error":{"code":"insufficient_funds"}})"), "permanent http_404");
}

TEST(http_rules, find_the_success_in_an_error) {
  const std::vector<http_rule> rules{rule({{409, 409}}, ".body.code", {R"("exists")", R"("there")"}, http_meaning::success)};
  EXPECT_EQ(ends(rules, 409, R"({"code":"there"})"), R"(ok {"code":"there"})");
  EXPECT_EQ(ends(rules, 409, R"({"code":"other"})"), "permanent http_409");
}

TEST(http_rules, decide_in_order_and_before_the_lists) {
  auto agent = one_call("http://h");
  auto& call = agent.calls["do"];
  call.statuses.permanent = {{500, 599}};
  call.rules = {rule({{503, 503}}, "", {}, http_meaning::transient), rule({{500, 599}}, "", {}, http_meaning::in_doubt, R"("first")"),
                rule({{500, 500}}, "", {}, http_meaning::transient, R"("never")")};
  const auto prepared = prepare_call(agent, "do", call);
  ASSERT_TRUE(prepared.ok());
  EXPECT_EQ(brief(conclude(*prepared, answer_of(503, ""))), "transient http_503");
  EXPECT_EQ(brief(conclude(*prepared, answer_of(500, ""))), "in_doubt first");
}

TEST(http_rules, compare_scalars_by_what_they_say) {
  const auto fits_value = [](const std::string& wanted, const std::string& found) {
    return ends({rule({}, ".body.v", {wanted}, http_meaning::permanent, R"("hit")")}, 200, "{\"v\":" + found + "}") == "permanent hit";
  };
  EXPECT_TRUE(fits_value("true", "true"));
  EXPECT_FALSE(fits_value("true", R"("true")"));
  EXPECT_TRUE(fits_value("null", "null"));
  EXPECT_TRUE(fits_value(R"("aé")", R"("a\u00e9")"));
  EXPECT_TRUE(fits_value("5", "5.0"));
  EXPECT_TRUE(fits_value("100", "1e2"));
  EXPECT_FALSE(fits_value("9007199254740993", "9007199254740992"));
  EXPECT_FALSE(fits_value("5", R"("5")"));
  EXPECT_FALSE(fits_value("5", "[5]"));
  EXPECT_FALSE(fits_value("5", "{}"));
}

TEST(http_rules, take_null_for_absent) {
  const std::vector<http_rule> there{rule_on(".body.error", true, http_meaning::permanent)};
  EXPECT_EQ(ends(there, 200, R"({"error":{}})"), "permanent http_200");
  EXPECT_EQ(ends(there, 200, R"({"error":null})"), R"(ok {"error":null})");
  EXPECT_EQ(ends(there, 200, "{}"), "ok {}");
  const std::vector<http_rule> missing{rule_on(".body.id", false, http_meaning::in_doubt)};
  EXPECT_EQ(ends(missing, 200, "{}"), "in_doubt http_200");
  EXPECT_EQ(ends(missing, 200, R"({"id":1})"), R"(ok {"id":1})");
  EXPECT_EQ(ends(missing, 500, "<html>"), "in_doubt http_500") << "in a body that is no JSON nothing is found";
}

TEST(http_rules, look_at_headers_and_status_too) {
  EXPECT_EQ(ends({rule({}, ".headers.x_result", {R"("late")"}, http_meaning::transient)}, 200, "{}"), "transient http_200");
  EXPECT_EQ(ends({rule({}, ".status", {"404"}, http_meaning::success)}, 404, "1"), "ok 1");
}

TEST(http_rules, make_codes_of_what_a_service_says) {
  const auto coded = [](const std::string& found) {
    auto one = rule_on(".body.e", true, http_meaning::permanent);
    one.code = R"("${ .body.e.code }")";
    return ends({one}, 200, R"({"e":{"code":)" + found + "}}");
  };
  EXPECT_EQ(coded(R"("card_declined")"), "permanent card_declined");
  EXPECT_EQ(coded(R"("Card declined!\n")"), "permanent Card_declined__");
  EXPECT_EQ(coded("51"), "permanent 51");
  EXPECT_EQ(coded("null"), "permanent http_200");
  EXPECT_EQ(coded("{}"), "permanent http_200");
  EXPECT_EQ(coded(R"("")"), "permanent http_200");
  EXPECT_EQ(coded("\"" + std::string(500, 'x') + "\""), "permanent " + std::string(64, 'x'));
}

TEST(http_rules, leave_doubt_where_the_body_they_need_was_cut_off) {
  const auto call = with_rules(
      {rule({{503, 503}}, "", {}, http_meaning::transient), rule({{400, 499}}, ".body.code", {R"("gone")"}, http_meaning::success)});
  auto cut = answer_of(404, R"({"code":"go)");
  cut.cut = http_answer::damage::too_large;
  EXPECT_EQ(brief(conclude(call, cut)), "in_doubt response_too_large");
  cut.status = 503;
  EXPECT_EQ(brief(conclude(call, cut)), "transient http_503") << "a rule that needs no body came first";
  cut.status = 500;
  EXPECT_EQ(brief(conclude(call, cut)), "in_doubt http_500") << "the second rule is about other answers";
}

TEST(http_rules, are_refused_when_they_cannot_work) {
  EXPECT_TRUE(says(refusal(rule({}, "", {}, http_meaning::permanent)), "neither status nor path"));
  EXPECT_TRUE(says(refusal(rule({{400, 400}}, "", {"1"}, http_meaning::permanent)), "but no path"));
  EXPECT_TRUE(says(refusal(rule({}, ".body.a", {}, http_meaning::permanent)), "exactly one comparison"));
  auto both = rule_on(".body.a", true, http_meaning::permanent);
  both.one_of = {"1"};
  EXPECT_TRUE(says(refusal(both), "exactly one comparison"));
  EXPECT_TRUE(says(refusal(rule({{600, 600}}, "", {}, http_meaning::permanent)), "not a valid range"));
  for (const char* path : {"body.a", ".input.a", ".body.a + 1", ".body.a?", ".bodyguard", ".body[", "$secret{A}"}) {
    EXPECT_TRUE(says(refusal(rule({}, path, {"1"}, http_meaning::permanent)), "not a plain path")) << path;
  }
  EXPECT_TRUE(says(refusal(rule({}, ".body.a", {"{}"}, http_meaning::permanent)), "not a string, number"));
  EXPECT_TRUE(says(refusal(rule({{200, 200}}, "", {}, http_meaning::success, R"("x")")), "only for faults"));
  EXPECT_TRUE(says(refusal(rule({{200, 200}}, "", {}, http_meaning::permanent, R"("two words")")), "not a valid code"));
  EXPECT_TRUE(says(refusal(rule({{200, 200}}, "", {}, http_meaning::permanent, "5")), "not a text"));
  EXPECT_TRUE(says(refusal(rule({{200, 200}}, "", {}, http_meaning::permanent, "", R"("${ .input.a }")")), "does not begin with"));
  EXPECT_TRUE(says(refusal(rule({{200, 200}}, "", {}, http_meaning::done)), "not a valid meaning here"));
  EXPECT_TRUE(says(refusal(rule({{200, 200}}, "", {}, http_meaning::success), rule_place::lookup), "not a valid meaning here"));
}

TEST(http_pause, is_what_the_service_asked_for) {
  const auto call = with_rules({});
  const auto asked = [&](int status, std::vector<std::string> values) {
    auto answer = answer_of(status, "");
    for (auto& value : values) answer.headers.emplace_back("retry-after", std::move(value));
    return conclude(call, answer, {false, 784'111'777'000 - 60'000}).fault->retry_after_ms();
  };
  EXPECT_EQ(asked(503, {"30"}), 30'000);
  EXPECT_EQ(asked(429, {"Sun, 06 Nov 1994 08:49:37 GMT"}), 60'000);
  EXPECT_EQ(asked(503, {"30", "-1", "60"}), 60'000) << "the longest that can be read";
  EXPECT_EQ(asked(503, {"-5"}), 0);
  EXPECT_EQ(asked(503, {"999999999999"}), 86'400'000);
  EXPECT_EQ(asked(503, {}), 0);
}

attempt_result with_replays(http_answer answer, bool replays = true) {
  auto agent = one_call("http://h");
  agent.calls["do"].idempotency.replays_errors = replays;
  const auto call = prepare_call(agent, "do", agent.calls["do"]);
  return conclude(*call, std::move(answer));
}

TEST(http_key, is_spent_by_an_error_that_would_be_given_again) {
  EXPECT_TRUE(with_replays(answer_of(503, "")).fault->key_spent());
  EXPECT_TRUE(with_replays(answer_of(429, "")).fault->key_spent());
  EXPECT_FALSE(with_replays(answer_of(503, ""), false).fault->key_spent());
  EXPECT_FALSE(with_replays(answer_of(500, "")).fault->key_spent()) << "in doubt: only the same key keeps it from happening twice";
  EXPECT_TRUE(with_replays(answer_of(404, "")).fault->key_spent()) << "a rule of the step, or an operator, may have it tried again";
}

TEST(http_key, is_never_spent_by_what_was_not_answered) {
  http_answer answer;
  answer.how = http_answer::ending::not_sent;
  answer.code = "connection_refused";
  EXPECT_FALSE(with_replays(answer).fault->key_spent());
  answer.how = http_answer::ending::lost;
  EXPECT_FALSE(with_replays(answer).fault->key_spent());
  auto resent = answer_of(503, "");
  resent.sends = 2;
  EXPECT_FALSE(with_replays(resent).fault->key_spent()) << "an earlier sending may have been carried out under it";
  auto broken = answer_of(503, "");
  broken.cut = http_answer::damage::truncated;
  EXPECT_FALSE(with_replays(broken).fault->key_spent());
}

}  // namespace
}  // namespace fairlead::test
