#include "actors/core/workflow/check.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <limits>

namespace fairlead::core {
namespace {

v1::StepDefinition* add_step(v1::WorkflowDefinition& definition, const std::string& name, const std::vector<std::string>& needs = {}) {
  auto* step = definition.add_steps();
  step->set_name(name);
  for (const auto& need : needs) step->add_needs(need);
  step->set_agent("payment");
  step->set_call("charge");
  step->set_timeout_ms(5'000);
  step->set_attempts(3);
  step->mutable_backoff()->set_first_ms(100);
  step->mutable_backoff()->set_factor(2);
  step->mutable_backoff()->set_max_ms(1'000);
  return step;
}

v1::UndoDefinition* add_undo(v1::StepDefinition& step) {
  auto* undo = step.mutable_undo();
  undo->set_call("refund");
  undo->set_timeout_ms(5'000);
  undo->set_attempts(3);
  *undo->mutable_backoff() = step.backoff();
  return undo;
}

v1::WorkflowDefinition chain(const std::vector<std::string>& names) {
  v1::WorkflowDefinition out;
  out.set_name("order");
  for (std::size_t i = 0; i < names.size(); ++i)
    add_step(out, names[i], i == 0 ? std::vector<std::string>{} : std::vector<std::string>{names[i - 1]});
  return out;
}

using lines = std::vector<std::string>;

// `step/field: sentence; remedy`
lines problems_of(const v1::WorkflowDefinition& definition, const agent_catalog* agents = nullptr) {
  lines out;
  for (const auto& p : check_definition(definition, agents))
    out.push_back(p.step + "/" + p.field + ": " + p.sentence + (p.remedy.empty() ? "" : "; " + p.remedy));
  return out;
}

TEST(workflow_check, accepts_what_is_right) {
  auto definition = chain({"reserve", "charge", "ship"});
  definition.mutable_steps(1)->set_with_json(R"({"order":"${ .task.id }","r":"${ .steps.reserve.id }"})");
  definition.mutable_steps(2)->set_with_json(R"(["${ .steps.reserve }", "${ .steps.charge.id? }"])");
  definition.set_timeout_ms(60'000);
  EXPECT_EQ(problems_of(definition), lines{});
}

TEST(workflow_check, refuses_names) {
  for (const auto* name : {"", "Order", "1st", "a b", "-a", "naïve", "a.b"}) {
    auto definition = chain({"a"});
    definition.set_name(name);
    EXPECT_EQ(problems_of(definition),
              lines{"/workflow: \"" + std::string{name} +
                    "\" is not a valid workflow name; a lower-case letter, then lower-case letters, digits, _ and -; at most 64 in all"});
    definition = chain({name});
    EXPECT_EQ(problems_of(definition),
              lines{std::string{name} + "/: \"" + name +
                    "\" is not a valid step name; a lower-case letter, then lower-case letters, digits, _ and -; at most 64 in all"});
  }
  EXPECT_TRUE(valid_name(std::string(64, 'a')));
  EXPECT_FALSE(valid_name(std::string(65, 'a')));
  EXPECT_TRUE(valid_agent_name("Payment.v2-x_y"));
  EXPECT_FALSE(valid_agent_name("2payment"));
}

TEST(workflow_check, shows_hostile_names_short_and_harmless) {
  auto definition = chain({"a"});
  definition.set_name("\x1b[31m" + std::string(62, 'x') + "yyyy");
  EXPECT_EQ(problems_of(definition).at(0).substr(0, 82), "/workflow: \"?[31m" + std::string(59, 'x') + "…\" i");
}

TEST(workflow_check, wants_at_least_one_step_and_at_most_a_thousand) {
  EXPECT_EQ(problems_of(chain({})), lines{"/steps: a workflow needs at least one step"});
  auto definition = chain({});
  for (int i = 0; i < 1000; ++i) add_step(definition, "s" + std::to_string(i));
  EXPECT_EQ(problems_of(definition), lines{});
  add_step(definition, "last");
  EXPECT_EQ(problems_of(definition), lines{"/steps: there are 1001 steps; at most 1000 are allowed; split the workflow"});
}

TEST(workflow_check, refuses_two_steps_of_one_name) {
  EXPECT_EQ(problems_of(chain({"a", "b", "a"})).at(0), "a/: two steps have this name");
}

TEST(workflow_check, refuses_needs_that_lead_nowhere) {
  auto definition = chain({"reserve", "charge"});
  definition.mutable_steps(1)->add_needs("resrve");
  definition.mutable_steps(1)->add_needs("charge");
  definition.mutable_steps(1)->add_needs("reserve");
  EXPECT_EQ(problems_of(definition), (lines{"charge/needs: \"resrve\" is not a step of this workflow; did you mean reserve?",
                                            "charge/needs: a step cannot need itself", "charge/needs: \"reserve\" is given twice"}));
}

TEST(workflow_check, names_every_cycle) {
  auto definition = chain({"a", "b", "c", "d", "e", "f"});
  definition.mutable_steps(0)->add_needs("c");
  definition.mutable_steps(3)->clear_needs();
  definition.mutable_steps(3)->add_needs("f");
  EXPECT_EQ(problems_of(definition), (lines{"a/needs: these steps wait for each other: a -> c -> b -> a; remove one of these needs",
                                            "d/needs: these steps wait for each other: d -> f -> e -> d; remove one of these needs"}));
}

TEST(workflow_check, names_all_steps_of_a_cycle_up_to_a_hundred) {
  const auto cycle = [](int size) {
    v1::WorkflowDefinition out;
    out.set_name("order");
    for (int i = 0; i < size; ++i) add_step(out, "s" + std::to_string(i), {"s" + std::to_string((i + 1) % size)});
    return problems_of(out).at(0);
  };
  EXPECT_NE(cycle(100).find("s98 -> s99 -> s0;"), std::string::npos) << cycle(100);
  EXPECT_NE(cycle(103).find("s99 -> 3 more -> s0;"), std::string::npos) << cycle(103);
}

TEST(workflow_check, refuses_a_retention_that_is_too_long) {
  auto definition = chain({"a"});
  definition.set_keep_days(3'660);
  EXPECT_EQ(problems_of(definition), lines{});
  definition.set_keep_days(3'661);
  EXPECT_EQ(problems_of(definition), lines{"/retention: 3661d is not between 1d and 3660d"});
}

TEST(workflow_check, a_diamond_is_no_cycle) {
  v1::WorkflowDefinition definition;
  definition.set_name("diamond");
  add_step(definition, "last", {"left", "right"})->set_with_json(R"("${ .steps.first }")");
  add_step(definition, "left", {"first"});
  add_step(definition, "right", {"first"});
  add_step(definition, "first");
  EXPECT_EQ(problems_of(definition), lines{});
}

TEST(workflow_check, refuses_empty_and_wrong_agents_and_calls) {
  auto definition = chain({"a", "b"});
  definition.mutable_steps(0)->clear_agent();
  definition.mutable_steps(0)->clear_call();
  definition.mutable_steps(1)->set_agent("pay ment");
  definition.mutable_steps(1)->set_call("/charge");
  EXPECT_EQ(problems_of(definition),
            (lines{"a/agent: the step has no agent", "a/call: the call of the agent is missing",
                   "b/agent: \"pay ment\" is not a valid agent name", "b/call: \"/charge\" is not a valid call name"}));
}

TEST(workflow_check, checks_agents_and_calls_against_a_catalog) {
  const agent_catalog agents{{"payment", std::set<std::string>{"charge", "refund"}}, {"echo", std::nullopt}};
  auto definition = chain({"a", "b", "c"});
  definition.mutable_steps(0)->set_agent("paymnet");
  definition.mutable_steps(1)->set_call("chrage");
  add_undo(*definition.mutable_steps(1))->set_call("refnud");
  definition.mutable_steps(2)->set_agent("echo");
  definition.mutable_steps(2)->set_call("anything");
  EXPECT_EQ(problems_of(definition, &agents), (lines{"a/agent: there is no agent \"paymnet\"; did you mean payment?",
                                                     "b/call: agent payment has no call \"chrage\"; did you mean charge?",
                                                     "b/undo.call: agent payment has no call \"refnud\"; did you mean refund?"}));
  EXPECT_EQ(problems_of(definition), lines{});
}

TEST(workflow_check, refuses_values_out_of_range) {
  struct range_case {
    const char* field;
    std::function<void(v1::StepDefinition&)> change;
  };
  const double nan = std::nan("");
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const std::vector<range_case> cases{
      {"timeout", [](auto& s) { s.set_timeout_ms(0); }},
      {"timeout", [](auto& s) { s.set_timeout_ms(-1); }},
      {"timeout", [&](auto& s) { s.set_timeout_ms(most); }},
      {"attempts", [](auto& s) { s.set_attempts(0); }},
      {"attempts", [](auto& s) { s.set_attempts(1001); }},
      {"backoff", [](auto& s) { s.clear_backoff(); }},
      {"backoff.first", [](auto& s) { s.mutable_backoff()->set_first_ms(0); }},
      {"backoff.first", [](auto& s) { s.mutable_backoff()->set_first_ms(1'001); }},
      {"backoff.max", [&](auto& s) { s.mutable_backoff()->set_max_ms(most); }},
      {"backoff.factor", [](auto& s) { s.mutable_backoff()->set_factor(0.5); }},
      {"backoff.factor", [](auto& s) { s.mutable_backoff()->set_factor(101); }},
      {"backoff.factor", [&](auto& s) { s.mutable_backoff()->set_factor(nan); }},
      {"backoff.factor", [](auto& s) { s.mutable_backoff()->set_factor(HUGE_VAL); }},
      {"undo.timeout", [](auto& s) { add_undo(s)->set_timeout_ms(0); }},
      {"undo.attempts", [](auto& s) { add_undo(s)->set_attempts(0); }},
      {"undo.backoff.first", [](auto& s) { add_undo(s)->mutable_backoff()->set_first_ms(5'000); }},
      {"undo.call", [](auto& s) { add_undo(s)->clear_call(); }},
      {"on_failure", [](auto& s) { s.set_on_failure(static_cast<v1::OnFailure>(99)); }},
      {"in_doubt", [](auto& s) { s.set_in_doubt(static_cast<v1::InDoubt>(99)); }},
      {"cool_off", [](auto& s) { s.set_on_failure(v1::ON_FAILURE_COOL_OFF); }},
      {"cool_off", [](auto& s) { s.set_cool_off_ms(1'000); }},
      {"with", [](auto& s) { s.set_with_json("{"); }},
      {"with", [](auto& s) { s.set_with_json(R"("${ .inputt.x }")"); }},
      {"with", [](auto& s) { s.set_with_json(R"("${ env }")"); }},
      {"when", [](auto& s) { s.set_when_json("{"); }},
      {"when", [](auto& s) { s.set_when_json("true"); }},
      {"when", [](auto& s) { s.set_when_json(R"(["${ .input.a }","${ .input.b }"])"); }},
      {"when", [](auto& s) { s.set_when_json(R"("${ now }")"); }},
  };
  for (const auto& c : cases) {
    auto definition = chain({"a"});
    c.change(*definition.mutable_steps(0));
    const auto problems = check_definition(definition, nullptr);
    ASSERT_EQ(problems.size(), 1U) << c.field;
    EXPECT_EQ(problems[0].step, "a");
    EXPECT_EQ(problems[0].field, c.field);
    EXPECT_FALSE(problems[0].sentence.empty());
  }
}

TEST(workflow_check, refuses_values_of_the_workflow_out_of_range) {
  auto definition = chain({"a"});
  definition.set_timeout_ms(-5);
  definition.set_on_failure(static_cast<v1::OnFailure>(7));
  definition.set_cool_off_ms(5);
  EXPECT_EQ(problems_of(definition),
            (lines{"/timeout: -5ms is not between 1ms and 3660d", "/on_failure: this release does not know this value",
                   "/cool_off: no on_failure here is cool_off, so cool_off has no effect"}));
}

TEST(workflow_check, a_step_may_take_cool_off_from_the_workflow) {
  auto definition = chain({"a"});
  definition.set_on_failure(v1::ON_FAILURE_COOL_OFF);
  definition.set_cool_off_ms(600'000);
  EXPECT_EQ(problems_of(definition), lines{});
}

TEST(workflow_check, an_expression_reads_only_what_is_certain_to_be_there) {
  v1::WorkflowDefinition definition;
  definition.set_name("order");
  add_step(definition, "reserve");
  add_step(definition, "charge", {"reserve"});
  add_step(definition, "weigh");
  auto* ship = add_step(definition, "ship", {"charge"});
  ship->set_with_json(R"({"a":"${ .steps.reserve }","b":"${ .steps.weigh.kg }","c":"${ .steps.chrage }","d":"${ .steps.ship }"})");
  EXPECT_EQ(
      problems_of(definition),
      (lines{"ship/with: an expression reads step \"weigh\", which may not have ended when this step starts; add weigh to the step's needs",
             "ship/with: an expression reads step \"chrage\", which is not in this workflow; did you mean charge?",
             "ship/with: an expression reads the output of its own step, which does not exist yet"}));
}

TEST(workflow_check, jq_is_held_to_the_same_rule) {
  auto definition = chain({"a", "b"});
  definition.mutable_steps(0)->set_with_json(R"("${ .steps.b.total + 1 }")");
  EXPECT_EQ(problems_of(definition),
            lines{"a/with: an expression reads step \"b\", which may not have ended when this step starts; add b to the step's needs"});
}

TEST(workflow_check, an_undo_may_read_its_own_step) {
  auto definition = chain({"a", "b"});
  add_undo(*definition.mutable_steps(0))->set_with_json(R"("${ .steps.a.id }")");
  EXPECT_EQ(problems_of(definition), lines{});
  definition.mutable_steps(0)->mutable_undo()->set_with_json(R"("${ .steps.b.id }")");
  EXPECT_EQ(
      problems_of(definition),
      lines{"a/undo.with: an expression reads step \"b\", which may not have ended when this step starts; add b to the step's needs"});
}

TEST(workflow_check, the_undo_of_a_failed_step_reads_what_is_known_before_the_step) {
  const std::string refused =
      "b/undo.with: with also_if_failed the undo cannot read its own step: a step that has failed has no output; read only what is known "
      "before the step, such as ${ .task.id }, or remove also_if_failed";
  const std::pair<const char*, bool> table[] = {{R"({"id":"${ .task.id }","of":"${ .steps.a.id }"})", true},
                                                {"", true},
                                                {"null", true},
                                                {R"("${ .steps.b.id }")", false},
                                                {R"("${ .steps.b.id? }")", false},
                                                {R"({"n":["${ .steps.b.n + 1 }"]})", false},
                                                {R"("${ .status.b }")", false},
                                                {R"("${ .errors.b.code? }")", false}};
  for (const auto& [with, allowed] : table) {
    auto definition = chain({"a", "b"});
    auto* undo = add_undo(*definition.mutable_steps(1));
    undo->set_with_json(with);
    EXPECT_EQ(problems_of(definition), lines{}) << with;
    undo->set_also_if_failed(true);
    EXPECT_EQ(problems_of(definition), allowed ? lines{} : lines{refused}) << with;
  }
}

TEST(workflow_check, also_if_failed_needs_a_call_that_undoes) {
  auto definition = chain({"a"});
  auto& undo = *definition.mutable_steps(0)->mutable_undo();
  undo.set_none(true);
  undo.set_also_if_failed(true);
  EXPECT_EQ(problems_of(definition), lines{"a/undo.also_if_failed: undo: none says that there is nothing to undo, so also_if_failed has no "
                                           "effect; remove also_if_failed, or give the undo a call"});
  undo.Clear();
  undo.set_also_if_failed(true);
  undo.set_timeout_ms(5'000);
  undo.set_attempts(3);
  *undo.mutable_backoff() = definition.steps(0).backoff();
  EXPECT_EQ(problems_of(definition), lines{"a/undo.call: the call of the agent is missing"});
  undo.set_call("refund");
  EXPECT_EQ(problems_of(definition), lines{});
  definition.mutable_steps(0)->set_pivot(true);
  EXPECT_EQ(problems_of(definition), lines{"a/undo: a pivot is never undone; set undo: none"});
  definition.mutable_steps(0)->set_pivot(false);
  auto& repeat = *definition.mutable_steps(0)->mutable_repeat();
  repeat.set_until_json(R"("${ .steps.a.done }")");
  repeat.set_most(3);
  EXPECT_EQ(problems_of(definition),
            lines{"a/undo: what the rounds of a repeated step have done is not undone; set undo: none, and undo it in a step of its own"});
}

TEST(workflow_check, on_failure_undo_wants_every_step_to_say_how) {
  auto definition = chain({"a", "b", "c"});
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  add_undo(*definition.mutable_steps(0));
  definition.mutable_steps(1)->mutable_undo()->set_none(true);
  EXPECT_EQ(problems_of(definition),
            lines{"c/undo: the workflow has on_failure: undo, so each step needs an undo; add undo: { call: … }, or undo: none"});
  definition.set_on_failure(v1::ON_FAILURE_PARK);
  EXPECT_EQ(problems_of(definition), lines{});
  definition.mutable_steps(1)->set_on_failure(v1::ON_FAILURE_UNDO);
  EXPECT_EQ(problems_of(definition),
            lines{"c/undo: step b has on_failure: undo, so each step needs an undo; add undo: { call: … }, or undo: none"});
}

TEST(workflow_check, nothing_is_undone_after_a_pivot) {
  auto definition = chain({"a", "b", "c"});
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  for (auto& step : *definition.mutable_steps()) step.mutable_undo()->set_none(true);
  definition.mutable_steps(1)->set_pivot(true);
  EXPECT_EQ(problems_of(definition), lines{"c/on_failure: this step comes after the pivot b, so it can never be undone; set on_failure: "
                                           "park, fail, continue or cool_off on this step"});
  definition.mutable_steps(2)->set_on_failure(v1::ON_FAILURE_PARK);
  EXPECT_EQ(problems_of(definition), lines{});
  *definition.mutable_steps(1)->mutable_undo() = v1::UndoDefinition{};
  add_undo(*definition.mutable_steps(1));
  EXPECT_EQ(problems_of(definition), lines{"b/undo: a pivot is never undone; set undo: none"});
}

TEST(workflow_check, two_pivots_side_by_side_would_never_start) {
  auto definition = chain({"a"});
  add_step(definition, "b");
  for (auto& step : *definition.mutable_steps()) step.set_pivot(true);
  EXPECT_EQ(problems_of(definition), lines{"b/pivot: the pivots a and b would wait for each other; make one of them need the other"});
  definition.mutable_steps(1)->add_needs("a");
  EXPECT_EQ(problems_of(definition), lines{});
}

TEST(workflow_check, two_pivots_side_by_side_behind_another_pivot_would_never_start_either) {
  auto definition = chain({"a", "b"});
  add_step(definition, "c")->add_needs("a");
  for (auto& step : *definition.mutable_steps()) step.set_pivot(true);
  EXPECT_EQ(problems_of(definition), lines{"c/pivot: the pivots b and c would wait for each other; make one of them need the other"});
  definition.mutable_steps(2)->add_needs("b");
  EXPECT_EQ(problems_of(definition), lines{});
}

TEST(workflow_check, is_bounded_for_the_largest_and_densest_graph) {
  v1::WorkflowDefinition definition;
  definition.set_name("dense");
  for (int i = 0; i < 600; ++i) {
    auto* step = add_step(definition, "s" + std::to_string(i));
    for (int j = 0; j < 600; ++j) {
      if (j != i) step->add_needs("s" + std::to_string(j));
    }
  }
  EXPECT_EQ(problems_of(definition).at(0).substr(0, 25), "/: the definition takes 2");
  while (definition.ByteSizeLong() > max_definition_bytes) definition.mutable_steps()->RemoveLast();
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(check_definition(definition, nullptr).size(), max_problems);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds{20});
}

TEST(workflow_check, says_nothing_but_that_a_name_is_wrong_which_each_problem_would_repeat) {
  auto definition = chain({std::string(500'000, 'a')});
  definition.mutable_steps(0)->clear_agent();
  EXPECT_EQ(problems_of(definition),
            (lines{std::string(256, 'a') + "…/: \"" + std::string(64, 'a') + "…\" is not a valid step name; " + name_rule}));
  definition.mutable_steps(0)->set_name(std::string(1'000, 'a'));
  EXPECT_EQ(problems_of(definition).size(), 2U);
}

TEST(workflow_check, is_total_for_an_empty_definition) { EXPECT_FALSE(check_definition({}, nullptr).empty()); }

TEST(workflow_check, takes_a_heartbeat_that_is_heard_before_the_timeout) {
  auto definition = chain({"a"});
  definition.mutable_steps(0)->set_heartbeat_ms(4'999);
  EXPECT_EQ(problems_of(definition), lines{});
  definition.mutable_steps(0)->set_heartbeat_ms(100);
  EXPECT_EQ(problems_of(definition), lines{});
}

TEST(workflow_check, refuses_a_heartbeat_that_is_too_rare_or_too_frequent) {
  auto definition = chain({"a"});
  definition.mutable_steps(0)->set_heartbeat_ms(5'000);
  EXPECT_EQ(problems_of(definition),
            lines{"a/heartbeat: 5s is not shorter than the step's timeout, 5s, so it would have no effect; shorten "
                  "heartbeat, or raise timeout"});
  for (const std::int64_t ms : {std::int64_t{-1}, std::int64_t{99}, std::numeric_limits<std::int64_t>::max()}) {
    definition.mutable_steps(0)->set_heartbeat_ms(ms);
    EXPECT_EQ(problems_of(definition), lines{"a/heartbeat: " + std::to_string(ms) + "ms is not between 100ms and 3660d"});
  }
}

TEST(workflow_check, refuses_labels_that_no_agent_can_carry) {
  auto definition = chain({"a"});
  auto& step = *definition.mutable_steps(0);
  const auto add = [&step](const std::string& key, const std::string& value) {
    auto* label = step.add_labels();
    label->set_key(key);
    label->set_value(value);
  };
  add("zone", "eu");
  add("empty", "");
  EXPECT_EQ(problems_of(definition), lines{});
  add("zone", "us");
  EXPECT_EQ(problems_of(definition), lines{"a/labels: the label \"zone\" is given twice"});
  step.clear_labels();
  add("", "x");
  add("a=b", "x");
  add("long", std::string(257, 'x'));
  const std::string rule = " is not a label: a key of at most 128 bytes without =, and a value of at most 256 bytes, both plain text";
  EXPECT_EQ(problems_of(definition), (lines{"a/labels: \"\"" + rule, "a/labels: \"a=b\"" + rule, "a/labels: \"long\"" + rule}));
  step.clear_labels();
  for (int i = 0; i < 33; ++i) add("l" + std::to_string(i), "x");
  EXPECT_EQ(problems_of(definition), lines{"a/labels: there are more than 32 labels"});
}

}  // namespace
}  // namespace fairlead::core
