// Inputs against schemas, and what is said of those that do not fit.

#include <gtest/gtest.h>

#include <string>

#include "actors/core/schema/facts.hpp"
#include "actors/core/schema/misfits.hpp"
#include "actors/core/schema/schema.hpp"

namespace fairlead::core {
namespace {

/// Empty: it fits.
std::string misfit(std::string_view schema, std::string_view input) {
  const auto compiled = input_schema::compile(schema);
  if (!compiled) return "no schema: " + compiled.failure().sentence;
  return (*compiled)->misfit_of(input).value_or("");
}

struct misfit_row {
  const char* schema;
  const char* input;
  const char* misfit;
};

void expect(const std::vector<misfit_row>& table) {
  for (const auto& one : table) EXPECT_EQ(misfit(one.schema, one.input), one.misfit) << one.schema << " " << one.input;
}

constexpr const char* order = R"({
  "type": "object",
  "properties": {
    "amount_cents": { "type": "integer", "minimum": 1, "maximum": 10000000 },
    "currency": { "enum": ["EUR", "USD"] },
    "address": { "type": "string", "minLength": 1, "maxLength": 10 },
    "items": { "type": "array", "minItems": 1, "maxItems": 3, "items": { "type": "object", "required": ["sku"],
               "properties": { "sku": { "type": "string" }, "count": { "type": "integer" } }, "additionalProperties": false } }
  },
  "required": ["amount_cents", "address"]
})";

TEST(SchemaMisfit, AnOrder) {
  expect({
      {order, R"({"amount_cents":100,"address":"Main St"})", ""},
      {order, R"({"amount_cents":100,"address":"Main St","more":{"x":1},"items":[{"sku":"a","count":2}],"currency":"USD"})", ""},
      {order, R"({"amount_cents":"100","address":"Main St"})", "/amount_cents: must be an integer, found a string"},
      {order, R"({"amount_cents":1.5,"address":"Main St"})", "/amount_cents: must be an integer, found a number that is no integer"},
      {order, R"({"amount_cents":0,"address":""})", "/amount_cents: must be at least 1; /address: must have at least 1 character, found 0"},
      {order, R"({"address":"Main St"})", "/amount_cents: is missing"},
      {order, "{}", "/amount_cents: is missing; /address: is missing"},
      {order, "null", "the input must be an object, found null"},
      {order, "[]", "the input must be an object, found an array"},
      {order, R"({"amount_cents":100,"address":"Main St","currency":"GBP"})", R"(/currency: must be one of "EUR", "USD")"},
      {order, R"({"amount_cents":100,"address":"Main St","items":[]})", "/items: must have at least 1 element, found 0"},
      {order, R"({"amount_cents":100,"address":"Main St","items":[{"sku":"a"},{"suk":"b"},{"sku":"c","count":"2"}]})",
       "/items/1/sku: is missing; /items/1/suk: is not a property that the schema allows (did you mean sku?); /items/2/count: must be an "
       "integer, found a string"},
  });
}

TEST(SchemaMisfit, Types) {
  expect({
      {R"({"type":"string"})", "\"a\"", ""},
      {R"({"type":"string"})", "1", "the input must be a string, found an integer"},
      {R"({"type":"integer"})", "1.0", ""},
      {R"({"type":"integer"})", "10e-1", ""},
      {R"({"type":"integer"})", "1e400", ""},
      {R"({"type":"integer"})", "\"1\"", "the input must be an integer, found a string"},
      {R"({"type":"number"})", "0.5", ""},
      {R"({"type":"boolean"})", "false", ""},
      {R"({"type":"boolean"})", "\"true\"", "the input must be true or false, found a string"},
      {R"({"type":"null"})", "null", ""},
      {R"({"type":"null"})", "false", "the input must be null, found true or false"},
      {R"({"type":"object"})", "[]", "the input must be an object, found an array"},
      {R"({"type":"array"})", "{}", "the input must be an array, found an object"},
      {R"({"type":["string","integer","null"]})", "[]", "the input must be a string, an integer or null, found an array"},
      {R"({"type":["string","null"]})", "null", ""},
      {"{}", "[1,{}]", ""},
      {R"({"properties":{"a":false}})", R"({"a":1})", "/a: must not be given"},
      {R"({"properties":{"a":true}})", R"({"a":1})", ""},
  });
}

