// Steps with a sub-workflow, as the builder gives them.

#include <gtest/gtest.h>

#include <fairlead/workflow.hpp>

#include "app/files/workflow_file.hpp"

namespace fairlead {
namespace {

using namespace std::chrono_literals;

TEST(library_child, is_as_in_yaml) {
  workflow one{"w"};
  one.on_failure(on_failure::undo);
  one.step("a").sub_workflow("shipment");
  one.step("b").needs("a").sub_workflow("w").with(R"({"n": "${ .input.n }"})").timeout(2h).on_failure(on_failure::go_on).undo_none();
  one.step("c").needs("b").sub_workflow("letter").pivot();
  const auto yaml =
      app::parse_workflow("w.yaml",
                          "workflow: w\non_failure: undo\nsteps:\n"
                          "  a: { workflow: shipment }\n"
                          "  b: { needs: a, workflow: w, with: { n: \"${ .input.n }\" }, timeout: 2h, on_failure: continue, undo: none }\n"
                          "  c: { needs: b, workflow: letter, pivot: true }\n",
                          nullptr);
  ASSERT_TRUE(yaml.problems.empty()) << to_text(yaml.problems.front());
  const auto built = one.definition();
  ASSERT_TRUE(built.ok()) << built.failure().sentence;
  EXPECT_EQ(built->DebugString(), yaml.definition.DebugString());
  EXPECT_EQ(app::parse_workflow("w.yaml", one.yaml(), nullptr).definition.DebugString(), yaml.definition.DebugString()) << one.yaml();
}

TEST(library_child, what_has_no_effect_is_named) {
  workflow one{"w"};
  one.step("a").sub_workflow("shipment").attempts(3).in_doubt(in_doubt::retry).finally();
  std::vector<std::string> found;
  for (const auto& problem : one.problems()) found.push_back(problem.step + "/" + problem.field);
  EXPECT_EQ(found, (std::vector<std::string>{"a/attempts", "a/finally", "a/in_doubt"}));
}

}  // namespace
}  // namespace fairlead
