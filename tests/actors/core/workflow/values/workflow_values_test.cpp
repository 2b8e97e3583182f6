#include <gtest/gtest.h>

#include "actors/core/types/message_types.hpp"
#include "actors/core/workflow/values/check_values.hpp"
#include "messages/api.pb.h"

namespace fairlead::core {
namespace {

using lines = std::vector<std::string>;

// `step/field: sentence; remedy`
lines values_of(const v1::WorkflowDefinition& definition) {
  lines out;
  for (const auto& p : check_values(definition))
    out.push_back(p.step + "/" + p.field + ": " + p.sentence + (p.remedy.empty() ? "" : "; " + p.remedy));
  return out;
}

v1::StepDefinition& add(v1::WorkflowDefinition& definition, const std::string& name, const std::vector<std::string>& needs = {}) {
  auto& step = *definition.add_steps();
  step.set_name(name);
  for (const auto& need : needs) step.add_needs(need);
  step.set_agent("a");
  step.set_call("c");
  step.set_with_json("null");
  return step;
}

v1::StepDefinition& add_value(v1::WorkflowDefinition& definition, const std::string& name, const std::string& json) {
  auto& step = *definition.add_steps();
  step.set_name(name);
  step.set_kind(v1::STEP_KIND_VALUE);
  step.set_with_json(json);
  return step;
}

v1::StepDefinition& add_wait(v1::WorkflowDefinition& definition, const std::string& name, const std::string& json,
                             const std::vector<std::string>& needs = {}) {
  auto& step = add_value(definition, name, json);
  step.set_kind(v1::STEP_KIND_WAIT);
  for (const auto& need : needs) step.add_needs(need);
  return step;
}

/// What is wrong with `"${ EXPRESSION }"` as the input of a step, under this schema of the input.
lines reading(const std::string& expression, const std::string& schema) {
  v1::WorkflowDefinition definition;
  definition.set_input_schema_json(schema);
  add(definition, "s").set_with_json("{\"a\":\"${ " + expression + " }\"}");
  return values_of(definition);
}

const std::string closed =
    R"({"type":"object","properties":{"amount_cents":{"type":"integer"},"items":{"type":"array","items":{"$ref":"#/$defs/item"}},
  "note":{},"either":{"type":["string","object"]}},"additionalProperties":false,
  "$defs":{"item":{"type":"object","properties":{"sku":{"type":"string"}},"additionalProperties":false}}})";

TEST(workflow_values, refuses_a_property_that_the_schema_of_the_input_does_not_allow) {
  EXPECT_EQ(
      reading(".input.amount_cent", closed),
      lines{"s/with: an expression reads .input.amount_cent, which the schema of the input does not allow; did you mean amount_cents?"});
  EXPECT_EQ(
      reading(".input.items[0].colour?", closed),
      lines{"s/with: an expression reads .input.items[0].colour, which the schema of the input does not allow; add the property to the "
            "schema, or read another path"});
  EXPECT_EQ(reading(".input.amount_cent + 1", closed).size(), 1U) << "jq";
  for (const auto* good : {".input", ".input.amount_cents", ".input.items[3].sku", ".input.note.anything[1]", ".input.either.x",
                           ".input.amount_cents * 2", ".input.nothing // 1", ".input.items | map(.colour)"})
    EXPECT_EQ(reading(good, closed), lines{}) << good;
  EXPECT_EQ(reading(".input.anything", R"({"type":"object","properties":{"a":{}}})"), lines{}) << "an open schema";
  EXPECT_EQ(reading(".input.anything", ""), lines{});
}

TEST(workflow_values, refuses_a_path_into_a_value_of_another_type) {
  EXPECT_EQ(
      reading(".input.items.sku", closed),
      lines{"s/with: an expression reads .input.items.sku, but by the schema of the input .input.items is an array; read another path, "
            "or change the schema"});
  EXPECT_EQ(reading(".input.amount_cents.value", closed),
            lines{"s/with: an expression reads .input.amount_cents.value, but by the schema of the input .input.amount_cents is a number; "
                  "read another path, or change the schema"});
  EXPECT_EQ(reading(".input.either[0]", closed),
            lines{"s/with: an expression reads .input.either[0], but by the schema of the input .input.either is no array; read another "
                  "path, or change the schema"});
  EXPECT_EQ(reading(".task.id.short", ""), lines{"s/with: an expression reads .task.id.short, but .task.id is text; read .task.id"});
  EXPECT_EQ(reading(".task.priority.x", ""),
            lines{"s/with: an expression reads .task.priority.x, but .task.priority is a number; read .task.priority"});
  EXPECT_EQ(reading(".task.labels.zone", ""), lines{});
}

