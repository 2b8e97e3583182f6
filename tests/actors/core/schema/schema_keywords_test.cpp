// Which schemas a workflow may have.

#include <gtest/gtest.h>

#include <string>

#include "actors/core/schema/keywords.hpp"
#include "actors/core/schema/schema.hpp"

namespace fairlead::core {
namespace {

/// `place: sentence; remedy`, a line each.
std::string problems(std::string_view schema) {
  std::string out;
  for (const auto& one : check_schema(schema, "input"))
    out += (out.empty() ? "" : "\n") + one.place + ": " + one.sentence + (one.remedy.empty() ? "" : "; " + one.remedy);
  return out;
}

struct keyword_row {
  const char* schema;
  const char* problems;
};

TEST(SchemaKeywords, AllThatAreSupportedAreTaken) {
  for (
      const auto* schema : {
          "{}",
          R"({"type":"object","properties":{"a":{"type":["integer","null"]},"b":true,"c":false},"required":["a"]})",
          R"({"type":"object","properties":{"a":{}},"additionalProperties":false,"required":["a"],"minProperties":1,"maxProperties":2})",
          R"({"items":{"type":"string","minLength":1,"maxLength":20},"minItems":0,"maxItems":1e3,"uniqueItems":true,"contains":{"const":1}})",
          R"({"minimum":-1.5,"maximum":1e400,"exclusiveMinimum":-2,"exclusiveMaximum":3,"multipleOf":0.01})",
          R"({"anyOf":[{"enum":[1,"a",null]}],"oneOf":[true],"allOf":[{}],"not":{"const":{"a":[1]}}})",
          R"({"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}})",
          R"({"dependencies":{"a":["b","c"],"d":{"required":["e"]}},"additionalProperties":{"type":"string"}})",
          R"({"$defs":{"money":{"type":"integer"}},"definitions":{"a/b~c":{}},"properties":{"a":{"$ref":"#/$defs/money","title":"A"},
               "b":{"$ref":"#/definitions/a~1b~0c"}}})",
          R"({"title":"T","description":"D","$comment":"C","default":{"a":1},"examples":[1],"format":"email",
               "$schema":"http://json-schema.org/draft-07/schema#"})",
          R"({"properties":{"pattern":{"type":"string"},"$ref":{"type":"string"},"id":{},"items":{},"facts":{}}})",
      }) {
    EXPECT_EQ(problems(schema), "") << schema;
    EXPECT_TRUE(input_schema::compile(schema)) << schema;
  }
}

