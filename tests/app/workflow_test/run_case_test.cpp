// Cases that fail, with the words in which they do, and the command around them.

#include "app/workflow_test/run_case.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/parse.hpp"
#include "app/workflow_test/matching.hpp"
#include "tests/app/problems.hpp"
#include "tests/app/workflow_test/test_folder.hpp"

namespace fairlead::app {
namespace {

using rehearsed_cases = workflow_test_folder;

constexpr const char* answers = R"(    agents:
      inventory.reserve: { output: { id: 7 } }
      payment.charge: { output: {} }
)";

TEST_F(rehearsed_cases, pass_where_everything_is_as_expected) {
  const auto small = run_one(R"(  - name: small
    id: t-9
    input: { amount: 5 }
    agents: { inventory.reserve: { after: 2s, output: { id: 7, more: [1, { a: 1.0, b: 2 }] } }, charge: { output: null } }
    expect:
      end: completed
      performed: [reserve, charge]
      completed: [reserve, charge]
      undone: []
      skipped: [approval]
      alerts: []
      takes: { least: 2s, most: 2s }
      steps:
        reserve: { state: completed, attempts: 1, input: { order: t-9 }, output_has: { more: [1, { a: 1 }] } }
        charge: { output: null, undo_attempts: 0 }
)");
  EXPECT_EQ(failures(small), lines{});
  EXPECT_EQ(small.end, "completed");
  const auto waits = run_one("  - name: waits\n    input: { amount: 500 }\n" + std::string{answers} +
                             "    events: [{ at: 4m, signal: approve }]\n    expect: { end: completed, takes: { least: 4m, most: 4m } }\n");
  EXPECT_EQ(failures(waits), lines{});
}

TEST_F(rehearsed_cases, say_what_was_expected_and_what_has_happened) {
  const auto bad = run_one("  - name: bad\n    input: { amount: 5 }\n" + std::string{answers} + R"(    expect:
      end: undone
      reason: declined
      output: { a: 1 }
      performed: [charge, ...]
      completed: [reserve]
      undone: [reserve]
      skipped: []
      alerts: [task_parked]
      takes: { least: 1s }
      steps:
        charge: { state: failed, attempts: 2, fault: http_402, input: { amount: 6 }, output_has: { ok: true }, lookups: 1 }
        approval: { input: {} }
)");
  EXPECT_EQ(failures(bad), (lines{
                               "9:12 expect.end: expected undone, was completed",
                               "10:15 expect.reason: expected words with \"declined\", was no reason",
                               "11:15 expect.output: expected {\"a\":1}, was nothing",
                               "12:18 expect.performed: expected [charge, ...], was [reserve, charge]",
                               "13:18 expect.completed: expected [reserve], was [reserve, charge]",
                               "14:15 expect.undone: expected [reserve], was []",
                               "15:16 expect.skipped: expected [], was [approval]",
                               "16:15 expect.alerts: expected [task_parked], was []",
                               "17:23 expect.takes.least: expected at least 1s, was 0s",
                               "19:26 expect.steps.charge.state: expected failed, was completed",
                               "19:54 expect.steps.charge.fault: expected http_402, was no fault",
                               "19:44 expect.steps.charge.attempts: expected 2, was 1",
                               "19:121 expect.steps.charge.lookups: expected 1, was 0",
                               "19:71 expect.steps.charge.input: expected {\"amount\":6}, was {\"amount\":5}",
                               "19:98 expect.steps.charge.output_has: expected at least {\"ok\":true}, was {}",
                               "20:28 expect.steps.approval.input: expected {}, was nothing",
                           }));
  std::string story;
  for (const auto& [at_ms, what] : bad.story) story += std::to_string(at_ms) + " " + what + "\n";
  EXPECT_NE(story.find("0 step_started charge attempt 1: payment.charge {\"amount\":5}\n"), std::string::npos) << story;
}

TEST_F(rehearsed_cases, fail_where_nothing_says_what_an_attempt_is_answered) {
  EXPECT_EQ(
      failures(run_one("  - name: a\n    input: { amount: 5 }\n    agents: { charge: { output: 1 } }\n    expect: { end: completed }\n")),
      (lines{"3:5 step reserve calls inventory.reserve, and nothing says what that is answered; add an answer below agents, such as "
             "inventory.reserve: { output: {} }"}));
  EXPECT_EQ(
      failures(
          run_one("  - name: a\n    input: { amount: 5 }\n    agents: { reserve: { output: 1 }, charge: { fault: no, kind: permanent } "
                  "}\n    expect: { end: undone }\n")),
      (lines{
          "3:5 the undo of step reserve calls inventory.release, and nothing says what that is answered; add an answer below agents, such "
          "as undo of reserve: { output: {} }"}));
}

TEST_F(rehearsed_cases, fail_where_something_that_they_say_did_not_happen) {
  const auto idle = run_one(R"(  - name: idle
    input: { amount: 5 }
    agents:
      reserve: [{ output: 1 }, { output: 2 }]
      charge: { output: 1 }
      undo of reserve: { output: 1 }
    events:
      - { at: 5m, operator: pause }
      - { at: 0s, signal: approve, refused: true }
      - { at: 5s, operator: retry, step: charge }
    expect: { end: completed }
)");
  const std::string over = "it was refused: task task is completed already; fairlead task delete task deletes its record";
  EXPECT_EQ(failures(idle), (lines{
                                "10:9 events[0]: " + over,
                                "11:9 events[1]: it was expected to be refused, and was done",
                                "12:9 events[2]: " + over,
                                "6:16 agents.reserve: 1 of its 2 answers were asked for; remove what is not given",
                                "8:24 agents.undo of reserve: nothing asked for this answer; remove what is not given",
                            }));
  const auto stopped = run_one(
      "  - name: stopped\n    input: { amount: 500 }\n    agents: { reserve: { output: 1 } }\n    stop_at: 1m\n"
      "    events: [{ at: 2m, signal: approve }]\n    expect: { end: running }\n");
  EXPECT_EQ(failures(stopped),
            (lines{"7:14 events[0]: nothing happened any more at 2m: the task ended or stopped after 0s; give it an earlier time, "
                   "or remove it"}));
}

TEST_F(rehearsed_cases, end_for_a_task_that_never_does) {
  write("cool.yaml", "workflow: cool\non_failure: cool_off\ncool_off: 1s\nsteps:\n  a: { agent: x, call: y, attempts: 1 }\n");
  auto file = parsed(
      "test: cool.yaml\nagents: { a: { fault: no, kind: transient } }\ncases: [{ name: a, expect: { end: completed } }, { name: b, "
      "stop_at: "
      "1h, expect: { end: running, takes: { most: 1h } } }]\n");
  ASSERT_EQ(shown(file.problems), lines{});
  const auto ran = run_test_file(std::move(file), evaluate_here);
  ASSERT_EQ(ran.cases.size(), 2u);
  ASSERT_EQ(ran.cases[0].failures.size(), 1u);
  EXPECT_NE(ran.cases[0].failures[0].sentence.find("the task has not ended after 100000 decisions"), std::string::npos)
      << ran.cases[0].failures[0].sentence;
  EXPECT_EQ(failures(ran.cases[1]), lines{});
  // Nobody reads hundreds of thousands of lines.
  ASSERT_EQ(ran.cases[0].story.size(), 401u);
  EXPECT_EQ(ran.cases[0].story[200].second.rfind("… (", 0), 0u) << ran.cases[0].story[200].second;
}

TEST_F(rehearsed_cases, are_the_same_every_time) {
  const std::string of =
      "  - name: a\n    input: { amount: 5 }\n    agents: { reserve: [{ fault: x, kind: transient }, { output: 1 }], charge: { output: 1 } "
      "}\n    expect: { end: completed }\n";
  const auto once = run_one(of), again = run_one(of);
  EXPECT_EQ(once.story, again.story);
  EXPECT_GT(once.took_ms, 0);
}

// ---- comparisons ----

TEST(rehearsal_matching, lists_of_names_may_leave_others_open) {
  EXPECT_TRUE(names_match({}, {}));
  EXPECT_FALSE(names_match({}, {"a"}));
  EXPECT_TRUE(names_match({"..."}, {}));
  EXPECT_TRUE(names_match({"...", "b", "..."}, {"a", "b", "c"}));
  EXPECT_TRUE(names_match({"a", "...", "c"}, {"a", "c"}));
  EXPECT_FALSE(names_match({"a", "...", "c"}, {"a", "c", "d"}));
  EXPECT_FALSE(names_match({"b", "a"}, {"a", "b"}));
  EXPECT_TRUE(same_names({"b", "a"}, {"a", "b"}));
  EXPECT_FALSE(same_names({"b"}, {"a", "b"}));
}

TEST(rehearsal_matching, json_is_compared_by_value) {
  EXPECT_TRUE(json_is(R"({"a":1,"b":[2]})", R"({"b":[2.0],"a":1})"));
  EXPECT_FALSE(json_is(R"({"a":1})", R"({"a":1,"b":2})"));
  EXPECT_TRUE(json_has(R"({"a":1})", R"({"a":1,"b":2})"));
  EXPECT_FALSE(json_has(R"({"a":null})", R"({"b":2})"));
  EXPECT_TRUE(json_has(R"([{"a":1}])", R"([{"a":1,"b":2}])"));
  EXPECT_FALSE(json_has(R"([{"a":1}])", R"([{"a":1},{}])"));
}

// ---- the command ----

struct heard_output final : command_output {
  std::string said, complaints;
  bool say(const std::string& text) override { return said += text, true; }
  void complain(const std::string& text) override { complaints += text; }
};

struct workflow_test_command : workflow_test_folder {
  int run(std::vector<std::string> words) {
    CLI::App app;
    app.require_subcommand(1);
    cli_context context;
    add_workflow_test(*app.add_subcommand("workflow", ""), context);
    words.insert(words.begin(), {"workflow", "test"});
    output = {};
    const speak_to here{output};
    return run_words(app, context, words, "fairlead ", " --help");
  }
  std::string good() {
    write("plain.yaml", "workflow: plain\nsteps:\n  a: { agent: x, call: \"y\", with: { of: \"${ .task.id }\" } }\n");
    return write("good.test.yaml",
                 "test: plain.yaml\nagents: { a: { output: 1 } }\ncases:\n  - { name: fine, expect: { end: completed } }\n");
  }
  std::string bad() {
    good();
    return write("bad.test.yaml",
                 "test: plain.yaml\nagents: { a: { output: 1 } }\ncases:\n  - { name: fine, expect: { end: completed } }\n"
                 "  - { name: \"a <b>\", expect: { end: failed } }\n");
  }
  heard_output output;
};

TEST_F(workflow_test_command, says_what_passed) {
  const auto path = good();
  EXPECT_EQ(run({path}), exit_ok) << output.complaints;
  EXPECT_EQ(output.said, path + ": workflow plain, 1 case\n  ok      fine (completed after 0s)\n1 case passed\n");
  EXPECT_EQ(run({path, "--verbose"}), exit_ok);
  EXPECT_NE(output.said.find("0s         step_started a attempt 1: x.y {\"of\":\"task\"}\n"), std::string::npos) << output.said;
}

TEST_F(workflow_test_command, ends_with_1_where_a_case_fails_and_says_where) {
  const auto path = bad();
  const auto junit = folder_ + "/out.xml";
  EXPECT_EQ(run({good(), path, "--junit", junit}), exit_failed) << output.complaints;
  EXPECT_NE(output.said.find("  FAILED  a <b>\n    " + path + ":5:37: expect.end: expected failed, was completed\n    What happened:\n"),
            std::string::npos)
      << output.said;
  EXPECT_NE(output.said.find("2 cases passed, 1 failed\n"), std::string::npos);
  std::ostringstream xml;
  xml << std::ifstream{junit}.rdbuf();
  EXPECT_NE(xml.str().find("tests=\"2\" failures=\"1\" errors=\"0\""), std::string::npos) << xml.str();
  EXPECT_NE(xml.str().find("name=\"a &lt;b&gt;\""), std::string::npos);
  EXPECT_NE(xml.str().find("<failure message=\"expect.end: expected failed, was completed\">"), std::string::npos);
  EXPECT_EQ(run({good(), "--junit", folder_ + "/none/out.xml"}), exit_disk);
}

TEST_F(workflow_test_command, shows_the_same_as_json) {
  EXPECT_EQ(run({bad(), "--json"}), exit_failed);
  const auto read = nlohmann::json::parse(output.said);
  EXPECT_EQ(read["ok"], false);
  EXPECT_EQ(read["cases"], 2);
  EXPECT_EQ(read["failed"], 1);
  const auto& second = read["files"][0]["cases"][1];
  EXPECT_EQ(second["failures"][0]["line"], 5);
  EXPECT_EQ(second["failures"][0]["where"], "expect.end");
  EXPECT_EQ(second["end"], "completed");
  EXPECT_EQ(second["story"][0]["what"], "task_submitted");
}

TEST_F(workflow_test_command, ends_with_2_for_a_file_with_errors) {
  EXPECT_EQ(run({write("wrong.test.yaml", "test: order.yaml\ncase: []\n"), good()}), exit_usage);
  EXPECT_NE(output.complaints.find("There are 2 problems in"), std::string::npos) << output.complaints;
  EXPECT_NE(output.said.find("1 case passed"), std::string::npos) << "the other file was not run";
}

}  // namespace
}  // namespace fairlead::app