TEST(workflow_values, follows_what_counts_for_a_schema_whatever_else_it_says) {
  const auto all = R"({"allOf":[{"properties":{"a":{"type":"string"}},"additionalProperties":false}]})";
  EXPECT_EQ(reading(".input.b", all).size(), 1U);
  EXPECT_EQ(reading(".input.a.x", all).size(), 1U);
  // Of alternatives nothing is certain.
  EXPECT_EQ(reading(".input.b", R"({"anyOf":[{"additionalProperties":false},{}]})"), lines{});
  EXPECT_EQ(reading(".input.b.c", R"({"additionalProperties":{"type":"integer"}})").size(), 1U);
}

TEST(workflow_values, takes_a_schema_that_refers_to_itself_or_multiplies) {
  EXPECT_EQ(reading(".input.a", R"({"$ref":"#/$defs/x","$defs":{"x":{"$ref":"#/$defs/x"}}})"), lines{});
  std::string defs;
  for (int i = 0; i < 60; ++i) {
    const auto next = R"({"$ref":"#/$defs/d)" + std::to_string(i + 1) + R"("})";
    defs += (i == 0 ? "" : ",") + std::string{"\"d"} + std::to_string(i) + R"(":{"allOf":[)" + next + "," + next + "]}";
  }
  EXPECT_EQ(reading(".input.a", R"({"allOf":[{"$ref":"#/$defs/d0"}],"$defs":{)" + defs + "}}"), lines{});
  for (const auto* odd : {"true", "false", "[]", "7", R"({"type":7,"properties":[],"allOf":{},"items":0})", R"({"type":[]})", "{", ""})
    EXPECT_LE(reading(".input.a.b[1]", odd).size(), 1U) << odd;
}

TEST(workflow_values, knows_the_values_that_steps_give) {
  v1::WorkflowDefinition definition;
  add_value(definition, "limits", R"({"most":5,"names":["a"],"from":"${ .input.from }"})");
  add_wait(definition, "pause", "\"10m\"");
  add(definition, "good", {"limits"})
      .set_with_json(R"(["${ .steps.limits.most }","${ .steps.limits.from.x }","${ .steps.limits.names[0] }"])");
  add(definition, "bad", {"limits", "pause"})
      .set_with_json(R"(["${ .steps.limits.mots }","${ .steps.limits.most.x }","${ .steps.limits.names[1] }","${ .steps.pause.x }"])");
  EXPECT_EQ(
      values_of(definition),
      (lines{"bad/with: an expression reads .steps.limits.mots, which the value of the step does not have; did you mean most?",
             "bad/with: an expression reads .steps.limits.most.x, but .steps.limits.most is a number; change the value of the step, or "
             "read another path",
             "bad/with: an expression reads .steps.limits.names[1], which the value of the step does not have; add it to the value, or "
             "read another path",
             "bad/with: an expression reads .steps.pause.x, but .steps.pause is null; change the value of the step, or read another "
             "path"}));
}

TEST(workflow_values, knows_the_types_of_outputs) {
  const auto read = [](const std::string& path) {
    v1::WorkflowDefinition definition;
    definition.set_types(*describe_types({v1::SubmitRequest::descriptor()}));
    add(definition, "ask").set_output_type("fairlead.v1.SubmitRequest");
    add(definition, "s", {"ask"}).set_with_json("{\"a\":\"${ .steps.ask" + path + " }\"}");
    return values_of(definition);
  };
  const std::string begin = "s/with: an expression reads .steps.ask";
  EXPECT_EQ(read(".item"), lines{begin + ".item, but fairlead.v1.SubmitRequest has no field item; did you mean items?"});
  EXPECT_EQ(read(".items[0].prioriti"),
            lines{begin + ".items[0].prioriti, but fairlead.v1.Submission has no field prioriti; did you mean priority?"});
  EXPECT_EQ(read(".items.id"),
            lines{begin + ".items.id, but by output_type of the step .steps.ask.items is an array; read another path, or "
                          "change output_type of the step"});
  EXPECT_EQ(read(".items[0].id.x"),
            lines{begin + ".items[0].id.x, but by output_type of the step .steps.ask.items[0].id is a single value; "
                          "read another path, or change output_type of the step"});
  EXPECT_EQ(read("[0]"),
            lines{begin + "[0], but by output_type of the step .steps.ask is an object; read another path, or change output_type "
                          "of the step"});
  for (const auto* good : {"", ".items", ".items[0]", ".items[0].priority", ".items[-1].labels[0].key"})
    EXPECT_EQ(read(good), lines{}) << good;
}

TEST(workflow_values, refuses_conditions_that_are_always_the_same_or_no_condition) {
  const auto when = [](const std::string& expression) {
    v1::WorkflowDefinition definition;
    definition.set_input_schema_json(closed);
    add_value(definition, "limits", R"({"most":5,"on":true})");
    add(definition, "s", {"limits"}).set_when_json("\"${ " + expression + " }\"");
    return values_of(definition);
  };
  EXPECT_EQ(when("false"),
            lines{"s/when: this is always false, so the step can never run; remove the step, or give an expression that may be "
                  "true"});
  EXPECT_EQ(when("true"), lines{"s/when: this is always true, so it has no effect; remove when"});
  EXPECT_EQ(when("5"), lines{"s/when: this is a number, but only true or false is an answer; compare it with something"});
  EXPECT_EQ(when(".task.id"), lines{"s/when: .task.id is text, but only true or false is an answer; compare it with something"});
  EXPECT_EQ(when(".input.amount_cents"),
            lines{"s/when: .input.amount_cents is a number, but only true or false is an answer; compare it with something"});
  EXPECT_EQ(when(".steps.limits.most"),
            lines{"s/when: .steps.limits.most is a number, but only true or false is an answer; compare it with something"});
  for (const auto* good : {".input.note", ".input.amount_cents > 5", ".steps.limits.on", ".steps.limits.most > 3"})
    EXPECT_EQ(when(good), lines{}) << good;

  v1::WorkflowDefinition definition;
  add(definition, "once").mutable_repeat()->set_until_json(R"("${ true }")");
  add(definition, "never").mutable_repeat()->set_until_json(R"("${ false }")");
  EXPECT_EQ(
      values_of(definition),
      (lines{"once/repeat.until: this is always true, so the step has one round; remove repeat",
             "never/repeat.until: this is always false, so the step fails after its last round; give an expression that becomes true"}));
}

TEST(workflow_values, refuses_a_wait_for_something_that_is_neither_a_duration_nor_a_time) {
  const auto wait = [](const std::string& expression) {
    v1::WorkflowDefinition definition;
    definition.set_input_schema_json(closed);
    add_wait(definition, "s", "\"${ " + expression + " }\"");
    return values_of(definition);
  };
  const std::string remedy = "; give text with a duration such as 10m, or a time such as 2026-12-24T18:00:00Z";
  EXPECT_EQ(wait("5"), lines{"s/wait: this is neither a duration nor a time" + remedy});
  EXPECT_EQ(wait(R"(\"soon\")"), lines{"s/wait: this is neither a duration nor a time" + remedy});
  EXPECT_EQ(wait(".input.amount_cents"), lines{"s/wait: .input.amount_cents is a number, so it is neither a duration nor a time" + remedy});
  EXPECT_EQ(wait(R"(\"10m\")"), lines{});
  EXPECT_EQ(wait(".input.note"), lines{});
}

TEST(workflow_values, refuses_a_comparison_with_a_status_that_no_step_has) {
  const auto compare = [](const std::string& expression, bool with_join = false) {
    v1::WorkflowDefinition definition;
    add(definition, "pay");
    auto& signal = add_value(definition, "approval", "null");
    signal.set_kind(v1::STEP_KIND_SIGNAL);
    signal.set_goes_on_untimely(true);
    auto& last = add(definition, "s", {"pay", "approval"});
    last.set_when_json("\"${ " + expression + " }\"");
    if (with_join) last.set_join(1);
    return values_of(definition);
  };
  EXPECT_EQ(compare(R"(.status.pay == \"complete\")"), lines{"s/when: a status is never \"complete\"; did you mean completed?"});
  EXPECT_EQ(compare(R"(.input.x and .status.pay != \"over\")"),
            lines{"s/when: a status is never \"over\"; it is completed, failed, skipped, timed_out or dropped"});
  EXPECT_EQ(
      compare(R"(.status.pay == \"timed_out\")"),
      lines{"s/when: the status of pay is never timed_out, because the step has no on_timeout: continue; set on_timeout: continue on a "
            "step that waits for a signal, or compare with another status"});
  EXPECT_EQ(compare(R"(.status.pay == \"dropped\")"),
            lines{"s/when: the status of pay is never dropped, because no step has a join; compare with another status"});
  EXPECT_EQ(compare(R"(.status.pay == \"dropped\")", true), lines{});
  EXPECT_EQ(compare(R"(.task.end == \"fail\")"), lines{"s/when: the end of a task is never \"fail\"; it is completed, failed or undone"});
  EXPECT_EQ(compare(R"(.task.end != \"undon\")"), lines{"s/when: the end of a task is never \"undon\"; did you mean undone?"});
  EXPECT_EQ(compare(R"(.task.end == \"undone\")"), lines{});
  for (const auto* good :
       {R"(.status.pay == \"completed\")", R"(.status.approval == \"timed_out\")", R"(.status.pay == \"com\" + \"pleted\")",
        R"(.status.pay == .input.status)", R"(\"is \" + .status.pay == \"is completed\")"})
    EXPECT_EQ(compare(good), lines{}) << good;
}

TEST(workflow_values, refuses_a_comparison_with_failed_where_nothing_goes_on_after_the_failure) {
  v1::WorkflowDefinition definition;
  auto& insure = add(definition, "insure");
  add_value(definition, "price", "1");
  auto& last = add(definition, "s", {"insure", "price"});
  const auto of = [&](const std::string& step) {
    last.set_when_json(R"("${ .status.)" + step + R"( == \"failed\" }")");
    return values_of(definition);
  };
  EXPECT_EQ(of("insure"), lines{"s/when: the status of insure is never failed here, because the step has no on_failure: continue; set "
                                "on_failure: continue on insure, or compare with another status"});
  EXPECT_EQ(of("price"), lines{"s/when: the status of price is never failed; compare with another status"});
  insure.set_on_failure(v1::ON_FAILURE_CONTINUE);
  EXPECT_EQ(of("insure"), lines{});
  insure.set_on_failure(v1::ON_FAILURE_UNSPECIFIED);
  last.set_finally(v1::FINALLY_ALWAYS);
  EXPECT_EQ(of("insure"), lines{}) << "a step of the end runs after a failure, too";
}

TEST(workflow_values, refuses_the_error_of_a_step_after_whose_failure_nothing_goes_on) {
  const auto read = [](const std::string& expression, v1::OnFailure what) {
    v1::WorkflowDefinition definition;
    add(definition, "insure").set_on_failure(what);
    add(definition, "s", {"insure"}).set_with_json("{\"a\":\"${ " + expression + " }\"}");
    return values_of(definition);
  };
  EXPECT_EQ(read(".errors.insure.code", v1::ON_FAILURE_PARK),
            lines{"s/with: an expression reads .errors.insure.code, but insure has no on_failure: continue, so nothing goes on once it has "
                  "failed; set on_failure: continue on insure, or write a ? behind the path"});
  EXPECT_EQ(read(".errors.insure.code", v1::ON_FAILURE_CONTINUE), lines{});
  EXPECT_EQ(read(".errors.insure.code?", v1::ON_FAILURE_PARK), lines{});
  EXPECT_EQ(read(".errors.insure.mesage", v1::ON_FAILURE_CONTINUE),
            lines{"s/with: an expression reads .errors.insure.mesage, but an error has only code and message; did you mean message?"});
}

TEST(workflow_values, errors_may_be_read_where_steps_of_the_end_or_joins_may_have_left_them) {
  v1::WorkflowDefinition definition;
  add(definition, "work");
  add(definition, "tell").set_with_json(R"("${ .errors.work }")");
  definition.mutable_steps(1)->set_finally(v1::FINALLY_AFTER_FAILURE);
  EXPECT_EQ(values_of(definition), lines{});
  definition.mutable_steps(1)->set_finally(v1::FINALLY_NO);
  EXPECT_EQ(values_of(definition).size(), 1U);
  definition.mutable_steps(1)->set_join(1);
  EXPECT_EQ(values_of(definition), lines{});
}

v1::WorkflowDefinition two_waits() {
  v1::WorkflowDefinition out;
  out.set_timeout_ms(86'400'000);
  add_wait(out, "first", "\"20h\"");
  add(out, "between", {"first"});
  add_wait(out, "second", "\"6h\"", {"between"});
  add(out, "late", {"second"});
  return out;
}

TEST(workflow_values, refuses_waits_whose_end_no_task_lives_to_see) {
  EXPECT_EQ(values_of(two_waits()),
            lines{"second/wait: the task waits for 1d2h until this step is over, but its timeout is 1d; raise timeout "
                  "of the workflow, or shorten the waits"});
  auto longer = two_waits();
  longer.set_timeout_ms(86'400'000 * 2);
  EXPECT_EQ(values_of(longer), lines{});
  longer.clear_timeout_ms();
  EXPECT_EQ(values_of(longer), lines{});
  auto perhaps = two_waits();
  perhaps.mutable_steps(0)->set_when_json(R"("${ .input.slow }")");
  EXPECT_EQ(values_of(perhaps), lines{}) << "a wait that may be skipped";
  auto after_pivot = two_waits();
  after_pivot.mutable_steps(1)->set_pivot(true);
  EXPECT_EQ(values_of(after_pivot), lines{}) << "a task goes on without its timeout once a pivot has happened";
  auto side_by_side = two_waits();
  side_by_side.mutable_steps(2)->clear_needs();
  EXPECT_EQ(values_of(side_by_side), lines{});
  auto first_come = two_waits();
  first_come.mutable_steps(2)->add_needs("other");
  add(first_come, "other");
  EXPECT_EQ(values_of(first_come).size(), 1U);
  first_come.mutable_steps(2)->set_join(1);
  EXPECT_EQ(values_of(first_come), lines{}) << "a join that does not wait for the slow need";
}

/// What is wrong with a step that reads EXPRESSION for each item of `list`.
lines reading_items(const std::string& list, const std::string& expression, const std::string& schema = closed) {
  v1::WorkflowDefinition definition;
  definition.set_input_schema_json(schema);
  auto& step = add(definition, "s");
  step.mutable_for_each()->set_list_json(list);
  step.set_with_json("{\"a\":\"${ " + expression + " }\"}");
  return values_of(definition);
}

TEST(workflow_values, knows_the_items_of_a_list_that_the_schema_describes) {
  const std::string items = R"("${ .input.items }")";
  for (const auto* good : {".item", ".item.sku", ".index", ".index + 1", ".item.sku | ascii_upcase", ".input.items[0].sku"})
    EXPECT_EQ(reading_items(items, good), lines{}) << good;
  EXPECT_EQ(
      reading_items(items, ".item.colour"),
      lines{"s/with: an expression reads .item.colour, which the schema of the input does not allow; add the property to the schema, or "
            "read another path"});
  EXPECT_EQ(reading_items(items, ".item[0]").size(), 1U) << "an item is an object";
  EXPECT_EQ(reading_items(R"("${ [.input.items[] | {sku}] }")", ".item.colour"), lines{}) << "nobody knows what jq gives";
  EXPECT_EQ(reading_items(R"("${ .input.note }")", ".item.anything"), lines{});
}

TEST(workflow_values, knows_the_items_of_a_list_in_the_file) {
  EXPECT_EQ(reading_items(R"([{"address":"ana"},{"address":"ben"}])", ".item.address"), lines{});
  EXPECT_EQ(reading_items(R"([{"address":"ana"},{"address":"ben"}])", ".item.adress"),
            lines{"s/with: an expression reads .item.adress, which the first item of the list does not have; did you mean address?"});
  EXPECT_EQ(reading_items("[1,2]", ".item.to"),
            lines{"s/with: an expression reads .item.to, but .item is a number; change the items, or read another path"});
  EXPECT_EQ(reading_items(R"(["${ .input.note }"])", ".item.to"), lines{});
  EXPECT_EQ(reading_items(R"([{"to":"ana"},{"to":"ben","cc":"cy"}])", ".item.cc?"), lines{}) << "the second item has it";
  EXPECT_EQ(reading_items("[]", ".item"),
            lines{"s/for_each.items: the list is empty, so nothing is ever carried out; add items, or remove the step"});
}

TEST(workflow_values, refuses_items_that_are_no_list) {
  EXPECT_EQ(reading_items(R"("${ .input.amount_cents }")", ".item"),
            lines{"s/for_each.items: .input.amount_cents is a number, and no list; give an expression whose result is a list"});
  EXPECT_EQ(reading_items(R"("${ 7 }")", ".item"),
            lines{"s/for_each.items: this is a number, and no list; give an expression whose result is a list"});
  EXPECT_EQ(reading_items(R"("${ .index }")", ".item"), lines{"s/for_each.items: .index is a number, and no list; give an expression whose "
                                                              "result is a list"})
      << "that it is known nowhere there is said by the check";
  EXPECT_EQ(reading_items(R"("${ .input.either }")", ".index"),
            lines{"s/for_each.items: .input.either is no list; give an expression whose result is a list"});
  EXPECT_EQ(reading_items(R"("${ .input.items | length }")", ".item"),
            lines{"s/for_each.items: length gives a number, and no list; give an expression whose result is a list"});
  v1::WorkflowDefinition typed;
  typed.set_types(*describe_types({v1::SubmitRequest::descriptor()}));
  add(typed, "ask").set_output_type("fairlead.v1.SubmitRequest");
  add(typed, "s", {"ask"}).mutable_for_each()->set_list_json(R"("${ .steps.ask.items[0].priority }")");
  EXPECT_EQ(values_of(typed),
            lines{"s/for_each.items: .steps.ask.items[0].priority is no list; give an expression whose result is a list"});
  for (const auto* good : {R"("${ .input.items }")", R"("${ .input.note }")", R"("${ [1,2] }")", R"("${ .input.items | map(.sku) }")",
                           R"("${ [.input.items | length] }")"})
    EXPECT_EQ(reading_items(good, ".item"), lines{}) << good;
}

TEST(workflow_values, knows_that_the_output_of_items_is_a_list) {
  const auto reading_outputs = [](const std::string& expression, bool collect) {
    v1::WorkflowDefinition definition;
    auto& each = *add(definition, "each").mutable_for_each();
    each.set_list_json(R"("${ .input.items }")");
    each.set_collect(collect);
    add(definition, "s", {"each"}).set_with_json("{\"a\":\"${ " + expression + " }\"}");
    return values_of(definition);
  };
  EXPECT_EQ(
      reading_outputs(".steps.each.id", false),
      lines{"s/with: an expression reads .steps.each.id, but .steps.each is a list with an entry for each item; read an entry, such as "
            ".steps.each[0], or use jq's map"});
  for (const auto* good : {".steps.each", ".steps.each[0]", ".steps.each[0].id", ".steps.each | map(.id)"})
    EXPECT_EQ(reading_outputs(good, false), lines{}) << good;
  EXPECT_EQ(reading_outputs(".steps.each[0].staus", true),
            lines{"s/with: an expression reads .steps.each[0].staus, but .steps.each[0] has only status, output and error; did you mean "
                  "status?"});
  for (const auto* good : {".steps.each[0].status", ".steps.each[0].output.id", ".steps.each[0].error.code?"})
    EXPECT_EQ(reading_outputs(good, true), lines{}) << good;
}

TEST(workflow_values, the_undo_of_an_item_reads_the_output_of_the_item) {
  v1::WorkflowDefinition definition;
  auto& step = add(definition, "s");
  step.mutable_for_each()->set_list_json(R"("${ .input.items }")");
  step.mutable_undo()->set_call("z");
  step.mutable_undo()->set_with_json(R"({"id":"${ .steps.s.id }"})");
  EXPECT_EQ(values_of(definition), lines{});
}

TEST(workflow_values, is_total_for_anything_and_lists_at_most_so_many) {
  EXPECT_EQ(values_of({}), lines{});
  v1::WorkflowDefinition odd;
  odd.set_input_schema_json("{");
  odd.set_output_json("\"${ .steps.gone.x }\"");
  odd.set_timeout_ms(-1);
  auto& step = add(odd, "a", {"a", "b"});
  step.set_when_json("\"${ ( }\"");
  step.set_kind(static_cast<v1::StepKind>(99));
  add_wait(odd, "b", "7", {"a"});
  EXPECT_EQ(values_of(odd), lines{});
  v1::WorkflowDefinition many;
  for (int i = 0; i < 300; ++i) add(many, "s" + std::to_string(i)).set_when_json(R"("${ false }")");
  EXPECT_EQ(check_values(many).size(), max_problems);
  EXPECT_EQ(check_source(many, nullptr).size(), max_problems);
}

}  // namespace
}  // namespace fairlead::core