TEST(SchemaMisfit, NumbersAreExact) {
  expect({
      {R"({"minimum":5})", "4.999999999999999999999", "the input must be at least 5"},
      {R"({"minimum":9007199254740993})", "9007199254740992", "the input must be at least 9007199254740993"},
      {R"({"minimum":0})", "18446744073709551615", ""},
      {R"({"minimum":0})", "\"-1\"", ""},
      {R"({"maximum":1e400})", "1e399", ""},
      {R"({"maximum":1e400})", "1e401", "the input must be at most 1e400"},
      {R"({"exclusiveMinimum":0})", "0.0", "the input must be more than 0"},
      {R"({"exclusiveMaximum":0})", "-0", "the input must be less than 0"},
      {R"({"multipleOf":0.01})", "19.99", ""},
      {R"({"multipleOf":0.01})", "19.995", "the input must be a multiple of 0.01"},
      {R"({"multipleOf":5})", "5.5", "the input must be a multiple of 5"},
      {R"({"multipleOf":5})", "\"7\"", ""},
      {R"({"const":-1})", "18446744073709551615", "the input must be -1"},
      {R"({"const":9007199254740993})", "9007199254740992", "the input must be 9007199254740993"},
      {R"({"const":1.50})", "15e-1", ""},
  });
}

TEST(SchemaMisfit, TextsAreCountedInCharacters) {
  expect({
      {R"({"minLength":3})", R"("äöü")", ""},
      {R"({"maxLength":2})", R"("äöü")", "the input must have at most 2 characters, found 3"},
      {R"({"maxLength":2})", R"("\ud83d\ude00x")", ""},
      {R"({"maxLength":2})", R"("\u0000abc")", "the input must have at most 2 characters, found 4"},
      {R"({"maxLength":2})", "12345", ""},
      {R"({"minLength":1})", R"("")", "the input must have at least 1 character, found 0"},
      {R"({"format":"email"})", R"("no address")", ""},
      {R"({"const":"a\u0000b"})", R"("a\u0000c")", R"(the input must be "a\u0000b")"},
  });
}

TEST(SchemaMisfit, EqualityIsByValue) {
  expect({
      {R"({"enum":[{"a":[1,2.0],"b":null},"x"]})", R"({"b":null,"a":[1.0,2]})", ""},
      {R"({"enum":[{"a":[1,2]}]})", R"({"a":[2,1]})", R"(the input must be {"a":[1,2]})"},
      {R"({"enum":["1"]})", "1", R"(the input must be "1")"},
      {R"({"enum":[true]})", "\"true\"", "the input must be true"},
      {R"({"enum":[1,2,3,4,5,6,7,8,9]})", "10", "the input must be one of 9 values, such as 1, 2, 3, 4, 5, 6, 7, 8"},
      {R"({"enum":[1,2],"const":1})", "2", "the input must be 1"},
      {R"({"uniqueItems":true})", R"([1,"1",[1],{"a":1}])", ""},
      {R"({"uniqueItems":true})", R"([3,{"a":1,"b":2},4,{"b":2.0,"a":1}])",
       "the input must not have equal elements, found them at 1 and 3"},
      {R"({"uniqueItems":false})", "[1,1]", ""},
      {R"({"const":"3:ab"})", R"(["3:ab"])", R"(the input must be "3:ab")"},
  });
}

