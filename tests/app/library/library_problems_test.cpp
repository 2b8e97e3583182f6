// What a workflow in C++ says is wrong with it.

#include <fairlead/workflow.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fairlead {
namespace {

using namespace std::chrono_literals;

TEST(library_workflow, its_problems_name_step_and_field) {
  workflow bad{"Bad"};
  bad.on_failure(on_failure::undo).output("[1,").input_schema(R"({"type": "strng"})");
  bad.step("a").agent("x").call("y").needs("b").with("{").timeout(-1s);
  std::vector<std::string> found;
  for (const auto& one : bad.problems()) found.push_back(one.step + "/" + one.field);
  EXPECT_EQ(found, (std::vector<std::string>{"/output", "a/with", "/workflow", "a/needs", "a/timeout", "/input.type", "a/undo"}));
  const auto refused = bad.definition();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_NE(refused.failure().sentence.find("step a, needs: "), std::string::npos) << refused.failure().sentence;
}

TEST(library_workflow, a_schema_that_is_no_json_is_one_problem) {
  workflow bad{"w"};
  bad.input_schema("{").step("a").agent("x").call("y");
  const auto found = bad.problems();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].field, "input");
  EXPECT_NE(found[0].sentence.find("not valid JSON"), std::string::npos) << found[0].sentence;
}

}  // namespace
}  // namespace fairlead
