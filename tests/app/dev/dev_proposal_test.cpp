#include "app/dev/proposal.hpp"

#include <gtest/gtest.h>

namespace fairlead::app {
namespace {

std::string proposed(const std::string& schema) {
  v1::WorkflowDefinition of;
  of.set_input_schema_json(schema);
  return proposed_input(of);
}

TEST(dev_proposal, is_an_empty_object_where_the_workflow_takes_it) {
  for (const auto* schema : {"", "{}", R"({"type":"object"})", R"({"properties":{"note":{"type":"string"}}})", R"({"required":[]})"})
    EXPECT_EQ(proposed(schema), "{}") << schema;
}

TEST(dev_proposal, names_what_the_schema_requires) {
  EXPECT_EQ(proposed(R"({"type":"object","required":["from","amount_cents"],"properties":{"from":{"type":"string"},"note":{}}})"),
            R"({"from": …, "amount_cents": …})");
  EXPECT_EQ(proposed(R"({"required":["the \"name\""]})"), R"({"the \"name\"": …})");
}

TEST(dev_proposal, is_a_word_where_there_is_nothing_to_name) {
  for (const auto* schema : {R"({"type":"array"})", R"({"type":"object","minProperties":1})",
                             R"({"anyOf":[{"required":["a"]},{"required":["b"]}]})", R"({"required":["it's"]})", "no schema"})
    EXPECT_EQ(proposed(schema), "JSON") << schema;
  EXPECT_EQ(proposed(R"({"required":[")" + std::string(128, 'a') + R"(",")" + std::string(128, 'b') + R"(",")" + std::string(128, 'c') +
                     R"("]})"),
            "JSON");
}

}  // namespace
}  // namespace fairlead::app
