// Steps with a sub-workflow: what their definitions may have.

#include <gtest/gtest.h>

#include <functional>

#include "actors/core/workflow/check_kinds.hpp"
#include "actors/core/workflow/workflow.hpp"

namespace fairlead::core {
namespace {

using lines = std::vector<std::string>;
using change = std::function<void(v1::StepDefinition&)>;

v1::WorkflowDefinition order_with_shipment() {
  v1::WorkflowDefinition out;
  out.set_name("order");
  auto& ship = *out.add_steps();
  ship.set_name("ship");
  ship.set_kind(v1::STEP_KIND_WORKFLOW);
  ship.set_workflow("shipment");
  return out;
}

v1::StepDefinition& add_call(v1::WorkflowDefinition& definition, const std::string& name) {
  auto& step = *definition.add_steps();
  step.set_name(name);
  step.set_agent("payment");
  step.set_call("charge");
  step.set_timeout_ms(5'000);
  step.set_attempts(3);
  step.mutable_backoff()->set_first_ms(100);
  step.mutable_backoff()->set_factor(2);
  step.mutable_backoff()->set_max_ms(1'000);
  return step;
}

// `step/field: sentence; remedy`
lines problems(const v1::WorkflowDefinition& definition) {
  lines out;
  for (const auto& p : check_definition(definition, nullptr))
    out.push_back(p.step + "/" + p.field + ": " + p.sentence + (p.remedy.empty() ? "" : "; " + p.remedy));
  return out;
}

lines after(const change& change_step) {
  auto definition = order_with_shipment();
  change_step(*definition.mutable_steps(0));
  return problems(definition);
}

TEST(workflow_child, may_have_little_beside_its_workflow) {
  EXPECT_EQ(problems(order_with_shipment()), lines{});
  EXPECT_TRUE(workflow::compile(order_with_shipment(), "hash").ok()) << "the whole input of the task is the input of the child";
  EXPECT_EQ(after([](auto& s) {
              s.set_with_json(R"({"order":"${ .input.id }"})");
              s.set_timeout_ms(7'200'000);
              s.set_when_json(R"("${ .input.ships }")");
              s.set_pivot(true);
              s.mutable_undo()->set_none(true);
            }),
            lines{});
  for (const auto what : {v1::ON_FAILURE_UNDO, v1::ON_FAILURE_PARK, v1::ON_FAILURE_FAIL, v1::ON_FAILURE_CONTINUE})
    EXPECT_EQ(after([&](auto& s) { s.set_on_failure(what); }), lines{}) << what;
}

TEST(workflow_child, a_workflow_may_name_itself) {
  EXPECT_EQ(after([](auto& s) { s.set_workflow("order"); }), lines{});
}

TEST(workflow_child, refuses_what_belongs_to_attempts_and_to_other_kinds) {
  const std::vector<std::pair<change, std::string>> cases{
      {[](auto& s) { s.set_agent("x"); }, "agent: `workflow` and `agent` exclude one another; make two steps of it"},
      {[](auto& s) { s.set_call("x"); }, "call: `workflow` and `call` exclude one another; make two steps of it"},
      {[](auto& s) { s.set_signal("x"); }, "signal: `workflow` and `signal` exclude one another; make two steps of it"},
      {[](auto& s) { s.set_goes_on_untimely(true); },
       "on_timeout: only a step that waits for a signal has `on_timeout`; remove on_timeout; on_failure says what follows a step that has "
       "failed"},
      {[](auto& s) { s.set_heartbeat_ms(500); },
       "heartbeat: a step with a sub-workflow has no attempts: `heartbeat` has no effect here; remove heartbeat, or set it on a step of "
       "the "
       "sub-workflow"},
      {[](auto& s) { s.set_finally(v1::FINALLY_ALWAYS); },
       "finally: a step with a sub-workflow cannot be a step of the end; remove finally, or call an agent at the end"},
      {[](auto& s) { s.set_on_failure(v1::ON_FAILURE_COOL_OFF); },
       "on_failure: a step with a sub-workflow does not cool off; set on_failure: undo, park, fail or continue"},
      {[](auto& s) { s.mutable_undo()->set_call("refund"); },
       "undo: a step with a sub-workflow has no call that undoes it: its task is undone as the sub-workflow says; remove undo, or set "
       "undo: "
       "none to keep what the sub-workflow has done"},
      {[](auto& s) { s.set_timeout_ms(-1); }, "timeout: -1ms is not between 1ms and 3660d"},
      {[](auto& s) { s.set_timeout_ms(std::int64_t{3660} * 86'400'000 + 1); }, "timeout: 316224000001ms is not between 1ms and 3660d"},
      {[](auto& s) { s.clear_workflow(); }, "workflow: the name of the sub-workflow is missing; add workflow: NAME"},
      {[](auto& s) { s.set_workflow("Ship ment"); },
       std::string{"workflow: \"Ship ment\" is not a valid name of a workflow; "} + name_rule},
      {[](auto& s) { s.set_workflow(std::string(65, 'a')); },
       "workflow: \"" + std::string(64, 'a') + "…\" is not a valid name of a workflow; " + name_rule},
      {[](auto& s) { s.set_with_json(R"({"a":"${ .steps.ship }"})"); },
       "with: an expression reads the output of its own step, which does not exist yet"},
  };
  for (const auto& [change_step, problem] : cases) EXPECT_EQ(after(change_step), lines{"ship/" + problem});
  for (const auto* key : {"wait", "repeat", "callback", "labels", "retry", "attempts", "retry_for", "backoff", "in_doubt", "cool_off",
                          "output_type", "input_type"}) {
    const auto why = why_not(v1::STEP_KIND_WORKFLOW, key, true);
    ASSERT_TRUE(why.has_value()) << key;
    EXPECT_NE(why->sentence.find(key), std::string::npos) << why->sentence;
    EXPECT_FALSE(why->remedy.empty()) << key;
  }
  for (const auto* key : {"needs", "join", "when", "workflow", "with", "timeout", "on_failure", "pivot", "undo"})
    EXPECT_FALSE(why_not(v1::STEP_KIND_WORKFLOW, key).has_value()) << key;
}

TEST(workflow_child, no_other_kind_names_a_workflow) {
  auto definition = order_with_shipment();
  auto& charge = add_call(definition, "charge");
  charge.set_workflow("shipment");
  EXPECT_EQ(problems(definition), lines{"charge/workflow: only a step with a sub-workflow has `workflow`; remove workflow"});
  EXPECT_EQ(why_not(v1::STEP_KIND_WAIT, "workflow")->sentence, "`wait` and `workflow` exclude one another");
}

TEST(workflow_child, does_not_cool_off_by_its_workflow_either) {
  auto definition = order_with_shipment();
  add_call(definition, "charge");
  definition.set_on_failure(v1::ON_FAILURE_COOL_OFF);
  definition.set_cool_off_ms(60'000);
  EXPECT_EQ(problems(definition),
            lines{"ship/on_failure: the workflow has on_failure: cool_off, and a step with a sub-workflow does not cool off; set "
                  "on_failure: undo, park, fail or continue on this step"});
  definition.mutable_steps(0)->set_on_failure(v1::ON_FAILURE_PARK);
  EXPECT_EQ(problems(definition), lines{});
}

TEST(workflow_child, is_undone_without_an_undo_of_its_own) {
  auto definition = order_with_shipment();
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  EXPECT_EQ(problems(definition), lines{});
  add_call(definition, "charge");
  EXPECT_EQ(problems(definition).size(), 1U) << "a call says how it is undone";
}

TEST(workflow_child, may_be_left_over_by_a_join) {
  auto definition = order_with_shipment();
  auto& other = add_call(definition, "charge");
  other.mutable_undo()->set_none(true);
  auto& done = *definition.add_steps();
  done.set_name("done");
  done.set_kind(v1::STEP_KIND_VALUE);
  done.set_with_json("null");
  done.mutable_undo()->set_none(true);
  done.add_needs("ship");
  done.add_needs("charge");
  done.set_join(1);
  EXPECT_EQ(problems(definition), lines{});
  definition.mutable_steps(0)->set_pivot(true);
  EXPECT_EQ(problems(definition).size(), 1U);
}

TEST(workflow_child, comes_after_a_pivot_only_if_its_failure_undoes_nothing) {
  auto definition = order_with_shipment();
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  auto& charge = add_call(definition, "charge");
  charge.set_pivot(true);
  charge.mutable_undo()->set_none(true);
  definition.mutable_steps(0)->add_needs("charge");
  EXPECT_EQ(problems(definition),
            lines{"ship/on_failure: this step comes after the pivot charge, so it can never be undone; set on_failure: park, "
                  "fail or continue on this step"});
}

TEST(workflow_child, of_a_stored_version_names_its_workflow) {
  auto definition = order_with_shipment();
  definition.mutable_steps(0)->clear_workflow();
  const auto stored = workflow::compile(definition, "hash");
  ASSERT_FALSE(stored.ok());
  EXPECT_EQ(stored.failure().sentence, "step ship names no sub-workflow");
}

}  // namespace
}  // namespace fairlead::core
