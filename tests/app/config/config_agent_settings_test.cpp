#include <gtest/gtest.h>

#include <algorithm>

#include "app/config/config.hpp"
#include "tests/app/agents_of.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

const std::string agent_head = "node: { name: n }\nstore: { path: data }\nagents:\n  a: { kind: native, handler: echo,\n";

const std::string secrets =
    "secrets: { TOKEN: { environment: HOME }, PAY_TOKEN: { environment: HOME }, other.key: { environment: HOME } }\n";

// What `text` says is on line 5.
config_file with_settings(const std::string& text) { return parse_node_config("n.yaml", agent_head + text + " }\n" + secrets); }
lines settings_problems(const std::string& text) { return shown(with_settings(text).problems); }
agents::agent_settings settings_of(const std::string& text) {
  const auto file = with_settings(text);
  EXPECT_EQ(shown(file.problems), lines{});
  return agents_of<native_agent_section>(file.config).at(0).settings;
}

TEST(config_agent_settings, leaves_everything_to_the_defaults_when_nothing_is_said) {
  const auto settings = settings_of("concurrency: 1");
  EXPECT_TRUE(settings.labels.empty());
  EXPECT_EQ(settings.breaker.ByteSizeLong(), 0U);
  EXPECT_TRUE(settings.limits.empty());
  EXPECT_EQ(settings.retry.tries, 1U) << "a handler knows itself whether it may be called again";
  EXPECT_EQ(settings.retry.try_timeout_ms, 0);
  EXPECT_TRUE(settings.input_secrets.empty());
}

