// The rules of a step for classes of faults (`retry`), as a file says them.

#include <gtest/gtest.h>

#include <map>

#include "app/files/workflow_file.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

/// One step with this rule, or these; the text begins on line 3.
std::string with_rules(const std::string& text) { return "workflow: w\nsteps: { a: { agent: x, call: y, retry:\n" + text + "\n} }\n"; }

v1::StepDefinition step_read(const std::string& rules) {
  const auto file = parse_workflow("w.yaml", with_rules(rules), nullptr);
  EXPECT_EQ(shown(file.problems), lines{}) << rules;
  return file.definition.steps(0);
}

lines found_in_rules(const std::string& rules) { return shown(parse_workflow("w.yaml", with_rules(rules), nullptr).problems); }

TEST(workflow_rules, are_read_with_their_defaults) {
  const auto step = step_read(R"([{ on: rate_limited, attempts: 20, backoff: { first: 5s, factor: 1, max: 5s } },
    { on: [http_502, "http_5*"], attempts: 3, retry_for: 10m }, { on: down }, { on: "*", backoff: { first: 5m } }])");
  ASSERT_EQ(step.retry_size(), 4);
  EXPECT_EQ(step.retry(0).on_size(), 1);
  EXPECT_EQ(step.retry(0).on(0), "rate_limited");
  EXPECT_EQ(step.retry(0).attempts(), 20U);
  EXPECT_EQ(step.retry(0).retry_for_ms(), 0) << "attempts alone count";
  EXPECT_EQ(step.retry(0).backoff().first_ms(), 5'000);
  EXPECT_EQ(step.retry(0).backoff().factor(), 1);
  EXPECT_EQ(step.retry(0).backoff().max_ms(), 5'000);
  EXPECT_EQ(step.retry(1).on(1), "http_5*");
  EXPECT_EQ(step.retry(1).attempts(), 3U);
  EXPECT_EQ(step.retry(1).retry_for_ms(), 600'000);
  EXPECT_FALSE(step.retry(1).has_backoff()) << "that of the step";
  EXPECT_EQ(step.retry(2).attempts(), 0U);
  EXPECT_EQ(step.retry(2).retry_for_ms(), 3'600'000);
  EXPECT_EQ(step.retry(3).backoff().factor(), 2);
  EXPECT_EQ(step.retry(3).backoff().max_ms(), 300'000) << "not shorter than first";
  EXPECT_EQ(step.retry_for_ms(), 3'600'000) << "what the step says for all others stays as it is";
}

TEST(workflow_rules, that_cannot_be_meant_are_refused_at_their_place) {
  std::string many, codes;
  for (int i = 0; i < 17; ++i) many += "{ on: c" + std::to_string(i) + " }, ";
  for (int i = 0; i < 17; ++i) codes += "c" + std::to_string(i) + ", ";
  const auto no_code = [](const std::string& code) {
    return "3:8: steps.a.retry[0].on: \"" + code +
           "\" is not the code of a fault; a code has letters, digits, _, . and -, at most 64 in all; * at its end stands for any end";
  };
  const std::map<std::string, lines> table{
      {"busy", {"3:1: steps.a.retry: expected a list of rules, such as [{ on: http_502, attempts: 3 }], found \"busy\""}},
      {"[busy]", {"3:2: steps.a.retry[0]: expected a map, found \"busy\""}},
      {"[{ attempts: 3 }]", {"3:2: steps.a.retry[0].on: this key is missing; expected the code of a fault, or a list of codes"}},
      {"[{ on: [] }]", {"3:8: steps.a.retry[0].on: the rule names no code; add on: CODE, such as http_502"}},
      {"[{ on: { a: 1 } }]", {"3:8: steps.a.retry[0].on: expected the code of a fault, or a list of codes, found a map"}},
      {"[{ on: 502 }]", {"3:8: steps.a.retry[0].on: expected text, found the number 502"}},
      {"[{ on: [502] }]", {"3:9: steps.a.retry[0].on[0]: expected text, found the number 502"}},
      {"[{ on: busy, after: 3 }]",
       {"3:14: steps.a.retry[0].after: this key is not known here; known keys: on, attempts, retry_for or backoff"}},
      {"[{ on: busy, attempts: 0 }]", {"3:24: steps.a.retry[0].attempts: expected a whole number from 1 to 1000, found the number 0"}},
      {"[{ on: busy, attempts: 1001 }]",
       {"3:24: steps.a.retry[0].attempts: expected a whole number from 1 to 1000, found the number 1001"}},
      {"[{ on: busy, retry_for: 0s }]", {"3:25: steps.a.retry[0].retry_for: expected a duration from 1ms to 3660d, found \"0s\""}},
      {"[{ on: busy, backoff: { first: 1m, max: 1s } }]", {"3:32: steps.a.retry[0].backoff.first: 1m is longer than max, 1s"}},
      {"[{ on: [\"no code\"] }]", {no_code("no code")}},
      {"[{ on: [\"a/b*\"] }]", {no_code("a/b*")}},
      {"[{ on: \"a*b\" }]",
       {"3:8: steps.a.retry[0].on: \"a*b\" has a * that is not its last character; put the * at the end: http_5* stands for all codes that "
        "begin with http_5"}},
      {"[{ on: \"**\" }]",
       {"3:8: steps.a.retry[0].on: \"**\" has a * that is not its last character; put the * at the end: http_5* stands for all codes that "
        "begin with http_5"}},
      {"[{ on: [busy, busy] }]", {"3:8: steps.a.retry[0].on: \"busy\" is given twice; remove one of them"}},
      {"[{ on: busy },\n { on: [busy, down] }]",
       {"4:8: steps.a.retry[1].on: \"busy\" has no effect: the rule retry[0] names it already; remove it from one of the rules"}},
      {"[{ on: [down, \"http_*\"] },\n { on: \"http_50*\" }]",
       {"4:8: steps.a.retry[1].on: \"http_50*\" has no effect: the rule retry[0] names it already by \"http_*\"; put this rule before that "
        "one"}},
      {"[{ on: output_type }]",
       {"3:8: steps.a.retry[0].on: \"output_type\" is no fault that an agent reports, so it is not retried by a rule; remove it; "
        "docs/agents.md lists the codes that a rule can name"}},
      {"[" + many + "]",
       {"2:34: steps.a.retry: there are 17 rules; at most 16 are allowed; put codes that are retried alike into one rule"}},
      {"[{ on: [" + codes + "] }]",
       {"3:8: steps.a.retry[0].on: there are 17 codes; at most 16 are allowed; let a code that ends with * stand for several, or make "
        "another "
        "rule"}},
  };
  for (const auto& [rules, problems] : table) EXPECT_EQ(found_in_rules(rules), problems) << rules;
}

TEST(workflow_rules, are_refused_in_a_step_that_no_agent_carries_out) {
  for (const auto* step : {"wait: 1h", "signal: s, timeout: 1h", "with: 1"}) {
    const auto file =
        parse_workflow("w.yaml", "workflow: w\nsteps: { a: { " + std::string{step} + ",\n retry: [{ on: busy }] } }\n", nullptr);
    ASSERT_EQ(file.problems.size(), 1U) << step;
    EXPECT_NE(to_text(file.problems[0]).find("3:2: steps.a.retry: "), std::string::npos) << to_text(file.problems[0]);
    EXPECT_NE(to_text(file.problems[0]).find("has no agent: `retry` has no effect here; remove retry"), std::string::npos);
  }
  EXPECT_EQ(shown(parse_workflow("w.yaml", "workflow: w\nretry: []\nsteps: { a: { with: 1 } }\n", nullptr).problems),
            lines{"2:1: retry: this key is not supported yet"});
}

}  // namespace
}  // namespace fairlead::app