TEST(SchemaMisfit, ObjectsAndArrays) {
  expect({
      {R"({"minProperties":1})", "{}", "the input must have at least 1 property, found 0"},
      {R"({"maxProperties":1})", R"({"a":1,"b":2})", "the input must have at most 1 property, found 2"},
      {R"({"maxItems":2})", "[1,2,3]", "the input must have at most 2 elements, found 3"},
      {R"({"additionalProperties":{"type":"integer"},"properties":{"a":{}}})", R"({"a":"x","b":"y"})",
       "/b: must be an integer, found a string"},
      {R"({"additionalProperties":true})", R"({"b":"y"})", ""},
      {R"({"additionalProperties":false})", R"({"b":"y"})", "/b: is not a property that the schema allows"},
      {R"({"contains":{"type":"integer"}})", R"(["a",1])", ""},
      {R"({"contains":{"type":"integer"}})", R"(["a"])", "the input has no element that fits `contains`"},
      {R"({"contains":{"type":"integer"}})", R"({"a":"b"})", ""},
      {R"({"items":{"type":"integer"}})", R"({"a":"b"})", ""},
      {R"({"items":false})", "[]", ""},
      {R"({"items":false})", "[1]", "/0: must not be given"},
      {R"({"dependencies":{"card":["owner"]}})", R"({"card":1})", "/owner: is missing, although card is given"},
      {R"({"dependencies":{"card":["owner"]}})", R"({"owner":1})", ""},
      {R"({"dependencies":{"a":{"required":["x"]},"b":{"required":["y"]}}})", R"({"b":1})", "/y: is missing"},
      {R"({"dependencies":{"a":{"required":["x"]},"b":{"required":["y"]}}})", R"({"a":1,"x":1})", ""},
      {R"({"properties":{"a":{"type":"string"}}})", R"({"a":1,"a":"x"})", "/a: must be a string, found an integer"},
      {R"({"properties":{"facts":{"type":"string"},"$ref":{"type":"string"},"id":{"type":"string"}}})", R"({"facts":1,"$ref":2,"id":3})",
       "/facts: must be a string, found an integer; /$ref: must be a string, found an integer; /id: must be a string, found an integer"},
  });
}

TEST(SchemaMisfit, Combinations) {
  constexpr const char* payment = R"({"properties":{"payment":{"oneOf":[
    {"properties":{"kind":{"const":"card"},"number":{"type":"string"}},"required":["kind","number"]},
    {"properties":{"kind":{"const":"iban"},"iban":{"type":"string"}},"required":["kind","iban"]}]}}})";
  constexpr const char* conditional =
      R"({"if":{"properties":{"car":{"const":true}},"required":["car"]},"then":{"required":["license"]},"else":{"required":["ticket"]}})";
  expect({
      {R"({"anyOf":[{"type":"string"},{"minimum":3}]})", "5", ""},
      {R"({"anyOf":[{"type":"string"},{"type":"array"}]})", "5",
       "the input fits no alternative of anyOf (the first: the input must be a string, found an integer)"},
      {payment, R"({"payment":{"kind":"iban","iban":"DE1"}})", ""},
      {payment, R"({"payment":{"kind":"card"}})", "/payment: fits no alternative of oneOf (the first: /payment/number is missing)"},
      {R"({"oneOf":[{"type":"integer"},{"minimum":3}]})", "5", "the input fits more than one alternative of oneOf"},
      {R"({"oneOf":[{"type":"integer"},{"minimum":3}]})", "2", ""},
      {R"({"allOf":[{"minimum":3},{"maximum":1}]})", "2", "the input must be at least 3; the input must be at most 1"},
      {R"({"allOf":[{"minimum":3},{"minimum":3}]})", "2", "the input must be at least 3"},
      {R"({"not":{"type":"null"}})", "null", "the input fits what `not` excludes"},
      {R"({"not":{"type":"null"}})", "1", ""},
      {conditional, R"({"car":true,"license":"B"})", ""},
      {conditional, R"({"car":true})", "/license: is missing"},
      {conditional, R"({"car":false})", "/ticket: is missing"},
      {R"({"anyOf":[{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}},{"required":["b"]}],"required":["c"]})",
       R"({"a":1})",
       "/c: is missing; the input fits no alternative of anyOf (the first: /a fits no alternative of anyOf (the first: /a must be a "
       "string, "
       "found an integer))"},
  });
}

TEST(SchemaMisfit, References) {
  constexpr const char* shop = R"({"$defs":{"money":{"type":"integer","minimum":0},"line":{"properties":{"price":{"$ref":"#/$defs/money"}}},
    "a/b~c":{"type":"string"}},
    "properties":{"total":{"$ref":"#/$defs/money"},"lines":{"items":{"$ref":"#/$defs/line"}},"text":{"$ref":"#/$defs/a~1b~0c"},
    "other":{"allOf":[{"$ref":"#/$defs/money"},{"maximum":5}]}}})";
  expect({
      {shop, R"({"total":1,"lines":[{"price":2}],"text":"x","other":5})", ""},
      {shop, R"({"total":-1,"lines":[{"price":2},{"price":"x"}],"text":1,"other":6})",
       "/total: must be at least 0; /lines/1/price: must be an integer, found a string; /text: must be a string, found an integer; /other: "
       "must be at most 5"},
      {R"({"definitions":{"a":{"type":"string"}},"$ref":"#/definitions/a"})", "1", "the input must be a string, found an integer"},
  });
}