TEST(config_agent_settings, reads_every_key) {
  const auto settings = settings_of(R"(    labels: { zone: eu, gpu: true, rack: 12 },
    retry: { tries: 5, first: 200ms, factor: 1.5, max: 3s, try_timeout: 2s },
    breaker: { failure_percent: 40, slow: 2s, slow_percent: 60, window: 20s, at_least: 7, open: 5s, canaries: 2 },
    limits: [ { concurrency: 20 }, { call: charge, rate: 50/s }, { call: charge, key: .customer.id, concurrency: 1, rate: 5/10s } ],
    input_secrets: [PAY_TOKEN, other.key])");
  ASSERT_EQ(settings.labels.size(), 3U);
  EXPECT_EQ(settings.labels[0].key() + "=" + settings.labels[0].value(), "zone=eu");
  EXPECT_EQ(settings.labels[1].key() + "=" + settings.labels[1].value(), "gpu=true");
  EXPECT_EQ(settings.labels[2].key() + "=" + settings.labels[2].value(), "rack=12");
  EXPECT_EQ(settings.retry.tries, 5U);
  EXPECT_EQ(settings.retry.backoff.first_ms(), 200);
  EXPECT_EQ(settings.retry.backoff.factor(), 1.5);
  EXPECT_EQ(settings.retry.backoff.max_ms(), 3'000);
  EXPECT_EQ(settings.retry.try_timeout_ms, 2'000);
  EXPECT_FALSE(settings.breaker.off());
  EXPECT_EQ(settings.breaker.failure_percent(), 40U);
  EXPECT_EQ(settings.breaker.slow_ms(), 2'000);
  EXPECT_EQ(settings.breaker.slow_percent(), 60U);
  EXPECT_EQ(settings.breaker.window_ms(), 20'000);
  EXPECT_EQ(settings.breaker.at_least(), 7U);
  EXPECT_EQ(settings.breaker.open_ms(), 5'000);
  EXPECT_EQ(settings.breaker.canaries(), 2U);
  ASSERT_EQ(settings.limits.size(), 3U);
  EXPECT_EQ(settings.limits[0].ShortDebugString(), "concurrency: 20");
  EXPECT_EQ(settings.limits[1].ShortDebugString(), "call: \"charge\" rate: 50 rate_per_ms: 1000");
  EXPECT_EQ(settings.limits[2].ShortDebugString(), "call: \"charge\" key: \".customer.id\" concurrency: 1 rate: 5 rate_per_ms: 10000");
  EXPECT_EQ(settings.input_secrets, (std::vector<std::string>{"PAY_TOKEN", "other.key"}));
}

TEST(config_agent_settings, reads_a_breaker_that_is_off) { EXPECT_TRUE(settings_of("breaker: off").breaker.off()); }

TEST(config_agent_settings, reads_rates_per_unit_and_per_duration) {
  const std::vector<std::pair<std::string, std::pair<std::uint32_t, std::int64_t>>> rates{
      {"50/s", {50, 1'000}}, {"600/m", {600, 60'000}}, {"9/h", {9, 3'600'000}}, {"1/d", {1, 86'400'000}}, {"5/250ms", {5, 250}},
  };
  for (const auto& [text, expected] : rates) {
    const auto limit = settings_of("limits: [{ rate: " + text + " }]").limits.at(0);
    EXPECT_EQ(limit.rate(), expected.first) << text;
    EXPECT_EQ(limit.rate_per_ms(), expected.second) << text;
  }
}

TEST(config_agent_settings, reads_paths_of_keys) {
  for (const auto* key : {".", ".customer", ".customer.id", ".items[0].sku", "[\"odd name\"]"})
    EXPECT_EQ(settings_of(std::string{"limits: [{ concurrency: 1, key: '"} + key + "' }]").limits.at(0).key(), key);
}

TEST(config_agent_settings, keeps_the_first_wait_and_the_longest_in_order) {
  EXPECT_EQ(settings_of("retry: { first: 20s }").retry.backoff.max_ms(), 20'000);
  EXPECT_EQ(settings_of("retry: { first: 10ms }").retry.backoff.max_ms(), 5'000);
  EXPECT_EQ(settings_of("retry: { max: 50ms }").retry.backoff.first_ms(), 50);
  EXPECT_EQ(settings_of("retry: { max: 7s }").retry.backoff.first_ms(), 100);
  EXPECT_EQ(settings_problems("retry: { first: 2s, max: 1s }"), lines{"5:17: agents.a.retry.first: 2s is longer than max, 1s"});
}

TEST(config_agent_settings, refuses_a_retry_that_makes_no_sense) {
  EXPECT_EQ(settings_problems("retry: { tries: 0, factor: 0.5, try_timeout: 0s, trie: 2 }"),
            (lines{"5:17: agents.a.retry.tries: expected a whole number from 1 to 100, found the number 0",
                   "5:28: agents.a.retry.factor: expected a number from 1 to 100, found the number 0.5",
                   "5:46: agents.a.retry.try_timeout: expected a duration from 1ms to 3660d, found \"0s\"",
                   "5:50: agents.a.retry.trie: this key is not known here; did you mean tries?"}));
  EXPECT_EQ(settings_problems("retry: 3"),
            lines{"5:8: agents.a.retry: expected a map with tries, first, factor, max and try_timeout, found the number 3"});
}

TEST(config_agent_settings, refuses_a_breaker_that_makes_no_sense) {
  EXPECT_EQ(settings_problems("breaker: { failure_percent: 101, window: 10ms, at_least: 0, open: 1ms, canaries: x, wndow: 5s }"),
            (lines{"5:29: agents.a.breaker.failure_percent: expected a whole number from 1 to 100, found the number 101",
                   "5:42: agents.a.breaker.window: expected a duration from 1s to 1h, found \"10ms\"",
                   "5:58: agents.a.breaker.at_least: expected a whole number from 1 to 100000, found the number 0",
                   "5:67: agents.a.breaker.open: expected a duration from 100ms to 1h, found \"1ms\"",
                   "5:82: agents.a.breaker.canaries: expected a whole number from 1 to 100, found \"x\"",
                   "5:85: agents.a.breaker.wndow: this key is not known here; did you mean window?"}));
  EXPECT_EQ(settings_problems("breaker: { slow_percent: 50 }"),
            lines{"5:26: agents.a.breaker.slow_percent: without slow no try counts as slow, so this key has no effect; add slow: tries "
                  "that take longer count as slow, such as slow: 2s"});
  EXPECT_EQ(settings_problems("breaker: on"),
            lines{"5:10: agents.a.breaker: expected off, or a map with failure_percent, slow, slow_percent, window, at_least, open and "
                  "canaries, found \"on\""});
}

TEST(config_agent_settings, refuses_limits_that_make_no_sense) {
  EXPECT_EQ(settings_problems("limits: { concurrency: 5 }"), lines{"5:9: agents.a.limits: expected a list, found a map"});
  EXPECT_EQ(
      settings_problems("limits: [5]"),
      lines{"5:10: agents.a.limits[0]: expected a map with concurrency or rate, such as { call: charge, rate: 50/s }, found the number 5"});
  EXPECT_EQ(settings_problems("limits: [{ call: charge }]"),
            lines{"5:10: agents.a.limits[0]: this limit has neither concurrency nor rate; add concurrency: 20, or rate: 50/s"});
  EXPECT_EQ(settings_problems("limits: [{ concurrency: 0, cal: x }]"),
            (lines{"5:25: agents.a.limits[0].concurrency: expected a whole number from 1 to 1000000, found the number 0",
                   "5:28: agents.a.limits[0].cal: this key is not known here; did you mean call?"}));
  for (const auto* rate : {"50", "0/s", "-1/s", "1.5/s", "50/", "/s", "50/week", "50 / s", "50/0s", "50/2d", "1000001/s", "99999999999/s"})
    EXPECT_EQ(
        settings_problems(std::string{"limits: [{ rate: \""} + rate + "\" }]"),
        lines{std::string{
                  "5:18: agents.a.limits[0].rate: expected a rate of at most 1000000 such as 50/s, 600/m, 1000/h or 5/10s, found \""} +
              rate + "\""});
  for (const auto* key : {"customer", ".a + 1", ".a?", ". a", "..a", ".a[", "$x"})
    EXPECT_EQ(settings_problems(std::string{"limits: [{ concurrency: 1, key: \""} + key + "\" }]"),
              lines{std::string{"5:33: agents.a.limits[0].key: expected a path into the step's input, such as .customer.id, found \""} +
                    key + "\""});
}

TEST(config_agent_settings, has_a_bound_on_the_number_of_limits) {
  std::string limits = "limits: [{ concurrency: 1 }";
  for (int i = 0; i < 31; ++i) limits += ", { concurrency: 1 }";
  EXPECT_EQ(settings_problems(limits + "]"), lines{});
  EXPECT_EQ(settings_problems(limits + ", { concurrency: 1 }]"), lines{"5:9: agents.a.limits: more than 32 limits"});
}

TEST(config_agent_settings, refuses_a_limit_of_a_call_that_the_agent_has_not) {
  const auto file = parse_node_config("n.yaml", R"(node: { name: n }
store: { path: data }
agents:
  payment:
    kind: http
    base_url: http://127.0.0.1:7102
    limits: [{ call: chrge, rate: 5/s }, { call: refund, rate: 5/s }]
    calls: { charge: { path: /charges }, refund: { path: /refunds } }
)");
  EXPECT_EQ(shown(file.problems), lines{"7:22: agents.payment.limits[0].call: the agent has no call \"chrge\"; did you mean charge?"});
}

TEST(config_agent_settings, refuses_labels_that_could_not_be_stored) {
  EXPECT_EQ(settings_problems("labels: [zone]"), lines{"5:9: agents.a.labels: expected a map, found a list"});
  EXPECT_EQ(settings_problems("labels: { zone: [eu] }"), lines{"5:17: agents.a.labels.zone: expected a single value, found a list"});
  const std::string rule = "expected a label: a key of at most 128 bytes without =, and a value of at most 256 bytes, both plain text";
  EXPECT_EQ(settings_problems("labels: { \"a=b\": c }"), lines{"5:18: agents.a.labels.a=b: " + rule});
  EXPECT_EQ(settings_problems("labels: { zone: \"a\\tb\" }"), lines{"5:17: agents.a.labels.zone: " + rule});
  EXPECT_EQ(settings_problems("labels: { zone: " + std::string(257, 'x') + " }"), lines{"5:17: agents.a.labels.zone: " + rule});
  std::string many = "labels: { l0: x";
  for (int i = 1; i < 33; ++i) many += ", l" + std::to_string(i) + ": x";
  EXPECT_EQ(settings_problems(many + " }"), lines{"5:9: agents.a.labels: more than 32 labels"});
}

TEST(config_agent_settings, refuses_names_that_are_no_secrets) {
  EXPECT_EQ(settings_problems("input_secrets: TOKEN"), lines{"5:16: agents.a.input_secrets: expected a list, found \"TOKEN\""});
  EXPECT_EQ(settings_problems("input_secrets: [TOKEN, \"a b\", \"x}$secret{y\", TOKEN]"),
            (lines{"5:24: agents.a.input_secrets[1]: expected the name of a secret: letters, digits, _, . and -; at most 64 in all, found "
                   "\"a b\"",
                   "5:31: agents.a.input_secrets[2]: expected the name of a secret: letters, digits, _, . and -; at most 64 in all, found "
                   "\"x}$secret{y\"",
                   "5:46: agents.a.input_secrets[3]: this secret is listed twice; remove one of them"}));
}

TEST(config_agent_settings, tells_workflows_which_labels_an_agent_carries) {
  const auto carries = labels_of(with_settings("labels: { zone: eu, tier: gold }").config);
  google::protobuf::RepeatedPtrField<v1::Label> wanted;
  auto* label = wanted.Add();
  label->set_key("zone");
  label->set_value("eu");
  EXPECT_TRUE(carries("a", wanted));
  label->set_value("us");
  EXPECT_FALSE(carries("a", wanted));
  EXPECT_TRUE(carries("somebody_else", wanted)) << "what an agent carries that the file does not have is not known";
  label->set_value("eu");
  *wanted.Add() = v1::Label{};
  wanted[1].set_key("gpu");
  EXPECT_FALSE(carries("a", wanted)) << "all of them are asked for";
}

TEST(config_agent_settings, tells_workflows_which_calls_can_be_looked_up) {
  const auto file = parse_node_config("n.yaml", R"(node: { name: n }
store: { path: data }
agents:
  payment:
    kind: http
    base_url: http://127.0.0.1:7102
    calls:
      charge: { path: /charges, lookup: { path: "/charges/{perform_key}" } }
      refund: { path: /refunds }
  ledger: { kind: native, handler: echo }
)");
  EXPECT_EQ(shown(file.problems), lines{});
  const auto looks_up = lookups_of(file.config);
  EXPECT_TRUE(looks_up("payment", "charge"));
  EXPECT_FALSE(looks_up("payment", "refund"));
  EXPECT_TRUE(looks_up("ledger", "book")) << "only the node knows";
}

}  // namespace
}  // namespace fairlead::app
