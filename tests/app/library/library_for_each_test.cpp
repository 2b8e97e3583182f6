// Steps with `for_each`, as the builder gives them.

#include <gtest/gtest.h>

#include <fairlead/workflow.hpp>

#include "app/files/workflow_file.hpp"

namespace fairlead {
namespace {

TEST(library_for_each, is_as_in_yaml) {
  workflow one{"w"};
  one.on_failure(on_failure::undo);
  one.step("a").agent("mail").call("send").for_each("${ .input.all }").undo("recall", R"({"to": "${ .item.to }"})");
  one.step("b")
      .needs("a")
      .sub_workflow("shipment")
      .for_each("${ .input.parcels }", 20, item_failures::collect)
      .with(R"({"parcel": "${ .item }", "n": "${ .index }"})");
  one.step("c").needs("b").agent("mail").call("send").for_each(R"( ["ana", {"to": "${ .input.to }"}] )", 1).undo_none();
  const auto yaml = app::parse_workflow(
      "w.yaml",
      "workflow: w\non_failure: undo\nsteps:\n"
      "  a: { agent: mail, call: send, for_each: \"${ .input.all }\", undo: { call: recall, with: { to: \"${ .item.to }\" } } }\n"
      "  b:\n    needs: a\n    workflow: shipment\n    for_each: { items: \"${ .input.parcels }\", at_once: 20, failures: collect }\n"
      "    with: { parcel: \"${ .item }\", n: \"${ .index }\" }\n"
      "  c:\n    needs: b\n    agent: mail\n    call: send\n    for_each: { items: [ana, { to: \"${ .input.to }\" }], at_once: 1 }\n    "
      "undo: none\n",
      nullptr);
  ASSERT_TRUE(yaml.problems.empty()) << to_text(yaml.problems.front());
  const auto built = one.definition();
  ASSERT_TRUE(built.ok()) << built.failure().sentence;
  EXPECT_EQ(built->DebugString(), yaml.definition.DebugString());
  EXPECT_EQ(app::parse_workflow("w.yaml", one.yaml(), nullptr).definition.DebugString(), yaml.definition.DebugString()) << one.yaml();
}

TEST(library_for_each, what_is_wrong_is_named) {
  workflow one{"w"};
  one.step("a").agent("mail").call("send").for_each("[1,").undo_none();
  one.step("b").agent("mail").call("send").for_each("${ .input.all }", 0).pivot();
  one.step("c").for_each("${ .input.all }").with("1");
  std::vector<std::string> found;
  for (const auto& problem : one.problems()) found.push_back(problem.step + "/" + problem.field);
  EXPECT_EQ(found, (std::vector<std::string>{"a/for_each.items", "c/for_each", "b/for_each.at_once", "b/pivot"}));
}

}  // namespace
}  // namespace fairlead