TEST(SchemaMisfit, TheFirstFiveAreNamed) {
  expect(
      {{R"({"items":{"type":"string"}})", "[1,2,3,4,5]",
        "/0: must be a string, found an integer; /1: must be a string, found an integer; /2: must be a string, found an integer; /3: must "
        "be a string, found an integer; /4: must be a string, found an integer"},
       {R"({"required":["a","b","c","d","e","f","g","h"]})", "{}",
        "/a: is missing; /b: is missing; /c: is missing; /d: is missing; /e: is missing; and more"}});
}

TEST(SchemaMisfit, NamesInPointersAreEscapedAndCut) {
  expect({{R"({"additionalProperties":{"type":"string"}})", R"({"a/b~c\nd":1})", "/a~1b~0c?d: must be a string, found an integer"}});
  const auto sentence = misfit(R"({"additionalProperties":{"type":"string"}})", R"({")" + std::string(100'000, 'x') + R"(":1})");
  EXPECT_LT(sentence.size(), 200U);
  EXPECT_EQ(pointer_of({}), "");
  EXPECT_EQ(pointer_of({std::string(80, 'a'), std::string(80, 'b'), std::string(80, 'c')}),
            "/" + std::string(80, 'a') + "/" + std::string(80, 'b') + "/…");
}

TEST(SchemaMisfit, WhoReadsTheSentenceFindsThePlaces) {
  const auto refused =
      refused_input("order", misfit(R"({"required":["a"],"properties":{"b":{"enum":["x; y: z"]}},"minProperties":3})", R"({"b":1})"));
  EXPECT_EQ(refused.sentence,
            "the input does not fit the schema of workflow order: the input must have at least 3 properties, found 1; /a: "
            "is missing; /b: must be \"x; y: z\"");
  EXPECT_EQ(refused.code, v1::ERROR_CODE_INVALID_ARGUMENT);
  const auto places = misfit_places(refused.sentence);
  ASSERT_EQ(places.size(), 3U);
  EXPECT_EQ(places[0].pointer, "");
  EXPECT_EQ(places[0].sentence, "must have at least 3 properties, found 1");
  EXPECT_EQ(places[1].pointer, "/a");
  EXPECT_EQ(places[1].sentence, "is missing");
  EXPECT_EQ(places[2].pointer, "/b");
  EXPECT_EQ(places[2].sentence, "must be \"x; y: z\"");
  EXPECT_TRUE(misfit_places("the input of task a is not JSON: /x: y").empty());
  EXPECT_TRUE(misfit_places("the input does not fit the schema of workflow").empty());
}

TEST(SchemaMisfit, ANameThatIsGivenTwiceIsOneProperty) {
  expect({
      {R"({"minProperties":2})", R"({"a":1,"a":2})", "the input must have at least 2 properties, found 1"},
      {R"({"maxProperties":1})", R"({"a":1,"\u0061":2})", ""},
  });
}

TEST(SchemaMisfit, AnExampleIsOneMisfitInShort) {
  expect({{R"({"anyOf":[{"properties":{"sku":{}},"additionalProperties":false},{"type":"null"}]})", R"({"suk":1,"skuu":2})",
           "the input fits no alternative of anyOf (the first: /suk is not a property that the schema allows)"}});
  const auto text = "\"" + std::string(50, 'x');
  std::string values;
  for (int i = 0; i < 8; ++i) values += (i == 0 ? "" : ",") + text + std::to_string(i) + "\"";
  const auto sentence = misfit(R"({"anyOf":[{"enum":[)" + values + "]}]}", "1");
  EXPECT_LT(sentence.size(), 280U);
  EXPECT_NE(sentence.find("…)"), std::string::npos) << sentence;
}

TEST(SchemaMisfit, AllNamesBesideAPropertyHaveWeight) {
  const auto facts = value_facts::read(R"({"dependencies":{"a":["b","c"],"d":["e"]}})");
  EXPECT_EQ(facts.weight(), 6U);
  misfits found;
  EXPECT_FALSE(value_facts::read(R"({"dependencies":{"a":["b","c","d","e","f","g","h"]}})").fit(R"({"a":1})", &found));
  EXPECT_EQ(found.all.size(), most_misfits_of_a_value);
}

}  // namespace
}  // namespace fairlead::core
