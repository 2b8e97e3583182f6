#include "app/files/workflow_file.hpp"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

lines workflow_problems(const std::string& text, const core::agent_catalog* agents = nullptr) {
  return shown(parse_workflow("order.yaml", text, agents).problems);
}

const std::string order = R"(workflow: order
timeout: 2m
on_failure: undo
retention: 90d
steps:
  reserve:
    agent: inventory
    call: reserve
    with: { order: "${ .task.id }", items: "${ .input.items }", count: 9007199254740993 }
    timeout: 5s
    attempts: 4
    backoff: { first: 200ms, factor: 1.5, max: 10s }
    undo: { call: release, with: { order: "${ .task.id }" }, timeout: 7s, attempts: 9, backoff: { first: 1s } }
  ship:
    needs: [reserve]
    agent: shipping
    call: dispatch
    undo: none
    pivot: true
    in_doubt: park
    on_failure: cool_off
    cool_off: 10m
)";

// One step with these lines under it; they begin on line 3.
std::string step_with(const std::string& text) { return "workflow: w\nsteps: { a: { agent: x, call: y,\n" + text + "\n} }\n"; }

TEST(workflow_file, reads_every_key) {
  const auto file = parse_workflow("order.yaml", order, nullptr);
  EXPECT_EQ(shown(file.problems), lines{});
  EXPECT_EQ(file.source, order);
  const auto& definition = file.definition;
  EXPECT_EQ(definition.name(), "order");
  EXPECT_EQ(definition.timeout_ms(), 120'000);
  EXPECT_EQ(definition.on_failure(), v1::ON_FAILURE_UNDO);
  EXPECT_EQ(definition.keep_days(), 90U);
  ASSERT_EQ(definition.steps_size(), 2);
  const auto& reserve = definition.steps(0);
  EXPECT_EQ(reserve.name(), "reserve");
  EXPECT_EQ(reserve.agent(), "inventory");
  EXPECT_EQ(reserve.call(), "reserve");
  EXPECT_EQ(reserve.with_json(), R"({"order":"${ .task.id }","items":"${ .input.items }","count":9007199254740993})");
  EXPECT_EQ(reserve.timeout_ms(), 5'000);
  EXPECT_EQ(reserve.attempts(), 4U);
  EXPECT_EQ(reserve.backoff().first_ms(), 200);
  EXPECT_EQ(reserve.backoff().factor(), 1.5);
  EXPECT_EQ(reserve.backoff().max_ms(), 10'000);
  EXPECT_EQ(reserve.in_doubt(), v1::IN_DOUBT_RETRY);
  EXPECT_EQ(reserve.on_failure(), v1::ON_FAILURE_UNSPECIFIED);
  EXPECT_EQ(reserve.undo().call(), "release");
  EXPECT_EQ(reserve.undo().with_json(), R"({"order":"${ .task.id }"})");
  EXPECT_EQ(reserve.undo().timeout_ms(), 7'000);
  EXPECT_EQ(reserve.undo().attempts(), 9U);
  EXPECT_EQ(reserve.undo().backoff().first_ms(), 1'000);
  EXPECT_EQ(reserve.undo().backoff().max_ms(), 60'000);
  const auto& ship = definition.steps(1);
  EXPECT_EQ(ship.needs(0), "reserve");
  EXPECT_TRUE(ship.undo().none());
  EXPECT_TRUE(ship.pivot());
  EXPECT_EQ(ship.in_doubt(), v1::IN_DOUBT_PARK);
  EXPECT_EQ(ship.on_failure(), v1::ON_FAILURE_COOL_OFF);
  EXPECT_EQ(ship.cool_off_ms(), 600'000);
}

TEST(workflow_file, fills_in_the_defaults) {
  const auto file = parse_workflow("w.yaml", "workflow: w\nsteps:\n  a: { agent: x, call: y, undo: { call: z } }\n", nullptr);
  EXPECT_EQ(shown(file.problems), lines{});
  EXPECT_EQ(file.definition.on_failure(), v1::ON_FAILURE_PARK);
  EXPECT_EQ(file.definition.timeout_ms(), 0);
  const auto& step = file.definition.steps(0);
  EXPECT_EQ(step.with_json(), "");
  EXPECT_EQ(step.timeout_ms(), 30'000);
  EXPECT_EQ(step.attempts(), 0U);
  EXPECT_EQ(step.retry_for_ms(), 3'600'000);
  EXPECT_EQ(step.backoff().first_ms(), 1'000);
  EXPECT_EQ(step.backoff().factor(), 2);
  EXPECT_EQ(step.backoff().max_ms(), 60'000);
  EXPECT_EQ(step.in_doubt(), v1::IN_DOUBT_RETRY);
  EXPECT_FALSE(step.pivot());
  EXPECT_EQ(step.undo().timeout_ms(), 30'000);
  EXPECT_EQ(step.undo().attempts(), 0U);
  EXPECT_EQ(step.undo().retry_for_ms(), 3'600'000);
}

TEST(workflow_file, attempts_alone_leave_no_limit_of_time_and_both_are_kept) {
  const auto counted = parse_workflow("w.yaml", step_with("attempts: 5"), nullptr).definition.steps(0);
  EXPECT_EQ(counted.attempts(), 5U);
  EXPECT_EQ(counted.retry_for_ms(), 0);
  const auto both = parse_workflow("w.yaml", step_with("attempts: 5, retry_for: 10m"), nullptr).definition.steps(0);
  EXPECT_EQ(both.attempts(), 5U);
  EXPECT_EQ(both.retry_for_ms(), 600'000);
}

TEST(workflow_file, refuses_a_retry_for_that_is_no_duration) {
  for (const auto* value : {"soon", "0s", "-5m", "forever", "3", "11y"}) {
    const auto found = workflow_problems(step_with(std::string{"retry_for: "} + value));
    ASSERT_EQ(found.size(), 1U) << value;
    EXPECT_NE(found[0].find("steps.a.retry_for: "), std::string::npos) << found[0];
  }
}

TEST(workflow_file, a_first_backoff_beyond_the_default_maximum_raises_it) {
  const auto file = parse_workflow("w.yaml", step_with("backoff: { first: 5m }"), nullptr);
  EXPECT_EQ(shown(file.problems), lines{});
  EXPECT_EQ(file.definition.steps(0).backoff().max_ms(), 300'000);
}

TEST(workflow_file, keeps_finished_tasks_as_long_as_the_node_says_or_for_whole_days_of_its_own) {
  const auto with_retention = [](const std::string& text) {
    return parse_workflow("w.yaml", "workflow: w\nretention: " + text + "\nsteps: { a: { agent: x, call: y } }\n", nullptr);
  };
  EXPECT_EQ(parse_workflow("w.yaml", "workflow: w\nsteps: { a: { agent: x, call: y } }\n", nullptr).definition.keep_days(), 0U);
  EXPECT_EQ(with_retention("1d").definition.keep_days(), 1U);
  EXPECT_EQ(with_retention("48h").definition.keep_days(), 2U);
  EXPECT_EQ(with_retention("3660d").definition.keep_days(), 3'660U);
  EXPECT_EQ(shown(with_retention("36h").problems),
            lines{"2:12: retention: expected a number of whole days, such as 7d or 90d, found \"36h\""});
  for (const std::string wrong : {"12h", "9999d"})
    EXPECT_EQ(shown(with_retention(wrong).problems),
              lines{"2:12: retention: expected a duration from 1d to 3660d, found \"" + wrong + "\""});
  EXPECT_EQ(shown(with_retention("forever").problems),
            lines{"2:12: retention: expected a duration such as 250ms, 5s, 1m30s, 2h or 7d, found \"forever\""});
  EXPECT_EQ(shown(with_retention("90").problems),
            lines{"2:12: retention: expected a duration such as 250ms, 5s, 1m30s, 2h or 7d, found the number 90"});
}

TEST(workflow_file, says_what_is_missing) {
  EXPECT_EQ(workflow_problems("timeout: 1m\n"), (lines{"1:1: workflow: this key is missing; expected the name of the workflow",
                                                       "1:1: steps: this key is missing; expected a map of steps by name"}));
  EXPECT_EQ(workflow_problems("workflow: w\nsteps: {}\n"), lines{"2:8: steps: a workflow needs at least one step"});
  EXPECT_EQ(workflow_problems("workflow: w\nsteps:\n"), lines{"2:1: steps: expected a map, found nothing"});
  EXPECT_EQ(workflow_problems("workflow: w\nsteps:\n  - a\n"), lines{"2:1: steps: expected a map, found a list"});
  EXPECT_EQ(workflow_problems("workflow: w\nsteps:\n  a:\n    call: y\n  b:\n    agent: x\n"),
            (lines{"3:3: steps.a.agent: the step has no agent", "5:3: steps.b.call: the call of the agent is missing"}));
  EXPECT_EQ(
      workflow_problems("workflow: w\nsteps:\n  a:\n    timeout: 5s\n"),
      lines{"4:5: steps.a.timeout: a step that computes a value has no agent: `timeout` has no effect here; remove timeout, or give the "
            "step an agent and a call"});
  EXPECT_EQ(workflow_problems("workflow: w\nsteps:\n  a:\n"), lines{"3:3: steps.a: expected a map, found nothing"});
  EXPECT_EQ(workflow_problems("[workflow]\n"), lines{"1:1: expected a map, found a list"});
}

TEST(workflow_file, reads_on_after_a_problem_and_shows_all_in_order) {
  const auto* text = R"(workflow: Order
timeout: soon
on_failure: explode
steps:
  reserve:
    agent: inventory
    call: reserve
    attempts: 0
    backoff: { first: 2s, factor: 0, max: 1s, mix: 1 }
    tiemout: 5s
    timeout: 5s
  charge:
    needs: [resrve, charge]
    agent: [payment]
    call: charge
    pivot: maybe
    in_doubt: ignore
    undo: maybe
  charge:
    agent: x
  ship:
    needs: { charge: 1 }
    agent: shipping
    call: dispatch
    with: { a: 0x10, b: "${ .steps.reserve }" }
    undo: { cal: recall }
)";
  EXPECT_EQ(workflow_problems(text),
            (lines{
                "1:11: workflow: \"Order\" is not a valid workflow name; a lower-case letter, then lower-case letters, "
                "digits, _ and -; at most 64 in all",
                "2:10: timeout: expected a duration such as 250ms, 5s, 1m30s, 2h or 7d, found \"soon\"",
                "3:13: on_failure: expected undo, park, cool_off, fail or continue, found \"explode\"",
                "8:15: steps.reserve.attempts: expected a whole number from 1 to 1000, found the number 0",
                "9:23: steps.reserve.backoff.first: 2s is longer than max, 1s",
                "9:35: steps.reserve.backoff.factor: expected a number from 1 to 100, found the number 0",
                "9:47: steps.reserve.backoff.mix: this key is not known here; did you mean max?",
                "10:5: steps.reserve.tiemout: this key is not known here; did you mean timeout?",
                "13:12: steps.charge.needs: \"resrve\" is not a step of this workflow; did you mean reserve?",
                "13:12: steps.charge.needs: a step cannot need itself",
                "14:12: steps.charge.agent: expected text, found a list",
                "16:12: steps.charge.pivot: expected true or false, found \"maybe\"",
                "17:15: steps.charge.in_doubt: expected retry, park or fail, found \"ignore\"",
                "18:11: steps.charge.undo: expected none or a map with call, found \"maybe\"",
                "19:3: steps.charge: this key is defined twice, first on line 12; remove one of them",
                "22:12: steps.ship.needs: expected the name of a step, or a list of names, found a map",
                "25:16: steps.ship.with.a: 0x10 is a number that JSON cannot represent; put it in quotes if it is a "
                "text, or write it with decimal digits",
                "26:11: steps.ship.undo.call: the call of the agent is missing",
                "26:13: steps.ship.undo.cal: this key is not known here; did you mean call?",
            }));
}

TEST(workflow_file, takes_a_single_name_as_a_list_of_one) {
  const auto file = parse_workflow("w.yaml", R"(workflow: w
steps:
  a: { agent: x, call: y }
  b: { needs: a, agent: x, call: y }
  c: { needs: [5, b], agent: x, call: y }
  d: { needs: 5, agent: x, call: y }
)",
                                   nullptr);
  ASSERT_EQ(file.definition.steps_size(), 4);
  ASSERT_EQ(file.definition.steps(1).needs_size(), 1);
  EXPECT_EQ(file.definition.steps(1).needs(0), "a");
  EXPECT_EQ(shown(file.problems),
            (lines{"5:16: steps.c.needs[0]: expected text, found the number 5", "6:15: steps.d.needs: expected text, found the number 5"}));
  EXPECT_EQ(workflow_problems("workflow: w\nsteps:\n  a: { agent: x, call: y }\n  b: { needs: aa, agent: x, call: y }\n"),
            lines{"4:15: steps.b.needs: \"aa\" is not a step of this workflow; did you mean a?"});
}

TEST(workflow_file, needs_that_cannot_be_read_hide_only_what_rests_on_them) {
  const auto problems = workflow_problems(R"(workflow: w
steps:
  a: { agent: x, call: y, with: "trip ${ .task.id }" }
  b: { needs: { a: 1 }, agent: x, call: y, with: { a: "${ .steps.a }" } }
  c: { needs: [b], agent: x, call: y, with: { a: "${ .steps.a }" } }
  d: { agent: x, call: y, with: { a: "${ .steps.a }" } }
)");
  ASSERT_EQ(problems.size(), 3U) << "what b and c may read is not known";
  EXPECT_EQ(problems[0].rfind("3:33: steps.a.with: ", 0), 0U) << problems[0];
  EXPECT_EQ(problems[1].rfind("4:15: steps.b.needs: ", 0), 0U) << problems[1];
  EXPECT_EQ(problems[2].rfind("6:33: steps.d.with: ", 0), 0U) << problems[2];
}

TEST(workflow_file, shows_what_core_finds_at_its_line) {
  const auto* text = R"(workflow: w
on_failure: undo
steps:
  a:
    needs: [c]
    agent: x
    call: y
    undo: none
  b:
    needs:
      - a
    agent: x
    call: y
    with:
      deep:
        - "${ .steps.d }"
  c:
    needs: [b]
    agent: x
    call: "${ no }"
    undo: none
    cool_off: 5m
)";
  EXPECT_EQ(workflow_problems(text),
            (lines{"5:12: steps.a.needs: these steps wait for each other: a -> c -> b -> a; remove one of these needs",
                   "9:3: steps.b.undo: the workflow has on_failure: undo, so each step needs an undo; add undo: { call: … }, or undo: none",
                   "14:5: steps.b.with: an expression reads step \"d\", which is not in this workflow",
                   "20:11: steps.c.call: \"${ no }\" is not a valid call name",
                   "22:15: steps.c.cool_off: on_failure of the step is not cool_off, so cool_off has no effect"}));
}

TEST(workflow_file, shows_a_bad_expression_at_its_with) {
  const auto problems =
      parse_workflow("w.yaml", step_with("with: { a: \"${ .inputt.x }\" }, undo: { call: z,\nwith: \"${ env }\" }"), nullptr).problems;
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].where, "steps.a.with");
  EXPECT_EQ(problems[0].line, 3);
  EXPECT_NE(problems[0].sentence.find("inputt"), std::string::npos);
  EXPECT_EQ(problems[1].where, "steps.a.undo.with");
  EXPECT_EQ(problems[1].line, 4);
  EXPECT_NE(problems[1].sentence.find("env"), std::string::npos);
}

TEST(workflow_file, reads_the_heartbeat_and_the_labels_of_a_step) {
  const auto file = parse_workflow("w.yaml", step_with("timeout: 10m, heartbeat: 10s, labels: { zone: eu, gpu: true }"), nullptr);
  EXPECT_EQ(shown(file.problems), lines{});
  const auto& step = file.definition.steps(0);
  EXPECT_EQ(step.heartbeat_ms(), 10'000);
  ASSERT_EQ(step.labels_size(), 2);
  EXPECT_EQ(step.labels(0).key() + "=" + step.labels(0).value(), "zone=eu");
  EXPECT_EQ(step.labels(1).key() + "=" + step.labels(1).value(), "gpu=true");
}

TEST(workflow_file, shows_a_heartbeat_that_cannot_work_at_its_key) {
  EXPECT_EQ(
      workflow_problems(step_with("timeout: 10s,\nheartbeat: 10s")),
      lines{"4:12: steps.a.heartbeat: 10s is not shorter than the step's timeout, 10s, so it would have no effect; shorten heartbeat, or "
            "raise timeout"});
  EXPECT_EQ(
      workflow_problems(step_with("heartbeat: 1m")),
      lines{"3:12: steps.a.heartbeat: 1m is not shorter than the step's timeout, 30s, so it would have no effect; shorten heartbeat, or "
            "raise timeout"});
  EXPECT_EQ(workflow_problems(step_with("heartbeat: 99ms")), lines{"3:12: steps.a.heartbeat: 99ms is not between 100ms and 3660d"});
  EXPECT_EQ(workflow_problems(step_with("heartbeat: often")),
            lines{"3:12: steps.a.heartbeat: expected a duration such as 250ms, 5s, 1m30s, 2h or 7d, found \"often\""});
}

TEST(workflow_file, shows_labels_that_no_agent_could_carry_at_their_keys) {
  EXPECT_EQ(workflow_problems(step_with("labels: eu")), lines{"3:9: steps.a.labels: expected a map, found \"eu\""});
  EXPECT_EQ(workflow_problems(step_with("labels: {\nzone: [eu] }")),
            lines{"4:7: steps.a.labels.zone: expected a single value, found a list"});
  EXPECT_EQ(workflow_problems(step_with("labels: {\n\"a=b\": c }")),
            lines{"4:8: steps.a.labels.a=b: expected a label: a key of at most 128 bytes without =, and a value of at most 256 bytes, both "
                  "plain text"});
}

TEST(workflow_file, reads_the_condition_of_a_step) {
  const auto file = parse_workflow("w.yaml", step_with(R"(when: "${ .input.n > 3 }")"), nullptr);
  EXPECT_EQ(shown(file.problems), lines{});
  EXPECT_EQ(file.definition.steps(0).when_json(), R"("${ .input.n > 3 }")");
}

TEST(workflow_file, shows_a_condition_that_is_no_expression_at_its_key) {
  const lines refused{"3:7: steps.a.when: this is not one expression; write it as \"${ … }\", which gives true or false"};
  for (const auto* value : {"true", "false", "yes", "\"\"", "[\"${ .input.a }\"]", "{ if: \"${ .input.a }\" }", "5"})
    EXPECT_EQ(workflow_problems(step_with(std::string{"when: "} + value)), refused) << value;
  EXPECT_EQ(workflow_problems(step_with("when: \"${ .steps.b.n > 3 }\"")),
            lines{"3:7: steps.a.when: an expression reads step \"b\", which is not in this workflow"});
  EXPECT_EQ(workflow_problems(step_with("when: \"${ .steps.a.n > 3 }\"")),
            lines{"3:7: steps.a.when: an expression reads the output of its own step, which does not exist yet"});
}

// One step with these lines alone; they begin on line 4.
std::string step_of(const std::string& text) { return "workflow: w\nsteps:\n  a:\n" + text; }

TEST(workflow_file, reads_steps_without_an_agent_as_they_are_stored) {
  const std::string nothing_to_undo = "undo { none: true } ";
  const std::vector<std::pair<std::string, std::string>> table{
      {"    {}\n", R"(with_json: "null" )" + nothing_to_undo + "kind: STEP_KIND_VALUE"},
      {"    when: ${ .input.a }\n    with: { sum: \"${ .input.b + 1 }\", n: 1 }\n    undo: none\n",
       R"(with_json: "{\"sum\":\"${ .input.b + 1 }\",\"n\":1}" )" + nothing_to_undo +
           R"(when_json: "\"${ .input.a }\"" kind: STEP_KIND_VALUE)"},
      {"    wait: 90s\n", R"(with_json: "\"1m30s\"" )" + nothing_to_undo + "kind: STEP_KIND_WAIT"},
      {"    wait: \"3660d\"\n    undo: none\n", R"(with_json: "\"3660d\"" )" + nothing_to_undo + "kind: STEP_KIND_WAIT"},
      {"    wait: 2026-12-24T18:00:00Z\n", R"(with_json: "\"2026-12-24T18:00:00.000Z\"" )" + nothing_to_undo + "kind: STEP_KIND_WAIT"},
      {"    wait: 2026-12-24T19:00:00.5+01:00\n",
       R"(with_json: "\"2026-12-24T18:00:00.500Z\"" )" + nothing_to_undo + "kind: STEP_KIND_WAIT"},
      {"    wait: \"${ .input.pause // \\\"10m\\\" }\"\n",
       R"(with_json: "\"${ .input.pause // \\\"10m\\\" }\"" )" + nothing_to_undo + "kind: STEP_KIND_WAIT"},
      {"    signal: approved\n    timeout: 7d\n",
       R"(with_json: "null" timeout_ms: 604800000 )" + nothing_to_undo + R"(kind: STEP_KIND_SIGNAL signal: "approved")"},
      {"    signal: approved\n    timeout: 1ms\n    on_timeout: continue\n",
       R"(with_json: "null" timeout_ms: 1 )" + nothing_to_undo + R"(kind: STEP_KIND_SIGNAL signal: "approved" goes_on_untimely: true)"},
      {"    signal: approved\n    timeout: 1h\n    on_timeout: fail\n    on_failure: cool_off\n    cool_off: 10m\n",
       R"(with_json: "null" timeout_ms: 3600000 )" + nothing_to_undo +
           R"(on_failure: ON_FAILURE_COOL_OFF cool_off_ms: 600000 kind: STEP_KIND_SIGNAL signal: "approved")"},
  };
  for (const auto& [text, stored] : table) {
    const auto file = parse_workflow("w.yaml", step_of(text), nullptr);
    EXPECT_EQ(shown(file.problems), lines{}) << text;
    v1::StepDefinition expected;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString("name: \"a\" " + stored, &expected)) << stored;
    ASSERT_EQ(file.definition.steps_size(), 1) << text;
    EXPECT_EQ(file.definition.steps(0).DebugString(), expected.DebugString()) << text;
  }
}

TEST(workflow_file, refuses_each_key_of_an_agent_where_there_is_none) {
  const std::vector<std::pair<std::string, std::string>> kinds{{"wait: 10m", "a step that waits"},
                                                               {"signal: s\n    timeout: 1h", "a step that waits for a signal"},
                                                               {"with: 1", "a step that computes a value"}};
  const std::vector<std::pair<std::string, std::string>> keys{
      {"retry_for: 1h", "agent"},   {"attempts: 3", "agent"},     {"backoff: { first: 1s }", "agent"},
      {"in_doubt: retry", "agent"}, {"heartbeat: 10s", "agent"},  {"labels: { zone: eu }", "agent"},
      {"pivot: false", ""},         {"input_type: a.B", "input"}, {"output_type: a.B", ""},
      {"undo: { call: z }", ""},
  };
  for (const auto& [kind, words] : kinds) {
    for (const auto& [line, lacks] : keys) {
      const auto found = workflow_problems(step_of("    " + kind + "\n    " + line + "\n"));
      ASSERT_EQ(found.size(), 1U) << kind << ", " << line;
      const auto key = line.substr(0, line.find(':'));
      const auto at = std::to_string(kind.find('\n') == std::string::npos ? 5 : 6) + ":5: steps.a." + key + ": ";
      EXPECT_EQ(found[0].substr(0, at.size() + words.size()), at + words) << kind;
      if (!lacks.empty()) {
        EXPECT_NE(found[0].find(" has no " + lacks + ": `" + key + "` has no effect here"), std::string::npos) << found[0];
      }
    }
  }
}

TEST(workflow_file, shows_what_is_wrong_with_a_step_without_an_agent_at_its_line) {
  const std::string neither =
      "4:11: steps.a.wait: expected a duration such as 10m of at most 3660d, a time such as 2026-12-24T18:00:00Z, or an expression, found ";
  const std::vector<std::pair<std::string, lines>> table{
      {"    wait: soon\n", {neither + "\"soon\""}},
      {"    wait: 10\n", {neither + "the number 10"}},
      {"    wait: 3661d\n", {neither + "\"3661d\""}},
      {"    wait: [10m]\n", {neither + "a list"}},
      {"    wait: 2026-12-24\n", {neither + "\"2026-12-24\""}},
      {"    wait: 2026-12-24T18:00:00\n", {neither + "\"2026-12-24T18:00:00\""}},
      {"    wait: 0s\n", {"4:11: steps.a.wait: expected a duration from 1ms to 3660d, found \"0s\""}},
      {"    wait: \"${ .steps.b }\"\n", {"4:11: steps.a.wait: an expression reads step \"b\", which is not in this workflow"}},
      {"    wait: 10m\n    agent: x\n    call: y\n",
       {"5:5: steps.a.agent: `wait` and `agent` exclude one another; make two steps of it",
        "6:5: steps.a.call: `wait` and `call` exclude one another; make two steps of it"}},
      {"    wait: 10m\n    signal: s\n    timeout: 1h\n",
       {"5:5: steps.a.signal: `wait` and `signal` exclude one another; remove wait; timeout says how long the step waits for its signal",
        "6:5: steps.a.timeout: a step that waits has no agent: `timeout` has no effect here; remove timeout"}},
      {"    wait: 10m\n    with: 1\n", {"5:5: steps.a.with: a step that waits has no input: `with` has no effect here; remove with"}},
      {"    wait: 10m\n    on_failure: undo\n",
       {"5:5: steps.a.on_failure: a step that waits cannot fail: `on_failure` has no effect here; remove on_failure"}},
      {"    wait: 10m\n    on_timeout: continue\n",
       {"5:5: steps.a.on_timeout: only a step that waits for a signal has `on_timeout`; remove on_timeout"}},
      {"    wait: 10m\n    undo: { call: z }\n",
       {"5:5: steps.a.undo: a step that waits has nothing to undo; remove undo, or set undo: none"}},
      {"    wait: 10m\n    needs: [b]\n", {"5:12: steps.a.needs: \"b\" is not a step of this workflow"}},
      {"    wait: 10m\n    tiemout: 1h\n",
       {"5:5: steps.a.tiemout: this key is not known here; known keys: needs, join, when, finally, agent, call, wait, "
        "signal, workflow or undo"}},
      {"    signal: approved\n", {"3:3: steps.a.timeout: a step that waits for a signal needs a timeout; add timeout: 7d"}},
      {"    signal: approved\n    timeout: 0s\n", {"5:14: steps.a.timeout: expected a duration from 1ms to 3660d, found \"0s\""}},
      {"    signal: Approved\n    timeout: 1h\n",
       {"4:13: steps.a.signal: \"Approved\" is not a valid name of a signal; a lower-case letter, then lower-case letters, digits, _ and "
        "-; at "
        "most 64 in all"}},
      {"    signal: 5\n    timeout: 1h\n", {"4:13: steps.a.signal: expected text, found the number 5"}},
      {"    signal: s\n    timeout: 1h\n    on_timeout: undo\n", {"6:17: steps.a.on_timeout: expected fail or continue, found \"undo\""}},
      {"    signal: s\n    timeout: 1h\n    on_timeout: continue\n    on_failure: park\n",
       {"7:17: steps.a.on_failure: with on_timeout: continue the step cannot fail: `on_failure` has no effect here; remove on_failure, or "
        "set "
        "on_timeout: fail"}},
      {"    signal: s\n    timeout: 1h\n    agent: x\n",
       {"6:5: steps.a.agent: `signal` and `agent` exclude one another; make two steps of it"}},
      {"    agent: x\n    call: y\n    on_timeout: continue\n",
       {"6:5: steps.a.on_timeout: only a step that waits for a signal has `on_timeout`; remove on_timeout; on_failure says what follows a "
        "step "
        "that has failed"}},
      {"    with: \"${ .steps.a }\"\n", {"4:11: steps.a.with: an expression reads the output of its own step, which does not exist yet"}},
  };
  for (const auto& [text, found] : table) EXPECT_EQ(workflow_problems(step_of(text)), found) << text;
}

TEST(workflow_file, a_workflow_that_undoes_asks_no_undo_of_a_step_without_an_agent) {
  EXPECT_EQ(workflow_problems("workflow: w\non_failure: undo\nsteps:\n  a: { with: 1 }\n  b: { wait: 1h }\n"
                              "  c: { signal: s, timeout: 1h }\n"),
            lines{});
}

TEST(workflow_file, reads_what_goes_on_without_a_step_and_how_the_task_ends_then) {
  const auto file = parse_workflow("w.yaml", step_with("on_failure: continue") + "end: failed\n", nullptr);
  EXPECT_EQ(shown(file.problems), lines{});
  EXPECT_EQ(file.definition.steps(0).on_failure(), v1::ON_FAILURE_CONTINUE);
  EXPECT_TRUE(file.definition.ends_failed());
  EXPECT_EQ(workflow_problems(step_with("") + "end: failed\n"),
            lines{"5:6: end: no on_failure here is continue, so end: failed has no effect"});
  EXPECT_EQ(workflow_problems(step_with("") + "end: undone\n"), lines{"5:6: end: expected completed or failed, found \"undone\""});
}

TEST(workflow_file, refuses_later_words_by_name) {
  EXPECT_EQ(workflow_problems(step_with("lock: x")), lines{"3:1: steps.a.lock: this key is not supported yet"});
  for (const auto* key : {"labels", "lock", "retry"})
    EXPECT_EQ(workflow_problems(step_with("") + key + ": x\n"), lines{"5:1: " + std::string{key} + ": this key is not supported yet"});
  EXPECT_EQ(workflow_problems(step_with("undo: { call: z,\n retry: true }")),
            lines{"4:2: steps.a.undo.retry: this key is not supported yet"});
}

TEST(workflow_file, checks_agents_and_calls_when_they_are_known) {
  const core::agent_catalog agents{{"inventory", std::set<std::string>{"reserve"}}, {"shipping", std::set<std::string>{"dispatch"}}};
  EXPECT_EQ(workflow_problems(order, &agents), lines{"13:19: steps.reserve.undo.call: agent inventory has no call \"release\""});
}

TEST(workflow_file, says_when_the_file_is_missing) {
  const auto file = read_workflow("no/such/order.yaml", nullptr);
  EXPECT_EQ(shown(file.problems), lines{"there is no such file"});
}

TEST(workflow_file, shows_the_whole_problem_for_a_person) {
  const auto file = parse_workflow("flows/w.yaml", "workflow: w\nsteps: 5\n", nullptr);
  ASSERT_EQ(file.problems.size(), 1U);
  EXPECT_EQ(to_text(file.problems[0]), "flows/w.yaml:2:8: steps: expected a map, found the number 5");
}

}  // namespace
}  // namespace fairlead::app
