#include "tests/actors/agent_host/agent_host_world.hpp"

namespace fairlead::testing {
namespace {

v1::Fault told(v1::FaultKind kind = v1::FAULT_KIND_TRANSIENT, std::int64_t retry_after_ms = 0) {
  v1::Fault out;
  out.set_kind(kind);
  out.set_code("http_503");
  out.set_message("told by the service");
  out.set_retry_after_ms(retry_after_ms);
  return out;
}

class agent_tries_test : public agent_host_test {
 protected:
  agent_tries_test() { patient(4); }

  void patient(std::uint32_t tries, std::int64_t try_timeout_ms = 0) {
    agents::agent_settings settings;
    settings.retry.tries = tries;
    settings.retry.try_timeout_ms = try_timeout_ms;
    settings.retry.backoff.set_first_ms(100);
    settings.retry.backoff.set_factor(2);
    settings.retry.backoff.set_max_ms(1'000);
    restart(settings);
  }

  void fail(v1::Fault with = told(), std::int64_t after_ms = 0) {
    time.now_ms += after_ms;
    host().finished({1, 0, v1::DIRECTION_PERFORM, 1}, {"", std::move(with), 1});
    host().flush();
  }

  /// The wait until the next try; the clock then stands there, and the try has begun.
  std::int64_t wait_for_try() {
    const auto before = backend.started.size();
    const auto from = time.now_ms;
    while (backend.started.size() == before && host().holds_any() && time.now_ms < from + 1'000'000) {
      time.now_ms = std::max(to_unix_ms(*host().next_expiry()), time.now_ms + 1);
      host().expire();
      host().flush();
    }
    return time.now_ms - from;
  }
};

TEST_F(agent_tries_test, tries_again_under_the_same_key_with_the_same_bytes) {
  auto what = attempt(1);
  what.set_idempotency_key("order-7/charge/perform/0");
  what.set_input(R"({"n":9007199254740993})");
  hand_over({what});
  fail();
  EXPECT_TRUE(out.sent.empty()) << "nothing is said while tries are left";
  const auto wait = wait_for_try();
  EXPECT_GE(wait, 50);
  EXPECT_LE(wait, 100);
  ASSERT_EQ(backend.started.size(), 2u);
  EXPECT_EQ(backend.started[1].idempotency_key(), "order-7/charge/perform/0");
  EXPECT_EQ(backend.started[1].input(), R"({"n":9007199254740993})");
  EXPECT_EQ(backend.started[0].try_number(), 1u);
  EXPECT_EQ(backend.started[1].try_number(), 2u);
  time.now_ms += 30;
  finish(1, 1, {"7", std::nullopt, 1});
  ASSERT_EQ(out.sent.size(), 1u);
  EXPECT_EQ(last().output(), "7");
  EXPECT_EQ(last().tries(), 2u);
  EXPECT_EQ(last().busy_ms(), 30) << "of the last try alone";
}

TEST_F(agent_tries_test, says_the_last_fault_once_no_try_is_left) {
  hand_over({attempt(1, 1, 60'000)});
  for (int i = 0; i < 3; ++i) {
    fail();
    wait_for_try();
  }
  EXPECT_EQ(backend.started.size(), 4u);
  EXPECT_TRUE(out.sent.empty());
  fail();
  ASSERT_EQ(out.sent.size(), 1u);
  EXPECT_EQ(last().fault().code(), "http_503");
  EXPECT_EQ(last().tries(), 4u);
  EXPECT_FALSE(host().holds_any());
}

TEST_F(agent_tries_test, repeats_transient_faults_only) {
  for (const auto kind : {v1::FAULT_KIND_PERMANENT, v1::FAULT_KIND_IN_DOUBT, v1::FAULT_KIND_UNSPECIFIED}) {
    patient(4);
    out.sent.clear();
    hand_over({attempt(1)});
    fail(told(kind));
    ASSERT_EQ(out.sent.size(), 1u) << kind;
    EXPECT_EQ(last().fault().kind(), kind);
  }
  patient(4);
  hand_over({attempt(1)});
  auto spent = told();
  spent.set_key_spent(true);
  fail(spent);
  EXPECT_TRUE(last().fault().key_spent()) << "under that key the answer would be the same";
  EXPECT_FALSE(host().holds_any());
}

TEST_F(agent_tries_test, waits_as_long_as_the_service_asks) {
  hand_over({attempt(1, 1, 60'000)});
  fail(told(v1::FAULT_KIND_TRANSIENT, 7'000));
  EXPECT_EQ(wait_for_try(), 7'000);
}

TEST_F(agent_tries_test, makes_no_burst_of_a_broken_retry_after) {
  for (const auto nonsense : {std::int64_t{-5}, std::numeric_limits<std::int64_t>::min(), std::int64_t{0}}) {
    patient(4);
    hand_over({attempt(1, 1, 60'000)});
    fail(told(v1::FAULT_KIND_TRANSIENT, nonsense));
    EXPECT_GE(wait_for_try(), 50) << nonsense;
  }
}

TEST_F(agent_tries_test, never_waits_less_than_a_millisecond) {
  agents::agent_settings settings;
  settings.retry.tries = 100;
  settings.retry.backoff.set_first_ms(1);
  settings.retry.backoff.set_max_ms(1);
  restart(settings);
  backend.at_once = true;
  backend.result_at_once = {"", told(), 1};
  hand_over({attempt(1, 1, 50)});
  const auto from = time.now_ms;
  for (int i = 0; i < 20; ++i) {
    host().expire();
    EXPECT_LE(backend.started.size(), static_cast<std::size_t>(time.now_ms - from) + 1);
    ++time.now_ms;
  }
  EXPECT_GT(backend.started.size(), 5u);
}

TEST_F(agent_tries_test, says_at_once_what_is_to_wait_beyond_the_lease) {
  for (const auto after : {std::int64_t{4'995}, std::int64_t{60'000}, std::numeric_limits<std::int64_t>::max()}) {
    patient(4);
    out.sent.clear();
    hand_over({attempt(1, 1, 5'000)});
    fail(told(v1::FAULT_KIND_TRANSIENT, after));
    ASSERT_EQ(out.sent.size(), 1u) << after;
    EXPECT_EQ(last().fault().retry_after_ms(), after) << "so that the Scheduler can wait";
    EXPECT_EQ(backend.started.size(), 1u);
    backend.started.clear();
  }
}

TEST_F(agent_tries_test, begins_no_try_that_could_not_end_in_time) {
  hand_over({attempt(1, 1, 1'000)});
  fail(told(), 600);  // the next one would take as long
  ASSERT_EQ(out.sent.size(), 1u);
  EXPECT_EQ(backend.started.size(), 1u);
}

TEST_F(agent_tries_test, reckons_with_the_timeout_of_a_try_where_there_is_one) {
  patient(4, 800);
  hand_over({attempt(1, 1, 1'000)});
  EXPECT_EQ(backend.started[0].try_until_unix_ms(), time.now_ms + 800);
  fail(told(), 150);
  ASSERT_EQ(out.sent.size(), 1u) << "150 ms and 800 ms and a wait are too much";
  patient(4, 300);
  hand_over({attempt(1, 1, 1'000)});
  fail(told(), 150);
  wait_for_try();
  ASSERT_EQ(backend.started.size(), 3u);
  EXPECT_EQ(backend.started[2].try_until_unix_ms(), time.now_ms + 300);
}

TEST_F(agent_tries_test, gives_a_try_the_rest_of_the_lease_where_it_has_no_timeout) {
  hand_over({attempt(1, 1, 5'000)});
  EXPECT_EQ(backend.started[0].try_until_unix_ms(), time.now_ms + 5'000);
}

TEST_F(agent_tries_test, says_so_when_its_reminder_comes_too_late_for_the_next_try) {
  hand_over({attempt(1, 1, 1'000)});
  fail(told(), 300);
  EXPECT_TRUE(out.sent.empty());
  pass(450);  // 250 ms are left, and a try takes 300
  ASSERT_EQ(out.sent.size(), 1u);
  EXPECT_EQ(last().fault().code(), "http_503");
  EXPECT_EQ(backend.started.size(), 1u);
}

TEST_F(agent_tries_test, lets_less_budget_to_a_later_try) {
  auto what = attempt(1, 1, 5'000);
  what.set_budget_ms(4'000);
  hand_over({what});
  EXPECT_EQ(backend.started[0].budget_ms(), 4'000);
  fail(told(), 500);
  const auto wait = wait_for_try();
  EXPECT_EQ(backend.started[1].budget_ms(), 4'000 - 500 - wait);
}

TEST_F(agent_tries_test, starts_nothing_for_what_comes_twice_while_it_waits) {
  const auto what = attempt(1, 1, 60'000);
  hand_over({what});
  fail(told(v1::FAULT_KIND_TRANSIENT, 9'000));
  hand_over({what}, 2);
  EXPECT_EQ(backend.started.size(), 1u);
  EXPECT_TRUE(out.sent.empty());
}

TEST_F(agent_tries_test, takes_what_is_said_twice_for_the_try_that_said_it) {
  hand_over({attempt(1, 1, 60'000)});
  agents::attempt_result first{"", told(), 1};
  first.try_number = 1;
  host().finished({1, 0, v1::DIRECTION_PERFORM, 1}, first);
  host().finished({1, 0, v1::DIRECTION_PERFORM, 1}, first);
  wait_for_try();
  EXPECT_EQ(backend.started.size(), 2u);
  host().finished({1, 0, v1::DIRECTION_PERFORM, 1}, first);
  host().flush();
  EXPECT_TRUE(out.sent.empty()) << "the second try is under way";
  agents::attempt_result second{"8", std::nullopt, 1};
  second.try_number = 2;
  host().finished({1, 0, v1::DIRECTION_PERFORM, 1}, second);
  host().flush();
  ASSERT_EQ(out.sent.size(), 1u);
  EXPECT_EQ(last().output(), "8");
}

TEST_F(agent_tries_test, forgets_at_the_end_of_its_lease_what_waits_for_another_try) {
  auto what = attempt(1, 1, 60'000);
  what.set_heartbeat_ms(3'000);
  what.set_heartbeat_by_unix_ms(time.now_ms + 3'000);
  hand_over({what});
  fail(told(v1::FAULT_KIND_TRANSIENT, 30'000));
  EXPECT_TRUE(host().holds_any());
  pass(3'000);  // nobody has acknowledged a heartbeat
  EXPECT_FALSE(host().holds_any());
  EXPECT_TRUE(backend.stopped.empty()) << "nothing is under way in the backend";
  pass(60'000);
  EXPECT_EQ(backend.started.size(), 1u);
  EXPECT_TRUE(out.sent.empty());
}

TEST_F(agent_tries_test, takes_the_policy_of_the_call_where_it_has_one) {
  agents::agent_settings settings;
  settings.retry.tries = 3;
  settings.call_retry["do"].tries = 1;
  restart(settings);
  hand_over({attempt(1)});
  fail();
  EXPECT_EQ(out.sent.size(), 1u);
}

TEST_F(agent_tries_test, does_not_bring_the_tries_of_a_thousand_attempts_back_in_one_instant) {
  std::set<std::int64_t> moments;
  agents::retry_policy policy;
  policy.tries = 2;
  for (std::uint64_t task = 1; task <= 1'000; ++task) {
    attempt_tries tries{policy, {task, 0, 1}, time.now() + std::chrono::minutes{1}};
    tries.begin(time.now());
    tries.finish(1, time.now());
    const auto next = tries.next(told(), time.now());
    ASSERT_TRUE(next);
    moments.insert((*next - time.now()).count());
  }
  EXPECT_GE(*moments.begin(), 50);
  EXPECT_LE(*moments.rbegin(), 100) << "what is left out means 100 ms";
  EXPECT_GT(moments.size(), 40u);
}

// ---- secrets ----

class one_secret final : public agents::secrets {
 public:
  result<std::string> resolve(std::string_view text) const override { return replaced(std::string{text}, "$secret{TOKEN}", "s3cr3t"); }
  result<std::string> resolve_json(std::string_view json, const std::vector<std::string>& allowed) const override {
    if (json.find("$secret{GONE}") != std::string_view::npos) return error{v1::ERROR_CODE_NOT_FOUND, "there is no secret GONE", ""};
    if (std::find(allowed.begin(), allowed.end(), "TOKEN") == allowed.end())
      return error{v1::ERROR_CODE_INVALID_ARGUMENT, "the secret TOKEN is not allowed in a step's input", ""};
    return resolve(json);
  }
  std::string redact(std::string text) const override { return replaced(std::move(text), "s3cr3t", "[secret TOKEN]"); }

 private:
  static std::string replaced(std::string text, const std::string& what, const std::string& with) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what)) text.replace(at, what.size(), with);
    return text;
  }
};

class agent_secrets_test : public agent_tries_test {
 protected:
  agent_secrets_test() { with({"TOKEN"}, std::make_shared<one_secret>()); }
  void with(std::vector<std::string> allowed, std::shared_ptr<const agents::secrets> known) {
    agents::agent_settings settings;
    settings.retry.tries = 3;
    settings.input_secrets = std::move(allowed);
    restart(settings, std::move(known));
  }
  v1::Perform naming(const std::string& name) const {
    auto out = attempt(1);
    out.set_input(R"({"token":"$secret{)" + name + R"(}"})");
    return out;
  }
};

TEST_F(agent_secrets_test, puts_a_secret_into_what_each_try_gets) {
  hand_over({naming("TOKEN")});
  fail();
  wait_for_try();
  ASSERT_EQ(backend.started.size(), 2u);
  for (const auto& one : backend.started) EXPECT_EQ(one.input(), R"({"token":"s3cr3t"})");
}

TEST_F(agent_secrets_test, begins_nothing_whose_secret_it_may_not_give) {
  hand_over({naming("GONE")});
  EXPECT_EQ(last().fault().code(), "secret_unknown");
  EXPECT_EQ(last().fault().kind(), v1::FAULT_KIND_PERMANENT);
  with({}, std::make_shared<one_secret>());
  hand_over({naming("TOKEN")});
  EXPECT_EQ(last().fault().code(), "secret_not_allowed");
  with({"TOKEN"}, nullptr);
  hand_over({naming("TOKEN")});
  EXPECT_EQ(last().fault().kind(), v1::FAULT_KIND_PERMANENT);
  EXPECT_TRUE(backend.started.empty());
}

TEST_F(agent_secrets_test, lets_no_secret_out) {
  hand_over({naming("TOKEN")});
  finish(1, 1, {R"({"echo":"s3cr3t"})", std::nullopt, 1});
  EXPECT_EQ(last().output(), R"({"echo":"[secret TOKEN]"})");
  restart({}, std::make_shared<one_secret>());
  hand_over({attempt(1)});
  finish(1, 1, agents::permanent_fault("s3cr3t", "the token s3cr3t is wrong"));
  EXPECT_EQ(last().fault().message(), "the token [secret TOKEN] is wrong");
  EXPECT_EQ(last().fault().code(), "[secret TOKEN]");
  hand_over({attempt(2)});
  backend.sink({2, 0, v1::DIRECTION_PERFORM, 1}, {10, std::string(250, 'x') + "s3cr3t", R"({"at":"s3cr3t"})"});
  host().progressed({2, 0, v1::DIRECTION_PERFORM, 1});
  host().flush();
  ASSERT_EQ(out.beats.size(), 1u);
  EXPECT_EQ(out.beats[0].note().find("s3cr3t"), std::string::npos);
  EXPECT_EQ(out.beats[0].note().find("s3cr"), std::string::npos) << "half a secret is one too";
  EXPECT_EQ(out.beats[0].checkpoint(), R"({"at":"[secret TOKEN]"})");
}

}  // namespace
}  // namespace fairlead::testing
