// Cases of workflows with a step that is a task of its own.

#include "tests/app/problems.hpp"
#include "tests/app/workflow_test/test_folder.hpp"

namespace fairlead::app {
namespace {

struct rehearsed_children : workflow_test_folder {
  rehearsed_children() {
    write("order.yaml", R"(workflow: order
timeout: 10d
on_failure: undo
steps:
  reserve: { agent: inventory, call: reserve, with: {}, undo: { call: release } }
  ship:
    needs: reserve
    workflow: shipment
    with: { order: "${ .task.id }" }
    timeout: 2d
  tell: { needs: ship, agent: mail, call: send, with: { parcel: "${ .steps.ship.parcel? }" }, undo: none }
)");
  }

  case_result of(const std::string& ship, const std::string& rest) const {
    return run_one("  - name: one\n    agents:\n      reserve: { output: 1 }\n" + (ship.empty() ? "" : "      ship: " + ship + "\n") +
                   rest);
  }
};

constexpr const char* tells = "      tell: { output: 1 }\n";
constexpr const char* releases = "      undo of reserve: { output: 1 }\n";

TEST_F(rehearsed_children, complete_without_output_where_nothing_is_said) {
  const auto ran = of("", std::string{tells} + R"(    expect:
      end: completed
      performed: [reserve, ship, tell]
      steps: { ship: { state: completed, output: null, input: { order: task }, attempts: 1, cancelled: false } }
)");
  EXPECT_EQ(failures(ran), lines{});
  std::string story;
  for (const auto& [at_ms, what] : ran.story) story += what + "\n";
  EXPECT_NE(story.find("workflow shipment {\"order\":\"task\"}"), std::string::npos) << story;
}

TEST_F(rehearsed_children, give_the_output_that_is_said_at_its_time) {
  EXPECT_EQ(failures(of("{ after: 2h, output: { parcel: P1 } }", std::string{tells} + R"(    expect:
      end: completed
      steps: { tell: { input: { parcel: P1 } }, ship: { output_has: { parcel: P1 } } }
      takes: { least: 2h, most: 2h }
)")),
            lines{});
}

TEST_F(rehearsed_children, that_are_undone_or_fail_fail_their_step) {
  const std::string undone =
      "    expect: { end: undone, undone: [reserve], reason: the parcel was lost, steps: { ship: { fault: child_undone } } }\n";
  EXPECT_EQ(failures(of("{ undone: the parcel was lost }", releases + undone)), lines{});
  const std::string failed =
      "    expect: { end: undone, undone: [reserve], reason: nobody knows why, steps: { ship: { fault: child_failed } } }\n";
  EXPECT_EQ(failures(of("{ failed: nobody knows why }", releases + failed)), lines{});
}

TEST_F(rehearsed_children, park_their_parent_until_they_go_on) {
  EXPECT_EQ(failures(of("{ parked: a carrier is on strike }", "    expect: { end: parked, reason: a carrier is on strike, alerts: [] }\n")),
            lines{});
  EXPECT_EQ(failures(of("{ after: 1h, parked: a carrier is on strike, resumed_after: 5h, output: 1 }",
                        std::string{tells} + "    events: [{ at: 2h, operator: retry, refused: true }]\n"
                                             "    expect: { end: completed, takes: { least: 6h, most: 6h } }\n")),
            lines{});
}

TEST_F(rehearsed_children, are_cancelled_with_their_parent) {
  const std::string cancel = "    events: [{ at: 1h, operator: cancel }]\n";
  EXPECT_EQ(failures(of("{ after: 2h }", releases + cancel + R"(    expect:
      end: undone
      undone: [reserve]
      takes: { most: 1h }
      steps: { ship: { cancelled: true } }
)")),
            lines{});
  // One that cannot be undone any more goes on to its end, and parks its parent there.
  EXPECT_EQ(failures(of("{ after: 2h, undo: refused }", cancel + R"(    expect:
      end: parked
      takes: { least: 2h, most: 2h }
      steps: { ship: { fault: child_pivot, cancelled: true, undo_attempts: 1 } }
)")),
            lines{});
}

TEST_F(rehearsed_children, are_undone_with_their_parent) {
  EXPECT_EQ(failures(of("{ output: 1 }", std::string{tells} + releases + R"(    events: [{ at: 1h, operator: undo }]
    expect:
      end: undone
      undone: [ship, reserve]
      steps: { ship: { undo_attempts: 1, state: undone, cancelled: false } }
)")),
            lines{});
  EXPECT_EQ(failures(of("{ output: 1, undo: refused }", std::string{tells} + releases + R"(    events:
      - { at: 1h, operator: undo }
      - { at: 2h, operator: skip, step: ship }
    expect: { end: undone, undone: [ship, reserve], alerts: [task_parked] }
)")),
            lines{});
}

TEST_F(rehearsed_children, have_the_time_of_their_step) {
  EXPECT_EQ(failures(of("{ after: 3d }", releases + std::string{R"(    expect:
      end: undone
      takes: { least: 2d, most: 2d }
      steps: { ship: { fault: child_undone, cancelled: false } }
)"})),
            lines{});
}

TEST_F(rehearsed_children, are_paused_with_their_parent) {
  EXPECT_EQ(failures(of("{ after: 1h, output: 1 }", std::string{tells} + R"(    events:
      - { at: 30m, operator: pause }
      - { at: 5h, operator: resume }
    expect: { end: completed, takes: { least: 5h, most: 5h } }
)")),
            lines{});
}

TEST_F(rehearsed_children, begin_again_when_an_operator_retries) {
  write("order.yaml", "workflow: order\nsteps:\n  ship: { workflow: shipment, with: {}, on_failure: park }\n");
  EXPECT_EQ(failures(run_one(R"(  - name: one
    agents:
      ship: [{ undone: lost }, { output: 7 }]
    events: [{ at: 1h, operator: retry, step: ship }]
    expect: { end: completed, steps: { ship: { attempts: 2, output: 7 } } }
)")),
            lines{});
  // What they have done stands: it must be undone before others begin.
  EXPECT_EQ(failures(run_one(R"(  - name: one
    agents: { ship: { failed: lost, stands: true } }
    events: [{ at: 1h, operator: retry, step: ship, refused: true }]
    expect: { end: parked, steps: { ship: { attempts: 1, fault: child_failed } } }
)")),
            lines{});
}

TEST_F(rehearsed_children, that_never_begin_are_named) {
  EXPECT_EQ(failures(run_one(R"(  - name: one
    agents:
      reserve: { fault: sold_out, kind: permanent }
      ship: { output: 1 }
    expect: { end: undone }
)")),
            (lines{"6:13 agents.ship: no child has begun; remove what is not given"}));
}

TEST_F(rehearsed_children, are_checked_before_anything_runs) {
  EXPECT_EQ(
      shown(parsed(R"(test: order.yaml
cases:
  - name: one
    agents:
      ship:
        - { output: 1, failed: no }
        - { stands: true }
        - { resumed_after: 1h }
        - { parked: no, undone: no }
        - { undo: never }
        - { fault: x }
        - 7
      undo of ship: { output: 1 }
    expect: { end: completed, steps: { tell: { cancelled: true } } }
)")
                .problems),
      (lines{
          R"(6:11: cases[0].agents.ship[0]: a child has one end; keep one of output, failed and undone)",
          R"(7:13: cases[0].agents.ship[1].stands: only of a child that fails something stands; add failed: REASON, or remove this key)",
          R"(8:13: cases[0].agents.ship[2].resumed_after: the child does not park; add parked: REASON, or remove this key)",
          R"(9:11: cases[0].agents.ship[3]: a child that stays parked does not end; add resumed_after, or remove its end)",
          R"(10:19: cases[0].agents.ship[4].undo: expected ok or refused, found "never")",
          R"(11:13: cases[0].agents.ship[5].fault: this key is not known here; known keys: after, output, failed, undone, parked or undo)",
          R"(12:11: cases[0].agents.ship[6]: expected the end of a child, such as { output: { id: 7 } } or { undone: the parcel was lost }, found the number 7)",
          R"(13:7: cases[0].agents.undo of ship: step ship asks no agent; say below ship how its child is undone: undo: ok, or undo: refused)",
          R"(14:48: cases[0].expect.steps.tell.cancelled: step tell has no child that could be cancelled; remove this key)",
      }));
}

}  // namespace
}  // namespace fairlead::app
