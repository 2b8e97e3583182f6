// The keys of a workflow file that say what a task gives, and how often a step is performed for it.

#include <gtest/gtest.h>

#include "app/files/workflow_file.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

lines workflow_problems(const std::string& text) { return shown(parse_workflow("order.yaml", text, nullptr).problems); }

// One step with these lines under it; they begin on line 3.
std::string step_with(const std::string& text) { return "workflow: w\nsteps: { a: { agent: x, call: y,\n" + text + "\n} }\n"; }

TEST(workflow_file, reads_the_output_of_a_task_as_any_value) {
  const auto output = [](const std::string& value) {
    const auto file = parse_workflow("w.yaml", step_with("") + "output: " + value + "\n", nullptr);
    EXPECT_EQ(shown(file.problems), lines{}) << value;
    return file.definition.output_json();
  };
  EXPECT_EQ(output(R"({ ticket: "${ .steps.a.id }", by: [ "${ .task.id }", 9007199254740993 ] })"),
            R"({"ticket":"${ .steps.a.id }","by":["${ .task.id }",9007199254740993]})");
  EXPECT_EQ(output("\"${ .steps.a }\""), R"("${ .steps.a }")");
  EXPECT_EQ(output("null"), "null");
  EXPECT_EQ(parse_workflow("w.yaml", step_with(""), nullptr).definition.output_json(), "") << "without the key there is none";
}

TEST(workflow_file, shows_what_is_wrong_with_the_output_at_its_key) {
  const auto problems = [](const std::string& value) { return workflow_problems(step_with("") + "output: " + value + "\n"); };
  EXPECT_EQ(problems(R"("${ .steps.b }")"), lines{"5:9: output: an expression reads step \"b\", which is not in this workflow"});
  EXPECT_EQ(problems("007").size(), 1U) << "a number that JSON does not know";
  EXPECT_EQ(problems(R"("${ .steps.a")").size(), 1U) << "an expression that does not end";
}

}  // namespace
}  // namespace fairlead::app
