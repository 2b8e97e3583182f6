// Steps with a sub-workflow in workflow files.

#include <gtest/gtest.h>

#include "app/files/workflow_file.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

/// A file with these lines under its only step; they begin on line 4.
workflow_file file_with(const std::string& lines_of_step, const std::string& of_workflow = "") {
  return parse_workflow("order.yaml", "workflow: order\n" + of_workflow + "steps:\n  ship:\n" + lines_of_step, nullptr);
}

TEST(workflow_child_file, is_read_as_it_is_stored) {
  const auto plain = file_with("    workflow: shipment\n");
  EXPECT_EQ(shown(plain.problems), lines{});
  EXPECT_EQ(plain.definition.steps(0).ShortDebugString(), R"(name: "ship" kind: STEP_KIND_WORKFLOW workflow: "shipment")")
      << "no limit of time, no attempts, the whole input, and an undo that the sub-workflow knows";

  const auto full = file_with(
      "    when: ${ .input.ships }\n    workflow: shipment\n    with: { order: \"${ .input.id }\" }\n    timeout: 2h\n    on_failure: "
      "fail\n"
      "    pivot: true\n    undo: none\n");
  EXPECT_EQ(shown(full.problems), lines{});
  const auto& step = full.definition.steps(0);
  EXPECT_EQ(step.kind(), v1::STEP_KIND_WORKFLOW);
  EXPECT_EQ(step.with_json(), R"({"order":"${ .input.id }"})");
  EXPECT_EQ(step.timeout_ms(), 7'200'000);
  EXPECT_EQ(step.on_failure(), v1::ON_FAILURE_FAIL);
  EXPECT_TRUE(step.pivot());
  EXPECT_TRUE(step.undo().none());
}

TEST(workflow_child_file, asks_no_undo_where_the_workflow_undoes) {
  EXPECT_EQ(shown(file_with("    workflow: shipment\n", "on_failure: undo\n").problems), lines{});
}

TEST(workflow_child_file, shows_what_its_step_cannot_have_at_the_key) {
  const std::string no_attempts = " has no effect here; remove ", on_child = ", or set it on a step of the sub-workflow";
  for (const std::string line :
       {"heartbeat: 10s", "labels: { zone: eu }", "retry: [{ on: busy }]", "attempts: 3", "retry_for: 1h", "backoff: { first: 1s }",
        "in_doubt: park", "cool_off: 1m", "callback: { timeout: 1d }", "repeat: { until: \"${ .input.a }\" }"}) {
    const auto key = line.substr(0, line.find(':'));
    EXPECT_EQ(
        shown(file_with("    workflow: shipment\n    " + line + "\n").problems),
        lines{"5:5: steps.ship." + key + ": a step with a sub-workflow has no attempts: `" + key + "`" + no_attempts + key + on_child});
  }
  for (const std::string line : {"agent: x", "call: y"}) {
    const auto key = line.substr(0, line.find(':'));
    EXPECT_EQ(shown(file_with("    workflow: shipment\n    " + line + "\n").problems),
              lines{"5:5: steps.ship." + key + ": `workflow` and `" + key + "` exclude one another; make two steps of it"});
  }
  EXPECT_EQ(shown(file_with("    workflow: shipment\n    wait: 10m\n").problems),
            lines{"4:5: steps.ship.workflow: `wait` and `workflow` exclude one another; make two steps of it"});
  EXPECT_EQ(
      shown(file_with("    workflow: shipment\n    finally: true\n").problems),
      lines{"5:5: steps.ship.finally: a step with a sub-workflow cannot be a step of the end; remove finally, or call an agent at the "
            "end"});
  EXPECT_EQ(
      shown(file_with("    workflow: shipment\n    undo: { call: cancel }\n").problems),
      lines{"5:5: steps.ship.undo: a step with a sub-workflow has no call that undoes it: its task is undone as the sub-workflow says; "
            "remove undo, or set undo: none to keep what the sub-workflow has done"});
}

TEST(workflow_child_file, shows_a_bad_value_at_its_key) {
  EXPECT_EQ(shown(file_with("    workflow: Ship ment\n").problems),
            lines{std::string{"4:15: steps.ship.workflow: \"Ship ment\" is not a valid name of a workflow; "} + core::name_rule});
  EXPECT_EQ(
      shown(file_with("    workflow: shipment\n    on_failure: cool_off\n").problems),
      lines{"5:17: steps.ship.on_failure: a step with a sub-workflow does not cool off; set on_failure: undo, park, fail or continue"});
  EXPECT_EQ(shown(file_with("    workflow: shipment\n    with: \"${ .steps.other }\"\n").problems),
            lines{"5:11: steps.ship.with: an expression reads step \"other\", which is not in this workflow"});
  EXPECT_EQ(file_with("    workflow: shipment\n    timeout: 0s\n").problems.size(), 1U);
}

}  // namespace
}  // namespace fairlead::app
