// Schemas and inputs that were made to cost much.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>

#include "actors/core/schema/schema.hpp"

namespace fairlead::core {
namespace {

constexpr std::size_t largest_input = 262'144;
// Far more than any of these takes, on a slow machine and with sanitizers, and far less than without bounds.
constexpr auto patience = std::chrono::seconds{20};

std::string misfit_within_bounds(std::string_view schema, std::string_view input) {
  const auto compiled = input_schema::compile(schema);
  if (!compiled) return "no schema: " + compiled.failure().sentence;
  const auto begin = std::chrono::steady_clock::now();
  auto out = (*compiled)->misfit_of(input).value_or("");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, patience) << schema.substr(0, 200);
  EXPECT_LT(out.size(), 8'000U);
  return out;
}

bool takes_too_many_steps(const std::string& sentence) { return sentence.find("takes more than") != std::string::npos; }

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

std::string list_of(std::string_view element, std::size_t bytes) {
  std::string out = "[" + std::string{element};
  while (out.size() + element.size() + 2 <= bytes) out += "," + std::string{element};
  return out + "]";
}

std::string numbers_up_to(int end) {
  std::string out = "0";
  for (int i = 1; i < end; ++i) out += "," + std::to_string(i);
  return out;
}

TEST(SchemaHostile, TheLargestInputsOfAPlainSchemaAreCompared) {
  EXPECT_EQ(misfit_within_bounds(R"({"items":{"type":"integer"}})", list_of("1", largest_input)), "");
  EXPECT_EQ(misfit_within_bounds(R"({"items":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}})",
                                 list_of(R"({"a":1})", largest_input)),
            "");
  EXPECT_EQ(misfit_within_bounds(R"({"type":"string","maxLength":262144})", "\"" + std::string(largest_input - 2, 'x') + "\""), "");
  EXPECT_NE(misfit_within_bounds(R"({"items":{"type":"string"}})", list_of("1", largest_input)).find("/4: must be a string"),
            std::string::npos);
  EXPECT_EQ(misfit_within_bounds("{}", std::string(largest_input, ' ') + "1"),
            "the input has 262145 bytes, but at most 262144 can be compared with a schema");
}

std::string fifty(const std::function<std::string(int)>& value) {
  std::string out = "{";
  for (int i = 0; i < 50; ++i) out += (i == 0 ? "\"p" : ",\"p") + std::to_string(i) + "\":" + value(i);
  return out + "}";
}

TEST(SchemaHostile, FiftyPropertiesInTheLargestInput) {
  const auto types = fifty([](int i) {
    return std::string{i % 2 == 0 ? R"({"type":"integer","minimum":0,"maximum":1000000})"
                                  : R"({"type":"string","minLength":1,"maxLength":6000})"};
  });
  const auto one = R"({"type":"object","properties":)" + types + R"(,"required":["p0","p49"],"additionalProperties":false})";
  const auto numbers = fifty([](int i) { return i % 2 == 0 ? std::to_string(i) : "\"value " + std::to_string(i) + "\""; });
  EXPECT_EQ(misfit_within_bounds(R"({"items":)" + one + "}", list_of(numbers, largest_input)), "");
  const auto texts = fifty([](int i) { return i % 2 == 0 ? "7" : "\"" + std::string(6'000, 'x') + "\""; });
  EXPECT_EQ(misfit_within_bounds(one, texts), "");
}

TEST(SchemaHostile, DeepInputs) {
  const auto nested = [](int levels) {
    return repeated("[", static_cast<std::size_t>(levels)) + repeated("]", static_cast<std::size_t>(levels));
  };
  EXPECT_EQ(misfit_within_bounds("{}", nested(64)), "");
  EXPECT_NE(misfit_within_bounds("{}", nested(65)).find("nested more than 64 levels deep"), std::string::npos);
  EXPECT_NE(misfit_within_bounds("{}", nested(100'000)).find("nested more than 64 levels deep"), std::string::npos);
  EXPECT_NE(misfit_within_bounds("{}", "{").find("not valid JSON"), std::string::npos);
  EXPECT_NE(misfit_within_bounds("{}", "").find("not valid JSON"), std::string::npos);
}

TEST(SchemaHostile, HugeNumbers) {
  const auto digits = std::string(largest_input - 2, '9');
  EXPECT_EQ(misfit_within_bounds(R"({"type":"integer","minimum":0,"multipleOf":3})", digits), "");
  EXPECT_NE(misfit_within_bounds(R"({"maximum":1})", digits), "");
  EXPECT_EQ(misfit_within_bounds(R"({"type":"integer","multipleOf":7})", "7e999999999999"), "");
  EXPECT_NE(misfit_within_bounds(R"({"type":"integer"})", "1e-999999999999"), "");
  EXPECT_NE(misfit_within_bounds(R"({"const":1e999999999999999999999})", "1"), "");
}

TEST(SchemaHostile, AnEnumOfTenThousandAgainstAsManyElements) {
  const auto values = numbers_up_to(10'000);
  const auto schema = R"({"items":{"enum":[)" + values + "]}}";
  EXPECT_EQ(misfit_within_bounds(schema, "[" + values + "]"), "");
  EXPECT_NE(misfit_within_bounds(schema, list_of("10000", largest_input)).find("/0: must be one of 10000 values, such as 0, 1"),
            std::string::npos);
}

TEST(SchemaHostile, UniqueElementsAreSortedAndNotComparedInPairs) {
  const auto elements = numbers_up_to(40'000);
  EXPECT_EQ(misfit_within_bounds(R"({"uniqueItems":true})", "[" + elements + "]"), "");
  EXPECT_EQ(misfit_within_bounds(R"({"uniqueItems":true})", "[" + elements + ",7]"),
            "the input must not have equal elements, found them at 7 and 40000");
}

TEST(SchemaHostile, AlternativesThatMultiplyComeToAnEnd) {
  // Each definition has the one before it twice: 2^30 looks at one number.
  std::string schema = R"({"$defs":{"d0":{"maximum":1})";
  for (int i = 1; i <= 30; ++i) {
    const auto before = R"({"$ref":"#/$defs/d)" + std::to_string(i - 1) + "\"}";
    schema += R"(,"d)" + std::to_string(i) + R"(":{"anyOf":[)" + before + "," + before + "]}";
  }
  schema += R"(},"$ref":"#/$defs/d30"})";
  EXPECT_TRUE(takes_too_many_steps(misfit_within_bounds(schema, "2")));
  EXPECT_EQ(misfit_within_bounds(schema, "1"), "");
}

TEST(SchemaHostile, ManySubschemasAgainstManyElements) {
  const auto many = [](const std::string& one) { return R"({"items":{"allOf":[)" + repeated(one + ",", 1'900) + one + "]}}"; };
  for (const auto* one : {"{}", "true", R"({"title":"x"})"})
    EXPECT_TRUE(takes_too_many_steps(misfit_within_bounds(many(one), list_of("1", largest_input)))) << one;
  EXPECT_NE(misfit_within_bounds(many("false"), list_of("1", largest_input)).find("/0: must not be given"), std::string::npos);
  std::string properties;
  for (int i = 0; i < 1'900; ++i) properties += (i == 0 ? "\"p" : ",\"p") + std::to_string(i) + "\":{}";
  const auto wide = R"({"items":{"properties":{)" + properties + R"(},"additionalProperties":false}})";
  EXPECT_TRUE(takes_too_many_steps(misfit_within_bounds(wide, list_of("{}", largest_input))));
  EXPECT_NE(misfit_within_bounds(wide, list_of(R"({"q1":1})", largest_input)).find("/0/q1: is not a property"), std::string::npos);
}

TEST(SchemaHostile, ManyLooksAtTheWholeOfALargeValue) {
  const auto many = [](const std::string& one) { return R"({"allOf":[)" + repeated(one + ",", 600) + one + "]}"; };
  EXPECT_TRUE(takes_too_many_steps(misfit_within_bounds(many(R"({"not":{"enum":[[1]]}})"), list_of("1", largest_input))));
  EXPECT_TRUE(takes_too_many_steps(misfit_within_bounds(many(R"({"uniqueItems":true})"), "[" + numbers_up_to(40'000) + "]")));
  EXPECT_TRUE(takes_too_many_steps(misfit_within_bounds(many(R"({"minItems":1})"), list_of("1", largest_input))));
  EXPECT_TRUE(takes_too_many_steps(misfit_within_bounds(many(R"({"minLength":1})"), "\"" + std::string(largest_input - 2, 'x') + "\"")));
  EXPECT_TRUE(takes_too_many_steps(misfit_within_bounds(many(R"({"minimum":1})"), std::string(largest_input, '9'))));
}

TEST(SchemaHostile, LongNamesAroundManyValues) {
  const auto schema = R"({"additionalProperties":{"items":{"type":"string"}}})";
  const auto around = [](std::string_view inside) { return R"({")" + std::string(100'000, 'x') + R"(":)" + std::string{inside} + "}"; };
  EXPECT_EQ(misfit_within_bounds(schema, around(list_of(R"("")", 150'000))), "");
  EXPECT_NE(misfit_within_bounds(schema, around(list_of("1", 150'000))).find("/0: must be a string"), std::string::npos);
}

TEST(SchemaHostile, AlternativesWithThousandsOfMisfitsAreDescribedInShort) {
  const auto schema = R"({"anyOf":[{"items":{"type":"string"}},{"items":{"type":"null"}}]})";
  EXPECT_EQ(misfit_within_bounds(schema, list_of("1", largest_input)),
            "the input fits no alternative of anyOf (the first: /0 must be a string, found an integer)");
}

TEST(SchemaHostile, OneSchemaServesSeveralInputsAfterAFailure) {
  const auto compiled = input_schema::compile(R"({"items":{"type":"integer"}})");
  ASSERT_TRUE(compiled);
  EXPECT_TRUE((*compiled)->misfit_of(R"(["a"])"));
  EXPECT_TRUE((*compiled)->misfit_of("["));
  EXPECT_FALSE((*compiled)->misfit_of("[1]"));
  EXPECT_TRUE((*compiled)->misfit_of(R"(["a"])"));
}

TEST(SchemaHostile, NamesBesideAPropertyAreCounted) {
  std::string names = "\"p0\"";
  for (int i = 1; i < 6'000; ++i) names += ",\"p" + std::to_string(i) + "\"";
  const auto schema = R"({"contains":{"dependencies":{"a":[)" + names + "]}}}";
  EXPECT_TRUE(takes_too_many_steps(misfit_within_bounds(schema, list_of(R"({"a":1})", largest_input))));
}

TEST(SchemaHostile, DeepValuesThatAreComparedAsAWholeAreCounted) {
  const auto deep = repeated("[", 60) + list_of("1", largest_input - 200) + repeated("]", 60);
  const auto all = [](int times) {
    return R"({"allOf":[)" + repeated(R"({"not":{"const":1}},)", static_cast<std::size_t>(times)) + "{}]}";
  };
  EXPECT_EQ(misfit_within_bounds(all(2), deep), "");
  EXPECT_TRUE(takes_too_many_steps(misfit_within_bounds(all(10), deep)));
}

TEST(SchemaHostile, AlternativesInsideEachOtherAreDescribedInShort) {
  std::string schema = R"({"type":"string"})";
  for (int i = 0; i < 8; ++i) {
    schema = R"({"allOf":[)" + schema + R"(,{"type":"null"}]})";
    schema = R"({"anyOf":[)" + schema + "]}";
  }
  const auto sentence = misfit_within_bounds(schema, "1");
  EXPECT_EQ(sentence.rfind("the input fits no alternative of anyOf (the first: the input fits", 0), 0U) << sentence;
  EXPECT_LT(sentence.size(), 300U);
}

TEST(SchemaHostile, TheInputsOfOneRequestShareABudget) {
  const auto compiled = input_schema::compile(R"({"items":{"type":"integer"}})");
  ASSERT_TRUE(compiled);
  const auto large = list_of("1", largest_input);
  comparison_budget budget;
  int fitting = 0;
  while (fitting < 1'000 && !(*compiled)->misfit_of(large, &budget)) ++fitting;
  EXPECT_GT(fitting, 3);
  EXPECT_LT(fitting, 100);
  EXPECT_TRUE(budget.is_used_up());
  EXPECT_TRUE((*compiled)->misfit_of("[1]", &budget));
  EXPECT_TRUE(budget.is_used_up());
  EXPECT_FALSE((*compiled)->misfit_of(large));
}

TEST(SchemaHostile, WhatDoesNotFitIsRefusedForThatWithTheLastSteps) {
  const auto compiled = input_schema::compile(R"({"type":"integer"})");
  ASSERT_TRUE(compiled);
  comparison_budget budget{1};
  EXPECT_EQ((*compiled)->misfit_of("\"x\"", &budget), "the input does not fit, in a way that takes too many steps to describe");
  EXPECT_FALSE(budget.is_used_up());
  EXPECT_TRUE((*compiled)->misfit_of("1", &budget));
  EXPECT_TRUE(budget.is_used_up());
}

}  // namespace
}  // namespace fairlead::core
