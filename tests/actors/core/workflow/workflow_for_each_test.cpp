// Steps with `for_each`: what their definitions may have, and where expressions may read the item.

#include <gtest/gtest.h>

#include <functional>

#include "actors/core/workflow/check_kinds.hpp"

namespace fairlead::core {
namespace {

using lines = std::vector<std::string>;
using change_of_step = std::function<void(v1::StepDefinition&)>;

v1::StepDefinition& add_letters(v1::WorkflowDefinition& definition, const std::string& name = "letters") {
  auto& step = *definition.add_steps();
  step.set_name(name);
  step.set_agent("mail");
  step.set_call("send");
  step.set_timeout_ms(5'000);
  step.set_attempts(3);
  step.mutable_backoff()->set_first_ms(100);
  step.mutable_backoff()->set_factor(2);
  step.mutable_backoff()->set_max_ms(1'000);
  step.mutable_for_each()->set_list_json(R"("${ .input.addresses }")");
  step.mutable_for_each()->set_at_once(10);
  return step;
}

v1::WorkflowDefinition letters_to_all() {
  v1::WorkflowDefinition out;
  out.set_name("mailing");
  add_letters(out);
  return out;
}

v1::WorkflowDefinition shipments_of_all() {
  v1::WorkflowDefinition out;
  out.set_name("order");
  auto& step = *out.add_steps();
  step.set_name("ship");
  step.set_kind(v1::STEP_KIND_WORKFLOW);
  step.set_workflow("shipment");
  step.mutable_for_each()->set_list_json(R"("${ .input.parcels }")");
  step.mutable_for_each()->set_at_once(1);
  return out;
}

// `step/field: sentence; remedy`
lines problems_of_items(const v1::WorkflowDefinition& definition) {
  lines out;
  for (const auto& p : check_definition(definition, nullptr))
    out.push_back(p.step + "/" + p.field + ": " + p.sentence + (p.remedy.empty() ? "" : "; " + p.remedy));
  return out;
}

lines with_change(v1::WorkflowDefinition definition, const change_of_step& change) {
  change(*definition.mutable_steps(0));
  return problems_of_items(definition);
}

lines letters_with(const change_of_step& change) { return with_change(letters_to_all(), change); }

TEST(workflow_for_each, may_have_the_keys_of_a_call_or_of_a_sub_workflow) {
  EXPECT_EQ(problems_of_items(letters_to_all()), lines{});
  EXPECT_EQ(problems_of_items(shipments_of_all()), lines{});
  EXPECT_EQ(letters_with([](auto& s) {
              s.set_with_json(R"({"to":"${ .item.to }","number":"${ .index }","all":"${ .input.addresses | length }"})");
              s.set_when_json(R"("${ .input.send }")");
              s.set_callback_ms(86'400'000);
              s.set_heartbeat_ms(500);
              s.set_in_doubt(v1::IN_DOUBT_PARK);
              s.add_retry()->add_on("busy");
              s.mutable_retry(0)->set_attempts(2);
              s.mutable_for_each()->set_collect(true);
              auto& undo = *s.mutable_undo();
              undo.set_call("recall");
              undo.set_with_json(R"({"id":"${ .steps.letters.id }","to":"${ .item.to }","n":"${ .index + 1 }"})");
              undo.set_timeout_ms(1'000);
              undo.set_attempts(1);
              *undo.mutable_backoff() = s.backoff();
            }),
            lines{});
  EXPECT_EQ(letters_with([](auto& s) {
              auto& undo = *s.mutable_undo();
              undo.set_call("recall");
              undo.set_with_json(R"("${ .item }")");
              undo.set_also_if_failed(true);
              undo.set_timeout_ms(1'000);
              undo.set_attempts(1);
              *undo.mutable_backoff() = s.backoff();
            }),
            lines{})
      << "of each item by itself";
  for (const auto what : {v1::ON_FAILURE_UNDO, v1::ON_FAILURE_PARK, v1::ON_FAILURE_FAIL, v1::ON_FAILURE_CONTINUE}) {
    EXPECT_EQ(letters_with([&](auto& s) {
                s.set_on_failure(what);
                s.mutable_undo()->set_none(true);
              }),
              lines{})
        << what;
    EXPECT_EQ(with_change(shipments_of_all(), [&](auto& s) { s.set_on_failure(what); }), lines{}) << what;
  }
  EXPECT_EQ(with_change(shipments_of_all(),
                        [](auto& s) {
                          s.set_with_json(R"({"parcel":"${ .item }"})");
                          s.set_timeout_ms(7'200'000);
                          s.mutable_undo()->set_none(true);
                        }),
            lines{});
}

TEST(workflow_for_each, refuses_what_a_list_cannot_have) {
  const std::vector<std::pair<change_of_step, std::string>> cases{
      {[](auto& s) {
         s.mutable_repeat()->set_until_json(R"("${ .input.a }")");
         s.mutable_repeat()->set_most(3);
       },
       "repeat: a step with for_each is not repeated; remove repeat, or put the repeated step into a sub-workflow"},
      {[](auto& s) { s.set_pivot(true); }, "pivot: each item would be a pivot of its own; put the pivot into a step of its own"},
      {[](auto& s) { s.set_finally(v1::FINALLY_ALWAYS); },
       "finally: a step with for_each cannot be a step of the end; remove finally, or let one call at the end do it for the whole list"},
      {[](auto& s) { s.set_on_failure(v1::ON_FAILURE_COOL_OFF); },
       "on_failure: a step with for_each does not cool off; set on_failure: undo, park, fail or continue; retry_for is for each item"},
      {[](auto& s) { s.set_cool_off_ms(1'000); },
       "cool_off: a step with for_each does not cool off; remove cool_off; retry_for is for each item"},
      {[](auto& s) { s.mutable_for_each()->clear_list_json(); },
       R"(for_each.items: the list of the items is missing; add items: "${ … }", which gives a list)"},
      {[](auto& s) { s.mutable_for_each()->set_at_once(0); }, "for_each.at_once: 0 is not between 1 and 1000"},
      {[](auto& s) { s.mutable_for_each()->set_at_once(1'001); }, "for_each.at_once: 1001 is not between 1 and 1000"},
      {[](auto& s) { s.mutable_for_each()->set_list_json("7"); },
       R"(for_each.items: a number is no list; give a list, or one expression "${ … }" that gives a list)"},
      {[](auto& s) { s.mutable_for_each()->set_list_json(R"({"a":"${ .input.b }"})"); },
       R"(for_each.items: an object is no list; give a list, or one expression "${ … }" that gives a list)"},
      {[](auto& s) { s.mutable_for_each()->set_list_json(R"("parcels")"); },
       R"(for_each.items: a string is no list; give a list, or one expression "${ … }" that gives a list)"},
      {[](auto& s) { s.mutable_for_each()->set_list_json(R"("${ .steps.gone.all }")"); },
       "for_each.items: an expression reads step \"gone\", which is not in this workflow"},
      {[](auto& s) { s.mutable_for_each()->set_list_json(R"(["${ .steps.letters }"])"); },
       "for_each.items: an expression reads the output of its own step, which does not exist yet"},
  };
  for (const auto& [change, problem] : cases) EXPECT_EQ(letters_with(change), lines{"letters/" + problem});
  EXPECT_EQ(letters_with([](auto& s) { s.mutable_for_each()->set_list_json("[1,"); }).size(), 1U);
  EXPECT_EQ(letters_with([](auto& s) { s.mutable_for_each()->set_list_json(R"("${ ( }")"); }).size(), 1U);
}

TEST(workflow_for_each, refuses_the_same_of_a_sub_workflow) {
  EXPECT_EQ(with_change(shipments_of_all(), [](auto& s) { s.set_pivot(true); }),
            lines{"ship/pivot: each item would be a pivot of its own; put the pivot into a step of its own"});
  EXPECT_EQ(with_change(shipments_of_all(), [](auto& s) { s.set_on_failure(v1::ON_FAILURE_COOL_OFF); }),
            lines{"ship/on_failure: a step with a sub-workflow does not cool off; set on_failure: undo, park, fail or continue"});
  EXPECT_EQ(with_change(shipments_of_all(), [](auto& s) { s.set_finally(v1::FINALLY_ALWAYS); }).size(), 1U);
}

TEST(workflow_for_each, does_not_cool_off_by_its_workflow_either) {
  auto definition = letters_to_all();
  definition.set_on_failure(v1::ON_FAILURE_COOL_OFF);
  definition.set_cool_off_ms(60'000);
  EXPECT_EQ(problems_of_items(definition),
            lines{"letters/on_failure: the workflow has on_failure: cool_off, and a step with for_each does not cool off; set on_failure: "
                  "undo, park, fail or continue on this step"});
}

TEST(workflow_for_each, needs_a_call_or_a_sub_workflow) {
  EXPECT_EQ(why_not(v1::STEP_KIND_VALUE, "for_each")->sentence, "for_each needs a call or a sub-workflow");
  EXPECT_EQ(why_not(v1::STEP_KIND_VALUE, "for_each")->remedy, "add agent and call, or workflow; jq's map computes a list of values");
  EXPECT_EQ(why_not(v1::STEP_KIND_WAIT, "for_each")->sentence, "a step that waits does so once: for_each needs a call or a sub-workflow");
  EXPECT_TRUE(why_not(v1::STEP_KIND_SIGNAL, "for_each", true).has_value());
  for (const auto kind : {v1::STEP_KIND_CALL, v1::STEP_KIND_WORKFLOW}) EXPECT_FALSE(why_not(kind, "for_each").has_value()) << kind;
  v1::WorkflowDefinition value;
  value.set_name("w");
  auto& step = *value.add_steps();
  step.set_name("v");
  step.set_kind(v1::STEP_KIND_VALUE);
  step.set_with_json("1");
  step.mutable_undo()->set_none(true);
  step.mutable_for_each();
  EXPECT_EQ(
      problems_of_items(value),
      lines{"v/for_each: for_each needs a call or a sub-workflow; add agent and call, or workflow; jq's map computes a list of values"});
}

TEST(workflow_for_each, has_at_most_so_many_items) {
  const auto list_of = [](std::size_t count) {
    std::string out = "[";
    for (std::size_t i = 0; i < count; ++i) out += i == 0 ? "[1,2]" : ",\"a\"";
    return out + "]";
  };
  EXPECT_EQ(letters_with([&](auto& s) { s.mutable_for_each()->set_list_json(list_of(max_list_items)); }), lines{});
  EXPECT_EQ(letters_with([&](auto& s) { s.mutable_for_each()->set_list_json(list_of(max_list_items + 1)); }),
            lines{"letters/for_each.items: the list has 10001 items; at most 10000 are allowed; split the list over several steps, or let "
                  "each item stand for several things"});
}

TEST(workflow_for_each, the_item_is_known_in_what_the_items_are_given_and_nowhere_else) {
  const std::string known = ", which is known only in `with` and `undo.with` of a step with for_each; ";
  const std::string in_list = "read the list itself here, as for_each does; to leave items out, filter the list: ${ [ … | select(…) ] }";
  EXPECT_EQ(letters_with([](auto& s) { s.set_when_json(R"("${ .item.wanted }")"); }),
            lines{"letters/when: an expression reads .item" + known + in_list});
  EXPECT_EQ(letters_with([](auto& s) { s.mutable_for_each()->set_list_json(R"("${ .input.all[.index] }")"); }),
            lines{"letters/for_each.items: an expression reads .index" + known + in_list});
  auto definition = letters_to_all();
  auto& after = add_letters(definition, "after");
  after.add_needs("letters");
  after.clear_for_each();
  after.set_with_json(R"({"to":"${ .item.to }"})");
  EXPECT_EQ(problems_of_items(definition), lines{"after/with: an expression reads .item" + known + "add for_each to the step"});
  after.set_with_json("1");
  definition.set_output_json(R"({"last":"${ .index }"})");
  EXPECT_EQ(problems_of_items(definition), lines{"/output: an expression reads .index" + known +
                                                 "read the outputs of the step with for_each: ${ .steps.NAME } is a list of "
                                                 "them"});
}

TEST(workflow_for_each, of_a_call_says_how_each_item_is_undone) {
  auto definition = letters_to_all();
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  EXPECT_EQ(problems_of_items(definition),
            lines{"letters/undo: the workflow has on_failure: undo, so each step needs an undo; add undo: { call: … }, or undo: none"});
  auto children = shipments_of_all();
  children.set_on_failure(v1::ON_FAILURE_UNDO);
  EXPECT_EQ(problems_of_items(children), lines{}) << "the sub-workflow says it";
}

}  // namespace
}  // namespace fairlead::core
