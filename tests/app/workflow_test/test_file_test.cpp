#include "app/workflow_test/test_file.hpp"

#include "tests/app/problems.hpp"
#include "tests/app/workflow_test/test_folder.hpp"

namespace fairlead::app {
namespace {

using test_files = workflow_test_folder;

TEST_F(test_files, are_read_with_what_all_cases_share) {
  const auto file = parsed(R"(test: order.yaml
clock: 2026-12-01T00:00:00Z
input: { amount: 5 }
agents: { payment.charge: { output: 1 } }
cases:
  - name: one
    expect: { end: completed }
  - name: two
    input: { amount: 6 }
    agents:
      charge: [{ after: 2s, output: 2 }, { fault: http_503, kind: transient, retry_after: 3s, message: busy }]
      undo of reserve: { no_answer: true }
      lookup of reserve: { verdict: done, output: { id: 7 } }
    events:
      - { at: 1s, signal: approve, data: [1] }
      - { at: 2s, operator: settle, step: charge, completed: { ok: true } }
      - { at: 3s, operator: settle, step: charge, never_happened: true, refused: true }
      - { at: 4s, operator: terminate, now: true, reason: enough }
    expect:
      end: undone
      performed: [reserve, ...]
      takes: { least: 1s, most: 2m }
      steps: { charge: { attempts: 2, state: in_doubt } }
)");
  EXPECT_EQ(shown(file.problems), lines{});
  ASSERT_EQ(file.cases.size(), 2u);
  EXPECT_EQ(file.agents.front().key, "payment.charge");
  EXPECT_EQ(file.cases[0].input, R"({"amount":5})");
  const auto& two = file.cases[1];
  EXPECT_EQ(two.input, R"({"amount":6})");
  EXPECT_EQ(two.start_unix_ms, 1'796'083'200'000);
  ASSERT_EQ(two.agents.size(), 3u);
  EXPECT_EQ(two.agents[0].answers[0].after_ms, 2000);
  EXPECT_EQ(two.agents[0].answers[1].fault->retry_after_ms(), 3000);
  EXPECT_EQ(two.agents[0].answers[1].fault->message(), "busy");
  EXPECT_TRUE(two.agents[1].answers[0].never);
  EXPECT_EQ(two.agents[2].answers[0].verdict, v1::LOOKUP_VERDICT_DONE);
  EXPECT_EQ(two.agents[2].answers[0].output, R"({"id":7})");
  ASSERT_EQ(two.actions.size(), 4u);
  EXPECT_EQ(two.actions[0].action.json(), "[1]");
  EXPECT_EQ(two.actions[1].action.verb(), v1::OPERATOR_VERB_SETTLE_COMPLETED);
  EXPECT_EQ(two.actions[2].action.verb(), v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED);
  EXPECT_TRUE(two.actions[2].refused);
  EXPECT_TRUE(two.actions[3].action.at_once());
  EXPECT_EQ(two.expect.least_ms->value, 1000);
  EXPECT_EQ(two.expect.steps.front().attempts->value, 2);
}

TEST_F(test_files, name_every_unknown_name_at_its_place) {
  EXPECT_EQ(
      shown(parsed(R"(test: order.yaml
agents:
  payment.chrage: { output: 1 }
  undo of charge: { output: 1 }
  approval: { output: 1 }
cases:
  - name: one
    event: []
    events:
      - { at: 1s, signal: aprove }
      - { at: 1s, operator: skip, step: chrge }
      - { at: 1s, operator: forget }
      - { at: 1s }
    expect:
      end: complete
      undone: [reserv]
      alerts: [task_park]
      steps: { charg: { state: completed } }
  - name: one
    expect: {}
)")
                .problems),
      (lines{
          R"(3:3: agents.payment.chrage: workflow order has no call and no step payment.chrage; did you mean payment.charge?)",
          R"(4:3: agents.undo of charge: step charge has no undo that an agent is asked for; remove this key)",
          R"(5:3: agents.approval: step approval asks no agent; give the signal below events)",
          R"(8:5: cases[0].event: this key is not known here; did you mean events?)",
          R"(10:27: cases[0].events[0].signal: no step of workflow order waits for a signal aprove; did you mean approve?)",
          R"(11:41: cases[0].events[1].step: workflow order has no step chrge; did you mean charge?)",
          R"(12:29: cases[0].events[2].operator: expected cancel, retry, settle, skip, undo, terminate, pause or resume, found "forget")",
          R"(13:9: cases[0].events[3]: expected either a signal or what an operator does; { at: 3s, signal: NAME }, or { at: 3s, operator: cancel })",
          R"(15:12: cases[0].expect.end: expected completed, undone, failed, parked, paused, running, undoing or refused, found "complete"; did you mean completed?)",
          R"(16:16: cases[0].expect.undone[0]: workflow order has no step reserv; did you mean reserve?)",
          R"(17:16: cases[0].expect.alerts[0]: there is no kind of alert task_park; did you mean task_parked?)",
          R"(18:16: cases[0].expect.steps.charg: workflow order has no step charg; did you mean charge?)",
          R"(19:11: cases[1].name: another case has this name; give each case a name of its own)",
          R"(20:13: cases[1].expect.end: this key is missing; expected the end of the task, such as completed)",
      }));
}

TEST_F(test_files, say_what_an_answer_cannot_be) {
  EXPECT_EQ(
      shown(parsed(R"(test: order.yaml
cases:
  - name: one
    agents:
      payment.charge:
        - { fault: http_503 }
        - { output: 1, fault: http_503, kind: transient }
        - { no_answer: true, after: 3s }
        - { verdict: done }
        - { callback: { after: 1s } }
      inventory.reserve: []
      lookup of charge: { output: 1 }
    expect: { end: completed }
)")
                .problems),
      (lines{
          R"(6:11: cases[0].agents.payment.charge[0].kind: this key is missing; expected transient, permanent or in_doubt)",
          R"(7:11: cases[0].agents.payment.charge[1]: an answer has an output or a fault, not both; remove one of them)",
          R"(8:11: cases[0].agents.payment.charge[2]: nothing is answered, and the answer is given as well; remove no_answer, or what stands beside it)",
          R"(9:13: cases[0].agents.payment.charge[3].verdict: only a look-up has a verdict; use it below "lookup of STEP")",
          R"(10:13: cases[0].agents.payment.charge[4].callback: no step that is answered here awaits a callback; give the output: output)",
          R"(11:26: cases[0].agents.inventory.reserve: the list is empty; give at least one answer)",
          R"(12:25: cases[0].agents.lookup of charge: expected what the look-up says; add verdict: done, never_happened or unknown)",
          R"(12:25: cases[0].agents.lookup of charge: only a step that is done has an output; add verdict: done)",
      }));
}

TEST_F(test_files, expect_nothing_more_of_a_task_that_is_refused) {
  EXPECT_EQ(shown(parsed("test: order.yaml\ncases:\n  - name: one\n    expect: { end: refused, reason: no, performed: [] }\n").problems),
            (lines{"4:13: cases[0].expect: a task that is refused does nothing that could be looked at; keep end and reason"}));
}

TEST_F(test_files, need_a_workflow_and_cases) {
  EXPECT_EQ(shown(parsed("cases: []\n").problems),
            (lines{"1:1: test: this key is missing; expected the workflow file to test, such as order.yaml"}));
  EXPECT_EQ(shown(parsed("test: order.yaml\ncases: []\n").problems), (lines{"2:8: cases: the list is empty; give at least one case"}));
  const auto missing = shown(parsed("test: other.yaml\ncases: [{ name: a, expect: { end: completed } }]\n").problems);
  ASSERT_EQ(missing.size(), 2u);
  EXPECT_EQ(missing[0], "1:7: test: the workflow file cannot be read; its path counts from the folder of this file");
  write("bad.yaml", "workflow: bad\nsteps:\n  a: { agent: x, cal: y }\n");
  const auto bad = parsed("test: bad.yaml\ncases: [{ name: a, expect: { end: completed } }]\n");
  ASSERT_FALSE(bad.problems.empty());
  EXPECT_EQ(bad.problems.front().file, folder_ + "/bad.yaml");
}

TEST_F(test_files, exist_for_every_workflow_that_comes_with_the_product) {
  const auto* source = std::getenv("FAIRLEAD_SOURCE");
  const std::filesystem::path folder{std::string{source == nullptr ? "." : source} + "/config/workflows"};
  std::size_t seen = 0;
  for (const auto& one : std::filesystem::directory_iterator{folder}) {
    if (one.path().extension() != ".yaml") continue;
    ++seen;
    const auto path = folder / "tests" / (one.path().stem().string() + ".test.yaml");
    const auto file = read_test_file(path.string());
    EXPECT_EQ(shown(file.problems), lines{}) << path;
    EXPECT_GE(file.cases.size(), 3u) << path;
  }
  EXPECT_GE(seen, 9u);
}

}  // namespace
}  // namespace fairlead::app
