#include "actors/core/workflow/advice.hpp"

#include <gtest/gtest.h>

namespace fairlead::core {
namespace {

using lines = std::vector<std::string>;

v1::WorkflowDefinition one_step() {
  v1::WorkflowDefinition out;
  out.set_name("order");
  auto* step = out.add_steps();
  step->set_name("charge");
  step->set_agent("payment");
  step->set_call("charge");
  return out;
}

bool nothing_is_looked_up(const std::string&, const std::string&) { return false; }

lines advice_for(const v1::WorkflowDefinition& definition, const lookup_catalog& looks_up, const label_catalog& carries = {}) {
  lines out;
  for (const auto& one : advise(definition, looks_up, carries)) out.push_back(one.step + "/" + one.field + ": " + one.sentence);
  return out;
}

TEST(workflow_advice, says_nothing_of_a_plain_workflow) { EXPECT_EQ(advice_for(one_step(), nothing_is_looked_up), lines{}); }

TEST(workflow_advice, says_nothing_of_a_step_without_an_agent) {
  v1::WorkflowDefinition definition;
  definition.set_name("order");
  auto* step = definition.add_steps();
  step->set_name("pause");
  step->set_kind(v1::STEP_KIND_WAIT);
  step->set_with_json(R"("10m")");
  step->mutable_undo()->set_none(true);
  EXPECT_EQ(advice_for(definition, nothing_is_looked_up, [](const std::string&, const auto&) { return false; }), lines{});
}

TEST(workflow_advice, warns_of_an_undo_that_reads_an_output_which_nobody_could_look_up) {
  auto definition = one_step();
  definition.mutable_steps(0)->mutable_undo()->set_with_json(R"({"id":"${ .steps.charge.id }"})");
  EXPECT_EQ(advice_for(definition, nothing_is_looked_up).size(), 1U);
  const auto looks_up = [](const std::string& agent, const std::string& call) { return agent == "payment" && call == "charge"; };
  EXPECT_EQ(advice_for(definition, looks_up), lines{});
}

TEST(workflow_advice, warns_of_a_sub_workflow_that_is_not_there) {
  v1::WorkflowDefinition definition;
  definition.set_name("order");
  auto* step = definition.add_steps();
  step->set_name("ship");
  step->set_kind(v1::STEP_KIND_WORKFLOW);
  step->set_workflow("shipment");
  const auto told = [&](const workflow_catalog& knows) {
    lines out;
    for (const auto& one : advise(definition, nothing_is_looked_up, {}, knows))
      out.push_back(one.step + "/" + one.field + ": " + one.sentence + "; " + one.remedy);
    return out;
  };
  EXPECT_EQ(told({}), lines{}) << "nobody knows which workflows there are";
  EXPECT_EQ(told([](const std::string& name) { return name == "shipment"; }), lines{});
  EXPECT_EQ(told([](const std::string&) { return false; }),
            lines{"ship/workflow: there is no workflow shipment: the step would fail with code no_workflow; deploy shipment before the "
                  "first task gets to this step"});
  step->set_workflow("order");
  EXPECT_EQ(told([](const std::string&) { return false; }), lines{}) << "it is deployed with this definition";
}

TEST(workflow_advice, warns_of_items_that_are_all_given_the_same) {
  auto definition = one_step();
  auto& step = *definition.mutable_steps(0);
  step.mutable_undo()->set_call("refund");
  step.set_with_json(R"({"amount":"${ .input.amount }"})");
  const auto looks_up = [](const std::string&, const std::string&) { return true; };
  EXPECT_EQ(advice_for(definition, looks_up), lines{}) << "it is carried out once";
  step.mutable_for_each()->set_list_json(R"("${ .input.cards }")");
  EXPECT_EQ(advice_for(definition, looks_up),
            (lines{"charge/with: each item is given the same: `with` reads neither .item nor .index",
                   "charge/undo.with: the undo of each item is given the same: it reads neither .item nor "
                   ".index"}))
      << "without a with the undo is given the input of the task";
  step.clear_with_json();
  step.mutable_undo()->set_with_json(R"({"n":"${ .index }"})");
  EXPECT_EQ(advice_for(definition, looks_up), lines{}) << "without a with an item is given itself";
  step.set_with_json(R"({"card":"${ .item | ascii_downcase }"})");
  step.mutable_undo()->set_with_json(R"({"id":"${ .steps.charge.id }"})");
  EXPECT_EQ(advice_for(definition, looks_up), lines{}) << "the output of the item";
  step.mutable_undo()->Clear();
  step.mutable_undo()->set_none(true);
  EXPECT_EQ(advice_for(definition, looks_up), lines{});
}

TEST(workflow_advice, warns_of_labels_that_no_agent_of_that_name_carries) {
  auto definition = one_step();
  auto* label = definition.mutable_steps(0)->add_labels();
  label->set_key("zone");
  label->set_value("eu");
  label = definition.mutable_steps(0)->add_labels();
  label->set_key("gpu");
  label->set_value("yes");
  const auto carries_none = [](const std::string& agent, const auto&) { return agent != "payment"; };
  EXPECT_EQ(advice_for(definition, nothing_is_looked_up, carries_none),
            lines{"charge/labels: no agent payment carries zone=eu and gpu=yes: the step would wait for such an instance"});
  EXPECT_EQ(advice_for(definition, nothing_is_looked_up, [](const std::string&, const auto& labels) { return labels.size() == 2; }),
            lines{});
  EXPECT_EQ(advice_for(definition, nothing_is_looked_up), lines{}) << "nothing is known of anybody's labels";
}

}  // namespace
}  // namespace fairlead::core
