// The key `input` of a workflow file: a schema for the input of its tasks.

#include <gtest/gtest.h>

#include "app/files/workflow_file.hpp"
#include "store/content_hash.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

/// `input` begins in line 3.
workflow_file with_input(const std::string& text) {
  return parse_workflow("order.yaml", "workflow: order\nsteps: { a: { agent: x, call: y } }\n" + text, nullptr);
}

lines found_in_input(const std::string& text) { return shown(with_input(text).problems); }

TEST(workflow_file, reads_the_schema_of_the_input) {
  const auto file = with_input(R"(input:
  type: object
  required: [ amount_cents, address ]
  properties:
    amount_cents: { type: integer, minimum: 1, maximum: 12345678901234567890 }
    address: { type: string, maxLength: 200 }
    price: { type: number, multipleOf: 0.010 }
    express: { const: yes }
)");
  EXPECT_EQ(shown(file.problems), lines{});
  EXPECT_EQ(file.definition.input_schema_json(),
            R"({"type":"object","required":["amount_cents","address"],"properties":{"amount_cents":{"type":"integer","minimum":1,)"
            R"("maximum":12345678901234567890},"address":{"type":"string","maxLength":200},"price":{"type":"number","multipleOf":0.010},)"
            R"("express":{"const":"yes"}}})")
      << "numbers keep their spelling";
  EXPECT_EQ(with_input("input: {}\n").definition.input_schema_json(), "{}");
}

TEST(workflow_file, without_a_schema_the_definition_is_as_it_was) {
  const auto file = with_input("");
  EXPECT_EQ(file.definition.input_schema_json(), "");
  // Of the release before this key. Another value would make new versions of workflows that have not changed.
  EXPECT_EQ(store::to_hex(store::definition_hash(file.definition)), "1f39d27045228aee36ba57fd1cc887bf");
}

TEST(workflow_file, shows_what_is_wrong_with_the_schema_at_its_line) {
  EXPECT_EQ(found_in_input("input: any\n"), lines{R"(3:8: input: expected a JSON Schema, such as { type: object }, found "any")"});
  EXPECT_EQ(found_in_input("input: [ a ]\n").size(), 1U);
  EXPECT_EQ(found_in_input("input:\n"), lines{"3:1: input: expected a JSON Schema, such as { type: object }, found nothing"});
  EXPECT_EQ(found_in_input(R"(input:
  type: object
  properties:
    amount_cents: { type: strng }
    code:
      type: string
      pattern: "[a-z]+"
  requird: [ amount_cents ]
)"),
            (lines{R"(6:27: input.properties.amount_cents.type: "strng" is not a type; did you mean string?)",
                   "9:16: input.properties.code.pattern: the time that a regular expression takes has no bound, so this keyword is not "
                   "supported; list the texts with enum, or check the text in a first step",
                   R"(10:12: input.requird: "requird" is not a keyword of the supported part of draft 7; did you mean required?)"}));
  EXPECT_EQ(found_in_input("input:\n  required:\n    - a\n    - a\n"), lines{R"(6:7: input.required[1]: "a" is given twice)"});
  EXPECT_EQ(found_in_input("input:\n  properties:\n    a: { minLength: 5,\n         maxLength: 3 }\n"),
            lines{"5:21: input.properties.a.minLength: minLength is larger than maxLength, so nothing fits"});
  EXPECT_EQ(
      found_in_input("input:\n  $defs:\n    a: { $ref: \"#/$defs/b\" }\n    b: { $ref: \"#/$defs/a\" }\n"),
      lines{"5:8: input.$defs.a: definitions refer to each other in a circle: a -> b -> a; repeat the definition for as many levels as "
            "the input may have"});
  EXPECT_EQ(found_in_input("input:\n  minimum: 007\n"),
            lines{"4:12: input.minimum: 007 is a number that JSON cannot represent; put it in quotes if "
                  "it is a text, or write it with decimal digits"})
      << "and not that the schema is missing";
  EXPECT_EQ(found_in_input("input:\n  title: \"" + std::string(70'000, 'x') + "\"\n").size(), 1U) << "too large";
}

}  // namespace
}  // namespace fairlead::app