TEST(SchemaKeywords, EachProblemHasItsPlaceAndARemedy) {
  const keyword_row table[] = {
      {"[]", "input: expected a schema, found an array; write a map, such as { type: object }"},
      {"true", "input: expected a schema, found a boolean; write a map, such as { type: object }"},
      {"{",
       "input: the schema is not valid JSON at byte 2: the text ends where a key in quotes was expected; Send one JSON value in UTF-8 "
       "(RFC 8259)."},
      {R"({"type":"strng"})", "input.type: \"strng\" is not a type; did you mean string?"},
      {R"({"type":"x"})", "input.type: \"x\" is not a type; the types are string, integer, number, boolean, object, array and null"},
      {R"({"type":["string","string"]})", "input.type[1]: the type is given twice"},
      {R"({"type":[]})", "input.type: expected at least one type"},
      {R"({"type":1})", "input.type: expected the name of a type, or a list of them, found a number"},
      {R"({"properties":{"a":{"pattern":"x"}}})",
       "input.properties.a.pattern: the time that a regular expression takes has no bound, so this keyword is not supported; list the "
       "texts "
       "with enum, or check the text in a first step"},
      {R"({"patternProperties":{"^a":{}}})",
       "input.patternProperties: the time that a regular expression takes has no bound, so this keyword is not supported; list the names "
       "with properties, or use additionalProperties for all other names"},
      {R"({"prefixItems":[]})",
       "input.prefixItems: this keyword is not in the supported part of draft 7; use one schema for all elements, with items"},
      {R"({"requird":["a"]})", "input.requird: \"requird\" is not a keyword of the supported part of draft 7; did you mean required?"},
      {R"({"amount_cents":{"type":"integer"}})",
       "input.amount_cents: \"amount_cents\" is not a keyword of the supported part of draft 7; the names of properties belong below "
       "properties; docs/workflows.md lists the keywords"},
      {R"({"":1})",
       "input.: \"\" is not a keyword of the supported part of draft 7; the names of properties belong below properties; "
       "docs/workflows.md lists the keywords"},
      {R"({"$id":"https://example.org/a"})",
       "input.$id: a schema here is never known by an address, so this keyword has no effect; remove it"},
      {R"({"properties":[]})", "input.properties: expected a map of schemas by name, found an array"},
      {R"({"properties":{"a":"string"}})", "input.properties.a: expected a schema, found a string; write a map, such as { type: string }"},
      {R"({"properties":{"a":{},"a":{}}})", "input.properties.a: the name is given twice"},
      {R"({"type":"object","type":"object"})", "input.type: the keyword is given twice"},
      {R"({"properties":{"a\u0000":{}}})", "input.properties.a\0: the name has the character U+0000"},
      {R"({"required":"a"})", "input.required: expected a list of names, found a string"},
      {R"({"required":["a",1,"a"]})", "input.required[1]: expected a name, found a number\ninput.required[2]: \"a\" is given twice"},
      {R"({"properties":{"amount":{}},"required":["amout"],"additionalProperties":false})",
       "input.required[0]: \"amout\" is required, but additionalProperties: false excludes it; did you mean amount?"},
      {R"({"items":[{}]})",
       "input.items: a list of schemas, one for each element, is not supported; use one schema for all elements, or an object"},
      {R"({"minItems":-1})", "input.minItems: expected a whole number from 0 to 999999999999999"},
      {R"({"maxLength":"3"})", "input.maxLength: expected a whole number from 0 to 999999999999999"},
      {R"({"minLength":1.5})", "input.minLength: expected a whole number from 0 to 999999999999999"},
      {R"({"minLength":5,"maxLength":3})", "input.minLength: minLength is larger than maxLength, so nothing fits"},
      {R"({"minimum":2,"maximum":1.5})", "input.minimum: minimum is larger than maximum, so nothing fits"},
      {R"({"minimum":"1"})", "input.minimum: expected a number, found a string"},
      {R"({"exclusiveMinimum":true})", "input.exclusiveMinimum: expected a number, found a boolean"},
      {R"({"multipleOf":0})", "input.multipleOf: expected a number above 0"},
      {R"({"multipleOf":"2"})", "input.multipleOf: expected a number above 0, found a string"},
      {R"({"multipleOf":1.000000000000001})", "input.multipleOf: the number has more than 15 digits"},
      {R"({"uniqueItems":1})", "input.uniqueItems: expected true or false, found a number"},
      {R"({"enum":[]})", "input.enum: expected a list of at least one value"},
      {R"({"enum":"a"})", "input.enum: expected a list of at least one value"},
      {R"({"anyOf":[]})", "input.anyOf: expected at least one schema"},
      {R"({"oneOf":{}})", "input.oneOf: expected a list of schemas, found an object"},
      {R"({"allOf":[1]})", "input.allOf[0]: expected a schema, found a number; write a map, such as { type: string }"},
      {R"({"not":null})", "input.not: expected a schema, found null; write a map, such as { type: string }"},
      {R"({"then":{},"else":{}})", "input.then: then has no effect without if\ninput.else: else has no effect without if"},
      {R"({"dependencies":{"a":1}})", "input.dependencies.a: expected a schema, found a number; write a map, such as { type: string }"},
      {R"({"title":1})", "input.title: expected a text, found a number"},
      {R"({"examples":1})", "input.examples: expected a list, found a number"},
      {R"({"$schema":"https://json-schema.org/draft/2020-12/schema"})",
       "input.$schema: this is not draft 7, of which a part is supported; write http://json-schema.org/draft-07/schema#, or remove it"},
      {R"({"$ref":"https://example.org/a.json"})",
       "input.$ref: only definitions of the same schema can be referred to; write \"#/$defs/NAME\", and describe NAME below $defs at the "
       "top "
       "of the schema"},
      {R"({"$defs":{"money":{}},"properties":{"a":{"$ref":"#/$defs/mony"}}})",
       "input.properties.a.$ref: there is no \"mony\" below $defs; did you mean money?"},
      {R"({"$defs":{"a":{}},"properties":{"b":{"$ref":"#/$defs/a","type":"string"}}})",
       "input.properties.b.type: draft 7 ignores this keyword beside $ref; write allOf: [{ $ref: … }, { … }]"},
      {R"({"properties":{"a":{"$defs":{}}}})",
       "input.properties.a.$defs: definitions are only read at the top of the schema; move them to the top"},
      {R"({"$defs":{"a":{"$defs":{}}}})", "input.$defs.a.$defs: definitions are only read at the top of the schema; move them to the top"},
      {R"({"$defs":{"a":{"items":{"$ref":"#/$defs/b"}},"b":{"not":{"$ref":"#/$defs/a"}}}})",
       "input.$defs.a: definitions refer to each other in a circle: a -> b -> a; repeat the definition for as many levels as the input may "
       "have"},
      {R"({"$defs":{"a":{"$ref":"#/$defs/a"}}})",
       "input.$defs.a: definitions refer to each other in a circle: a -> a; repeat the definition for as many levels as the input may "
       "have"},
  };
  for (const auto& one : table) {
    // A name with U+0000 does not end there.
    auto expected = std::string{one.problems};
    if (std::string_view{one.schema}.find("u0000") != std::string_view::npos)
      expected = std::string{"input.properties.a"} + '\0' + ": the name has the character U+0000";
    EXPECT_EQ(problems(one.schema), expected) << one.schema;
    EXPECT_FALSE(input_schema::compile(one.schema)) << one.schema;
  }
}

