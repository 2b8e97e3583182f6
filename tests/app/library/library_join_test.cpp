// Steps with a join, as the builder gives them.

#include <gtest/gtest.h>

#include <algorithm>
#include <fairlead/workflow.hpp>

#include "app/files/workflow_file.hpp"

namespace fairlead {
namespace {

TEST(library_join, is_as_in_yaml) {
  workflow one{"w"};
  one.on_failure(on_failure::park);
  for (const auto* name : {"a", "b", "c"}) one.step(name).agent("x").call("y").undo_none();
  one.step("d").needs("a", "b", "c").join(2).with("1").on_failure(on_failure::go_on);
  one.step("e").needs("a", "b").join_any().agent("x").call("y").undo_none();
  const auto yaml = app::parse_workflow("w.yaml",
                                        "workflow: w\non_failure: park\nsteps:\n"
                                        "  a: { agent: x, call: y, undo: none }\n"
                                        "  b: { agent: x, call: y, undo: none }\n"
                                        "  c: { agent: x, call: y, undo: none }\n"
                                        "  d: { needs: [a, b, c], join: 2, with: 1, on_failure: continue }\n"
                                        "  e: { needs: [a, b], join: any, agent: x, call: y, undo: none }\n",
                                        nullptr);
  ASSERT_TRUE(yaml.problems.empty()) << to_text(yaml.problems.front());
  const auto built = one.definition();
  ASSERT_TRUE(built.ok()) << built.failure().sentence;
  EXPECT_EQ(built->DebugString(), yaml.definition.DebugString());
  EXPECT_EQ(app::parse_workflow("w.yaml", one.yaml(), nullptr).definition.DebugString(), yaml.definition.DebugString()) << one.yaml();
}

TEST(library_join, that_has_no_effect_is_named) {
  workflow one{"w"};
  one.step("a").with("1");
  one.step("b").needs("a").join(0).with("2");
  one.step("c").join_any().with("3");
  std::vector<std::string> found;
  for (const auto& problem : one.problems()) found.push_back(problem.step + "/" + problem.field);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector<std::string>{"b/join", "c/join"}));
}

}  // namespace
}  // namespace fairlead
