// The judge alone: requests and times in, answers and findings out.

#include "app/agent_check/tester.hpp"

#include <gtest/gtest.h>

namespace fairlead::app::agent_check {
namespace {

using json = nlohmann::json;

/// An agent, word by word, under one lesson.
class taught {
 public:
  explicit taught(lesson what) : judge_(plan{"", "", "{}", {std::move(what)}, true, true}) {}
  taught(lesson first, lesson next) : judge_(plan{"", "", "{}", {std::move(first), std::move(next)}, true, true}) {}

  reply post(const std::string& path, const json& body, const std::optional<std::string>& key = {}) {
    now_ += 5;
    return judge_.on_request({"POST", path, "", body.dump(), key, node_}, now_);
  }
  reply enter(const json& more = json::object(), const std::optional<std::string>& key = {}) {
    json body{{"agent", "mail"}, {"instance", "mail-1"}, {"calls", {"send"}}, {"lookups", {"send"}}, {"capacity", 4}};
    body.update(more);
    const auto out = post("/v1/workers", body, key);
    if (out.status == 201) worker_ = json::parse(out.body);
    return out;
  }
  std::string path(const std::string& verb) const { return "/v1/workers/" + worker_["worker"].get<std::string>() + "/" + verb; }
  json take(std::int64_t after) {
    last_ = post(path("take"), {{"max", 4}, {"wait_ms", 1'000}, {"after", after}});
    return json::parse(last_.body);
  }
  reply end_with(const json& item) { return post(path("outcomes"), {{"items", json::array({item})}}); }
  reply done(const json& attempt) { return end_with({{"ticket", attempt["ticket"]}, {"output", 1}}); }
  reply beat(const json& attempt) {
    const json item{{"ticket", attempt["ticket"]}, {"sequence", now_}};
    return post(path("heartbeats"), {{"items", json::array({item})}});
  }
  reply leave(const std::string& query = {}) {
    const auto worker = path("");
    return judge_.on_request({"DELETE", worker.substr(0, worker.size() - 1), query, ""}, now_);
  }
  reply ask_service(const std::string& key, const std::string& below = {}) {
    return judge_.on_request({"POST", service_path + below, "", "{}", key}, now_);
  }
  void wait(std::int64_t ms) {
    for (const auto end = now_ + ms; now_ < end; now_ += 20) judge_.on_time(now_);
  }
  void go_to(int node) { node_ = node; }
  std::string session() const { return worker_["session"]; }
  const reply& last() const { return last_; }
  const tester& judge() const { return judge_; }
  tester& judge() { return judge_; }
  /// `4: the outcome of …` of the first finding; empty: there is none.
  std::string found() const {
    const auto& all = judge_.findings();
    return all.empty() ? "" : std::to_string(static_cast<int>(all.front().broken)) + ": " + all.front().sentence;
  }

 private:
  tester judge_;
  std::int64_t now_ = 1'000;
  int node_ = 0;
  json worker_;
  reply last_;
};

lesson of(rule about) { return {.name = "a test", .about = about}; }
lesson with(rule about, std::vector<outcome_answer> outcomes) {
  return {.name = "a test", .about = about, .outcomes = std::move(outcomes)};
}

TEST(agent_check_tester, finds_nothing_in_an_agent_that_keeps_the_rules) {
  taught one{of(rule::outcome)};
  EXPECT_EQ(one.enter().status, 201U);
  const auto answer = one.take(0);
  ASSERT_EQ(answer["attempts"].size(), 1U);
  EXPECT_EQ(one.done(answer["attempts"][0]).status, 200U);
  EXPECT_EQ(one.take(1)["attempts"].size(), 0U);
  one.wait(1'000);
  EXPECT_TRUE(one.judge().is_over());
  EXPECT_EQ(one.found(), "");
  EXPECT_EQ(one.judge().of(rule::outcome), verdict::kept);
  EXPECT_EQ(one.judge().of(rule::doubt), verdict::not_seen);
}

TEST(agent_check_tester, names_outcomes_of_leases_that_were_over) {
  taught over{{.name = "a test", .about = rule::lease_end, .lease_ms = 0, .outcome = outcome_wanted::no}};
  over.enter();
  over.done(over.take(0)["attempts"][0]);
  EXPECT_TRUE(over.found().starts_with("2: the lease of attempt 1 was over")) << over.found();

  taught late{{.name = "a test", .about = rule::stamp, .lease_ms = 700, .late_ms = 1'500, .outcome = outcome_wanted::no}};
  late.enter();
  const auto answer = late.take(0);
  EXPECT_EQ(late.last().after_ms, 1'500);
  late.wait(1'500);
  late.done(answer["attempts"][0]);
  EXPECT_TRUE(late.found().starts_with("1: ")) << late.found();
}

TEST(agent_check_tester, brings_an_attempt_again_whose_answer_was_lost_and_looks_at_after) {
  taught one{{.name = "a test", .about = rule::last_answer, .cut_take = true}};
  one.enter();
  const auto first = one.take(0);
  EXPECT_TRUE(one.last().cut);
  const auto again = one.take(0);
  EXPECT_FALSE(one.last().cut);
  EXPECT_EQ(first["attempts"][0]["ticket"], again["attempts"][0]["ticket"]);
  EXPECT_EQ(one.found(), "");
  one.take(1);
  one.wait(100);
  one.take(1);
  EXPECT_TRUE(one.found().starts_with("3: a take has `after` 1")) << one.found();
}

TEST(agent_check_tester, wants_outcomes_repeated_unchanged_until_they_are_accepted) {
  taught lost{with(rule::outcome, {outcome_answer::cut})};
  lost.enter();
  const auto attempt = lost.take(0)["attempts"][0];
  EXPECT_TRUE(lost.done(attempt).cut);
  EXPECT_EQ(json::parse(lost.done(attempt).body)["items"][0]["result"], "repeated");
  EXPECT_EQ(lost.found(), "");

  taught silent{with(rule::outcome, {outcome_answer::cut})};
  silent.enter();
  silent.done(silent.take(0)["attempts"][0]);
  silent.wait(11'000);
  EXPECT_EQ(silent.found(), "4: the outcome of attempt 1 was not repeated after its answer was cut (in lesson 1: a test)");

  taught hasty{with(rule::outcome, {outcome_answer::busy})};
  hasty.enter();
  const auto held = hasty.take(0)["attempts"][0];
  EXPECT_EQ(hasty.done(held).retry_after_s, 1);
  hasty.done(held);
  EXPECT_TRUE(hasty.found().starts_with("4: ")) << hasty.found();

  taught other{with(rule::outcome, {outcome_answer::cut})};
  other.enter();
  const auto two = other.take(0)["attempts"][0];
  other.done(two);
  other.end_with({{"ticket", two["ticket"]}, {"output", 2}});
  EXPECT_TRUE(other.found().starts_with("4: the outcome of attempt 1 was another")) << other.found();
}

TEST(agent_check_tester, knows_the_keys_that_the_service_may_see) {
  taught one{of(rule::key)};
  one.enter();
  const auto attempt = one.take(0)["attempts"][0];
  one.ask_service(attempt["idempotency_key"]);
  EXPECT_EQ(one.found(), "");
  one.ask_service(attempt["ticket"]);
  EXPECT_TRUE(one.found().starts_with("5: the service was asked under the key")) << one.found();
}

TEST(agent_check_tester, wants_doubt_where_the_service_breaks_off) {
  taught one{{.name = "a test", .about = rule::doubt, .service = service_answer::cut}};
  one.enter();
  const auto attempt = one.take(0)["attempts"][0];
  EXPECT_TRUE(one.ask_service(attempt["idempotency_key"]).cut);
  one.end_with({{"ticket", attempt["ticket"]}, {"fault", {{"kind", "transient"}}}});
  EXPECT_TRUE(one.found().starts_with("6: ")) << one.found();
}

TEST(agent_check_tester, wants_the_session_and_what_is_held_after_410) {
  for (const auto* way : {"right", "no session", "no tickets", "not at all"}) {
    taught one{with(rule::session, {outcome_answer::gone})};
    one.enter();
    const auto attempt = one.take(0)["attempts"][0];
    EXPECT_EQ(one.done(attempt).status, 410U);
    const std::string how = way;
    const auto have = how == "no tickets" ? json::array() : json::array({attempt["ticket"]});
    if (how != "not at all") one.enter({{"session", how == "no session" ? json{} : json(one.session())}, {"have", have}});
    one.wait(11'000);
    if (how == "right")
      EXPECT_TRUE(one.found().starts_with("4: the outcome of attempt 1 was not repeated after the new registration")) << one.found();
    else
      EXPECT_TRUE(one.found().starts_with("7: ")) << how << ": " << one.found();
  }
}

TEST(agent_check_tester, sees_an_attempt_that_was_done_twice) {
  taught one{{.name = "a test", .about = rule::held, .twice = true}};
  one.enter();
  const auto answer = one.take(0);
  ASSERT_EQ(answer["attempts"].size(), 2U);
  one.done(answer["attempts"][0]);
  EXPECT_EQ(one.found(), "");
  one.done(answer["attempts"][1]);
  EXPECT_TRUE(one.found().starts_with("8: ")) << one.found();
}

TEST(agent_check_tester, does_not_take_a_second_session_of_an_instance) {
  taught one{of(rule::requests)};
  one.enter();
  EXPECT_EQ(one.enter().status, 409U);
  EXPECT_TRUE(one.found().starts_with("8: ")) << one.found();
}

TEST(agent_check_tester, wants_a_registration_that_was_lost_to_be_the_same_one) {
  for (const auto* way : {"right", "other key", "no key", "other name", "not at all"}) {
    taught one{{.name = "a test", .about = rule::requests, .cut_registration = true}};
    const std::string how = way;
    EXPECT_TRUE(one.enter(json::object(), "a").cut);
    const auto key = how == "no key" ? std::optional<std::string>{} : how == "other key" ? "b" : "a";
    if (how != "not at all") {
      EXPECT_FALSE(one.enter({{"instance", how == "other name" ? "mail-2" : "mail-1"}}, key).cut);
      one.done(one.take(0)["attempts"][0]);
    }
    one.wait(11'000);
    if (how == "right")
      EXPECT_EQ(one.found(), "");
    else if (how == "not at all")
      EXPECT_TRUE(one.found().starts_with("0: the registration was not sent again")) << one.found();
    else
      EXPECT_TRUE(one.found().starts_with("8: the registration whose answer was lost")) << how << ": " << one.found();
  }
}

TEST(agent_check_tester, wants_heartbeats_in_time) {
  for (const auto late : {false, true}) {
    taught one{{.name = "a test", .about = rule::requests, .heartbeat_ms = 1'000}};
    one.enter();
    const auto attempt = one.take(0)["attempts"][0];
    EXPECT_EQ(attempt["heartbeat_ms"], 1'000);
    one.ask_service(attempt["idempotency_key"]);
    one.wait(900);
    one.beat(attempt);
    one.wait(late ? 1'700 : 900);
    one.done(attempt);
    if (late)
      EXPECT_TRUE(one.found().starts_with("0: 1705 ms passed before the outcome")) << one.found();
    else
      EXPECT_EQ(one.found(), "");
  }
}

TEST(agent_check_tester, wants_an_undo_that_is_none_of_its_perform) {
  for (const auto* way : {"right", "old key", "as a perform"}) {
    taught one{of(rule::requests), {.name = "another", .about = rule::requests, .direction = "undo"}};
    one.enter();
    const auto perform = one.take(0)["attempts"][0];
    EXPECT_TRUE(perform["in_doubt"].is_null() && perform["heartbeat_ms"].is_null());
    one.ask_service(perform["idempotency_key"]);
    one.done(perform);
    one.wait(1'000);
    const auto undo = one.take(1)["attempts"][0];
    EXPECT_EQ(undo["direction"], "undo");
    EXPECT_EQ(undo["perform_key"], perform["idempotency_key"]);
    EXPECT_EQ(undo["perform_output"], 1);
    const std::string how = way;
    one.ask_service(how == "old key" ? undo["perform_key"] : undo["idempotency_key"], how == "as a perform" ? "" : "/undo");
    one.done(undo);
    if (how == "right")
      EXPECT_EQ(one.found(), "");
    else
      EXPECT_TRUE(one.found().starts_with(how == "old key" ? "5: " : "0: ")) << how << ": " << one.found();
  }
}

TEST(agent_check_tester, wants_the_session_at_another_node_when_one_is_lost) {
  for (const auto* way : {"right", "no session", "not at all"}) {
    taught one{{.name = "a test", .about = rule::session, .loses_node = true}};
    one.enter();
    const auto attempt = one.take(0)["attempts"][0];
    EXPECT_FALSE(one.judge().node_to_lose());
    one.ask_service(attempt["idempotency_key"]);
    EXPECT_EQ(one.judge().node_to_lose(), 0);
    EXPECT_FALSE(one.judge().node_to_lose());
    EXPECT_EQ(one.done(attempt).status, 503U);
    one.go_to(1);
    EXPECT_EQ(one.done(attempt).status, 410U);
    const std::string how = way;
    if (how != "not at all") {
      one.enter({{"session", how == "right" ? json(one.session()) : json{}}, {"have", {attempt["ticket"]}}});
      EXPECT_EQ(one.done(attempt).status, 200U);
    }
    one.wait(11'000);
    if (how == "right")
      EXPECT_EQ(one.found(), "");
    else
      EXPECT_TRUE(one.found().starts_with("7: ")) << how << ": " << one.found();
  }
}

TEST(agent_check_tester, wants_what_is_held_to_be_finished_before_the_end) {
  for (const auto* way : {"right", "abandoned", "dead"}) {
    taught one{{.name = "a test", .about = rule::requests, .ends_agent = true}};
    one.enter();
    const auto attempt = one.take(0)["attempts"][0];
    EXPECT_FALSE(one.judge().is_time_to_end());
    one.ask_service(attempt["idempotency_key"]);
    EXPECT_TRUE(one.judge().is_time_to_end());
    EXPECT_FALSE(one.judge().is_time_to_end());
    EXPECT_EQ(one.leave().status, 409U);
    const std::string how = way;
    if (how == "right") one.done(attempt);
    if (how != "dead") {
      EXPECT_EQ(one.leave(how == "abandoned" ? "abandon=true" : "").status, 204U);
    }
    one.judge().on_end("ended with exit code 0");
    if (how == "dead")
      EXPECT_TRUE(one.found().starts_with("0: after SIGTERM the agent ended with exit code 0")) << one.found();
    else
      EXPECT_EQ(one.found(), "");
  }
}

TEST(agent_check_tester, is_not_upset_by_requests_that_make_no_sense) {
  taught one{of(rule::requests)};
  EXPECT_EQ(one.post("/v1/workers", json::array()).status, 400U);
  one.enter();
  EXPECT_EQ(one.post(one.path("outcomes"), {{"items", {1, "a", nullptr}}}).status, 400U);
  EXPECT_EQ(one.post(one.path("heartbeats"), {{"items", {1, {{"ticket", 2}}}}}).status, 200U);
  EXPECT_EQ(one.post(one.path("take"), json::object()).status, 400U);
  EXPECT_EQ(one.post(one.path("nothing"), json::object()).status, 404U);
  EXPECT_EQ(one.post("/v2/workers", json::object()).status, 404U);
}

}  // namespace
}  // namespace fairlead::app::agent_check
