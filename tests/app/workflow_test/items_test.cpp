// Cases of workflows with a step that is carried out once for each item of a list.

#include "tests/app/problems.hpp"
#include "tests/app/workflow_test/test_folder.hpp"

namespace fairlead::app {
namespace {

struct rehearsed_items : workflow_test_folder {
  rehearsed_items() { write_with(""); }

  void write_with(const std::string& more, const std::string& head = "on_failure: undo") const {
    write("order.yaml", "workflow: order\n" + head + R"(
steps:
  ship:
    for_each: { items: "${ .input.parcels }", at_once: 2 )" +
                            more + R"( }
    agent: depot
    call: send
    with: { parcel: "${ .item }", number: "${ .index + 1 }" }
    timeout: 10s
    attempts: 2
    backoff: { first: 1s, factor: 1 }
    undo: { call: fetch, with: { parcel: "${ .item }", van: "${ .steps.ship.van? }" } }
)");
  }
  void write_with_children() const {
    write("order.yaml", R"(workflow: order
on_failure: undo
steps:
  ship: { for_each: { items: "${ .input.parcels }" }, workflow: shipment, with: { parcel: "${ .item }" } }
)");
  }

  case_result of(const std::string& agents, const std::string& rest, const std::string& parcels = "[a, b, c]") const {
    return run_one("  - name: one\n    input: { parcels: " + parcels + " }\n    agents:\n" + agents + rest);
  }
};

TEST_F(rehearsed_items, are_answered_under_the_name_of_their_step) {
  const auto ran = of("      ship: { after: 3s, output: { van: 7 } }\n", R"(    expect:
      end: completed
      performed: [ship]
      takes: { least: 6s, most: 6s }
      steps:
        ship: { items: 3, completed_items: [2, 0, 1], failed_items: [], attempts: 3, output: [{ van: 7 }, { van: 7 }, { van: 7 }] }
        ship[2]: { state: completed, attempts: 1, input: { parcel: c, number: 3 }, output: { van: 7 } }
)");
  EXPECT_EQ(failures(ran), lines{});
  std::string story;
  for (const auto& [at_ms, what] : ran.story) story += what + "\n";
  EXPECT_NE(story.find("step_started ship[2] attempt 1: depot.send {\"parcel\":\"c\",\"number\":3}"), std::string::npos) << story;
  EXPECT_EQ(story.find("task_submitted task/ship"), std::string::npos) << story;
}

TEST_F(rehearsed_items, go_through_the_answers_of_their_step_each_by_itself) {
  EXPECT_EQ(failures(of("      ship: [{ fault: busy, kind: transient }, { output: 1 }]\n", R"(    expect:
      end: completed
      steps: { ship: { attempts: 6, output: [1, 1, 1] } }
)")),
            lines{});
  // The answers of a call are given to whoever calls.
  EXPECT_EQ(failures(of("      depot.send: [{ fault: busy, kind: transient }, { output: 1 }]\n", R"(    expect:
      end: completed
      steps: { ship: { attempts: 4, output: [1, 1, 1] } }
)")),
            lines{});
}

TEST_F(rehearsed_items, have_answers_of_their_own) {
  const std::string agents = "      ship: { output: { van: 1 } }\n      ship[1]: { output: { van: 2 } }\n";
  EXPECT_EQ(failures(of(agents, "    expect: { end: completed, steps: { ship: { output: [{ van: 1 }, { van: 2 }, { van: 1 }] } } }\n")),
            lines{});
}

TEST_F(rehearsed_items, that_fail_stop_the_list_and_the_others_are_undone) {
  const std::string agents = R"(      ship: { output: { van: 1 } }
      ship[1]: { fault: lost, kind: permanent }
      undo of ship: { output: 1 }
)";
  EXPECT_EQ(failures(of(agents, R"(    expect:
      end: undone
      reason: item 2
      steps:
        ship: { fault: item_failed, failed_items: [1], undone_items: [0], undo_attempts: 1 }
        ship[0]: { state: undone, undo_input: { parcel: a, van: 1 } }
        ship[1]: { state: failed, fault: lost }
        ship[3]: { state: pending, attempts: 0 }
)",
                        "[a, b, c, d]")),
            lines{});
}

TEST_F(rehearsed_items, that_fail_stand_in_the_output_where_all_are_collected) {
  write_with(", failures: collect");
  EXPECT_EQ(failures(of("      ship: { output: 1 }\n      ship[1]: { fault: lost, kind: permanent, message: no van }\n", R"(    expect:
      end: completed
      steps:
        ship:
          failed_items: [1]
          completed_items: [0, 2]
          output:
            - { status: completed, output: 1, error: null }
            - { status: failed, output: null, error: { code: lost, message: no van } }
            - { status: completed, output: 1, error: null }
)")),
            lines{});
}

TEST_F(rehearsed_items, in_doubt_are_looked_up) {
  const std::string agents = R"(      ship: { output: 1 }
      ship[0]: { no_answer: true }
      lookup of ship[0]: { verdict: done, output: 8 }
)";
  EXPECT_EQ(failures(of(agents, "    expect: { end: completed, steps: { ship: { output: [8, 1, 1], lookups: 1 } } }\n")), lines{});
}

TEST_F(rehearsed_items, are_settled_and_tried_again_by_operators) {
  const std::string doubt = "      ship: { output: 1 }\n      ship[1]: { fault: gone, kind: in_doubt }\n";
  EXPECT_EQ(failures(of(doubt, R"(    events:
      - { at: 1h, operator: settle, step: "ship[1]", completed: 9 }
      - { at: 2h, operator: settle, step: "ship[2]", completed: 9, refused: true }
    expect: { end: completed, steps: { ship: { output: [1, 9, 1] } } }
)")),
            lines{});
  write_with("", "on_failure: park");
  EXPECT_EQ(failures(of("      ship: { output: 1 }\n      ship[0]: [{ fault: lost, kind: permanent }, { output: 2 }]\n", R"(    events:
      - { at: 1h, operator: retry, step: "ship[7]", refused: true }
      - { at: 2h, operator: retry, step: ship }
    expect:
      end: completed
      steps: { ship: { output: [2, 1, 1], attempts: 4 } }
)")),
            lines{});
}

TEST_F(rehearsed_items, are_none_of_an_empty_list) {
  EXPECT_EQ(failures(of("      depot.send: { output: 1 }\n", "    expect: { end: completed, steps: { ship: { items: 0, output: [] } } }\n",
                        "[]")),
            (lines{"6:19 agents.depot.send: nothing asked for this answer; remove what is not given"}));
}

TEST_F(rehearsed_items, with_a_sub_workflow_end_as_is_said) {
  write_with_children();
  EXPECT_EQ(failures(of("      ship: { after: 1h, output: 5 }\n      ship[2]: { undone: the parcel was lost }\n", R"(    expect:
      end: undone
      reason: the parcel was lost
      steps:
        ship: { failed_items: [2], undone_items: [0, 1], undo_attempts: 2 }
        ship[0]: { state: undone, input: { parcel: a }, cancelled: false }
        ship[2]: { state: undone, fault: child_undone }
)")),
            lines{});
  EXPECT_EQ(failures(of("      ship[1]: { parked: no van, resumed_after: 2h, output: 6 }\n",
                        "    expect: { end: completed, takes: { least: 2h, most: 2h }, steps: { ship: { output: [null, 6, null] } } }\n")),
            lines{});
  EXPECT_EQ(failures(of("      ship: { after: 2h, output: 6 }\n", R"(    events: [{ at: 1h, operator: cancel }]
    expect:
      end: undone
      steps:
        ship: { cancelled: true }
        ship[1]: { cancelled: true }
)")),
            lines{});
}

TEST_F(rehearsed_items, that_a_list_does_not_have_are_named) {
  EXPECT_EQ(failures(of("      ship: { output: 1 }\n      ship[3]: { output: 2 }\n",
                        "    expect:\n      end: completed\n      steps:\n        ship[5]: { state: completed }\n")),
            (lines{"11:18 expect.steps.ship[5]: the list of step ship has 3 items; items are counted from 0, so the last one is ship[2]",
                   "7:16 agents.ship[3]: the list of step ship has 3 items; items are counted from 0, so the last one is ship[2]"}));
  EXPECT_EQ(
      failures(of("      ship: { output: 1 }\n", R"(    expect:
      end: completed
      steps:
        ship: { items: 2, completed_items: [0], failed_items: [1], undone_items: [2] }
)")),
      (lines{"10:24 expect.steps.ship.items: expected 2, was 3", "10:44 expect.steps.ship.completed_items: expected [0], was [0, 1, 2]",
             "10:63 expect.steps.ship.failed_items: expected [1], was []", "10:82 expect.steps.ship.undone_items: expected [2], was []"}));
}

TEST_F(rehearsed_items, are_checked_before_anything_runs) {
  write("order.yaml", R"(workflow: order
steps:
  ship: { for_each: [a, b], agent: depot, call: send, undo: none }
  sub: { for_each: "${ .input.x }", workflow: shipment }
  pay: { agent: bank, call: pay, undo: none }
)");
  EXPECT_EQ(
      shown(parsed(R"(test: order.yaml
cases:
  - name: one
    agents:
      ship[2]: { output: 1 }
      ship[x]: { output: 1 }
      ship[01]: { output: 1 }
      ship[-1]: { output: 1 }
      sub[10000]: { output: 1 }
      pay[0]: { output: 1 }
      shop[0]: { output: 1 }
      lookup of ship[9]: { verdict: unknown }
      sub[0]: { fault: x }
    events:
      - { at: 1s, operator: settle, step: "sub[0]", completed: 1 }
      - { at: 1s, operator: undo, step: ship }
    expect:
      end: completed
      performed: ["ship[0]"]
      steps:
        ship: { input: 1 }
        ship[0]: { items: 1 }
        pay: { undone_items: [] }
        ship[: { state: completed }
)")
                .problems),
      (lines{
          R"(5:7: cases[0].agents.ship[2]: the list of step ship has 2 items; items are counted from 0, so the last one is ship[1])",
          R"(6:7: cases[0].agents.ship[x]: expected the number of an item of step ship; such as ship[0], which is the first one)",
          R"(7:7: cases[0].agents.ship[01]: expected the number of an item of step ship; such as ship[0], which is the first one)",
          R"(8:7: cases[0].agents.ship[-1]: expected the number of an item of step ship; such as ship[0], which is the first one)",
          R"(9:7: cases[0].agents.sub[10000]: a list has at most 10000 items; the last one can be sub[9999])",
          R"(10:7: cases[0].agents.pay[0]: step pay has no for_each, and so no items; write pay)",
          R"(11:7: cases[0].agents.shop[0]: workflow order has no call and no step shop[0]; its calls and steps are )"
          R"(depot.send, bank.pay, ship, sub, pay)",
          R"(12:7: cases[0].agents.lookup of ship[9]: the list of step ship has 2 items; items are counted from 0, so the )"
          R"(last one is ship[1])",
          R"(13:17: cases[0].agents.sub[0].fault: this key is not known here; known keys: after, output, failed, undone, )"
          R"(parked or undo)",
          R"(15:43: cases[0].events[0].step: what becomes of the task of an item with a sub-workflow is said below agents; )"
          R"(remove this event, and say it below sub[0], such as { parked: REASON, resumed_after: 1h })",
          R"(16:41: cases[0].events[1].step: a task is undone as a whole; remove step, or name an item, such as STEP[0])",
          R"(19:19: cases[0].expect.performed[0]: workflow order has no step ship[0]; its steps are ship, sub, pay)",
          R"(21:17: cases[0].expect.steps.ship.input: each item of step ship is given something else; say it of one item, )"
          R"(such as ship[0])",
          R"(22:20: cases[0].expect.steps.ship[0].items: one item has no items; say it of ship)",
          R"(23:16: cases[0].expect.steps.pay.undone_items: the step has no for_each, and so no items; remove this key)",
          R"(24:9: cases[0].expect.steps.ship[: expected the number of an item of step ship; such as ship[0], which is the first one)",
      }));
}

}  // namespace
}  // namespace fairlead::app
