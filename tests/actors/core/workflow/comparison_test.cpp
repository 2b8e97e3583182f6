#include "actors/core/workflow/comparison.hpp"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fairlead::core {
namespace {

v1::StepDefinition step(const std::string& name) {
  v1::StepDefinition out;
  out.set_name(name);
  out.set_agent("svc");
  out.set_call("do_" + name);
  out.set_timeout_ms(30'000);
  out.mutable_backoff()->set_first_ms(1'000);
  out.mutable_backoff()->set_factor(2);
  return out;
}

v1::WorkflowDefinition workflow_of(const std::vector<v1::StepDefinition>& steps) {
  v1::WorkflowDefinition out;
  out.set_name("w");
  for (const auto& one : steps) *out.add_steps() = one;
  return out;
}

std::string text_of(const std::vector<difference>& all) {
  std::string out;
  for (const auto& one : all)
    out += (one.step.empty() ? "-" : one.step) + " " + (one.key.empty() ? "*" : one.key) + ": " + one.before.value_or("(none)") + " -> " +
           one.after.value_or("(none)") + "\n";
  return out;
}

TEST(comparison, finds_nothing_in_the_same_definition) {
  const auto one = workflow_of({step("a"), step("b")});
  EXPECT_EQ(text_of(compare(one, one)), "");
}

TEST(comparison, names_the_workflow_of_a_step) {
  v1::StepDefinition ship;
  ship.set_name("ship");
  ship.set_kind(v1::STEP_KIND_WORKFLOW);
  ship.set_workflow("shipment");
  auto other = ship;
  other.set_workflow("letter");
  other.mutable_undo()->set_none(true);
  EXPECT_EQ(text_of(compare(workflow_of({ship}), workflow_of({other}))),
            "ship undo: (none) -> {none: true}\nship workflow: shipment -> letter\n");
}

TEST(comparison, names_how_a_list_is_carried_out_as_a_file_does) {
  auto plain = step("a");
  auto each = plain;
  each.mutable_for_each()->set_list_json(R"("${ .input.parcels }")");
  each.mutable_for_each()->set_at_once(20);
  auto other = each;
  other.mutable_for_each()->set_list_json("[1,2]");
  other.mutable_for_each()->set_at_once(1);
  other.mutable_for_each()->set_collect(true);
  EXPECT_EQ(text_of(compare(workflow_of({plain}), workflow_of({each}))),
            "a for_each: (none) -> {items: \"${ .input.parcels }\", at_once: 20}\n");
  EXPECT_EQ(text_of(compare(workflow_of({each}), workflow_of({other}))),
            "a for_each.items: \"${ .input.parcels }\" -> [1,2]\n"
            "a for_each.at_once: 20 -> 1\n"
            "a for_each.failures: (none) -> collect\n");
}

TEST(comparison, names_step_and_key_as_a_file_has_them) {
  auto a = step("a");
  auto changed = a;
  changed.set_timeout_ms(90'000);
  changed.set_with_json(R"({"n":1})");
  changed.mutable_backoff()->set_factor(2.5);
  changed.mutable_undo()->set_call("undo_a");
  changed.add_needs("b");
  changed.set_on_failure(v1::ON_FAILURE_COOL_OFF);
  auto before = workflow_of({a, step("b"), step("gone")});
  auto after = workflow_of({step("b"), changed, step("fresh")});
  before.set_ends_failed(true);
  after.set_input_schema_json("{}");
  after.set_keep_days(7);
  EXPECT_EQ(text_of(compare(before, after)),
            "- retention: (none) -> 7d\n"
            "- input: (none) -> {}\n"
            "- end: failed -> (none)\n"
            "- order: [a, b] -> [b, a]\n"
            "a needs: (none) -> [b]\n"
            "a with: (none) -> {\"n\":1}\n"
            "a timeout: 30s -> 1m30s\n"
            "a backoff.factor: 2 -> 2.5\n"
            "a undo: (none) -> {call: undo_a}\n"
            "a on_failure: (none) -> cool_off\n"
            "fresh *: (none) -> {agent: svc, call: do_fresh, timeout: 30s, backoff: {first: 1s, factor: 2}}\n"
            "gone *: {agent: svc, call: do_gone, timeout: 30s, backoff: {first: 1s, factor: 2}} -> (none)\n");
}

/// A field that nobody has thought of is compared, too: each one that is set makes a difference of its own.
TEST(comparison, leaves_no_field_of_a_step_out) {
  const auto& all = *v1::StepDefinition::descriptor();
  for (int i = 0; i < all.field_count(); ++i) {
    const auto& field = *all.field(i);
    if (field.number() == v1::StepDefinition::kNameFieldNumber) continue;
    const v1::StepDefinition before;
    v1::StepDefinition after;
    const auto& change = *after.GetReflection();
    using type = google::protobuf::FieldDescriptor;
    switch (field.cpp_type()) {
      case type::CPPTYPE_MESSAGE: field.is_repeated() ? change.AddMessage(&after, &field) : change.MutableMessage(&after, &field); break;
      case type::CPPTYPE_STRING: field.is_repeated() ? change.AddString(&after, &field, "x") : change.SetString(&after, &field, "x"); break;
      case type::CPPTYPE_BOOL: change.SetBool(&after, &field, true); break;
      case type::CPPTYPE_UINT32: change.SetUInt32(&after, &field, 7); break;
      case type::CPPTYPE_INT64: change.SetInt64(&after, &field, 7); break;
      case type::CPPTYPE_ENUM: change.SetEnumValue(&after, &field, 1); break;
      default: FAIL() << "the test does not know how to set " << field.full_name();
    }
    const auto found = compare(before, after);
    ASSERT_EQ(found.size(), 1u) << field.full_name();
    EXPECT_EQ(found.front().field, field.number());
    EXPECT_FALSE(found.front().key.empty());
    EXPECT_EQ(compare(after, after).size(), 0u);
  }
}

}  // namespace
}  // namespace fairlead::core