TEST(SchemaKeywords, TheSizeIsBounded) {
  EXPECT_EQ(problems(R"({"title":")" + std::string(max_schema_bytes, 'x') + "\"}"),
            "input: the schema has 65548 bytes; at most 65536 are allowed");
  std::string deep = "{}";
  for (int i = 0; i < 70; ++i) deep = R"({"not":)" + deep + "}";
  EXPECT_NE(problems(deep).find("nested more than 64 levels deep"), std::string::npos);
  std::string many = R"({"allOf":[{})";
  for (std::size_t i = 0; i < max_subschemas; ++i) many += ",{}";
  EXPECT_EQ(problems(many + "]}"), "input.allOf[1999]: the schema has more than 2000 subschemas; describe less of the input");
  EXPECT_EQ(problems(R"({"properties":{")" + std::string(129, 'x') + R"(":{}}})"),
            "input.properties." + std::string(129, 'x') + ": the name has more than 128 bytes");
}

TEST(SchemaKeywords, ReferencesMakeASchemaNoDeeperThanItMayBe) {
  const auto chain = [](int length) {
    std::string out = R"({"$defs":{"d0":{"type":"string"})";
    for (int i = 1; i <= length; ++i)
      out += R"(,"d)" + std::to_string(i) + R"(":{"items":{"$ref":"#/$defs/d)" + std::to_string(i - 1) + R"("}})";
    return out + R"(},"$ref":"#/$defs/d)" + std::to_string(length) + "\"}";
  };
  EXPECT_EQ(problems(chain(40)), "");
  EXPECT_TRUE(input_schema::compile(chain(40)));
  EXPECT_NE(problems(chain(65)).find("more than 64 schemas are inside each other"), std::string::npos);
  EXPECT_NE(problems(chain(900)).find("more than 64 schemas are inside each other"), std::string::npos);
}

TEST(SchemaKeywords, AtMostTwentyProblemsAreListed) {
  std::string many = "{";
  for (int i = 0; i < 100; ++i) many += (i == 0 ? "\"" : ",\"") + std::string{"unknown"} + std::to_string(i) + "\":1";
  EXPECT_EQ(check_schema(many + "}", "input").size(), 20U);
}

TEST(SchemaKeywords, AtMostTwentyRequiredNamesAreComparedWithTheProperties) {
  std::string required, properties;
  for (int i = 0; i < 1'900; ++i) {
    required += (i == 0 ? "\"r" : ",\"r") + std::to_string(i) + "\"";
    properties += (i == 0 ? "\"p" : ",\"p") + std::to_string(i) + "\":{}";
  }
  const auto schema = R"({"properties":{)" + properties + R"(},"additionalProperties":false,"required":[)" + required + "]}";
  const auto found = check_schema(schema, "input");
  ASSERT_EQ(found.size(), 20U);
  EXPECT_EQ(found.back().place, "input.required[19]");
}

}  // namespace
}  // namespace fairlead::core
