// The keys of a workflow file that say what a task gives, and how often a step is performed for it.

#include <gtest/gtest.h>

#include "app/files/workflow_file.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

lines found_in(const std::string& text) { return shown(parse_workflow("order.yaml", text, nullptr).problems); }

// One step with these lines under it; they begin on line 3.
std::string with_step(const std::string& text) { return "workflow: w\nsteps: { a: { agent: x, call: y,\n" + text + "\n} }\n"; }

TEST(workflow_file, reads_the_output_of_a_task_as_any_value) {
  const auto output = [](const std::string& value) {
    const auto file = parse_workflow("w.yaml", with_step("") + "output: " + value + "\n", nullptr);
    EXPECT_EQ(shown(file.problems), lines{}) << value;
    return file.definition.output_json();
  };
  EXPECT_EQ(output(R"({ ticket: "${ .steps.a.id }", by: [ "${ .task.id }", 9007199254740993 ] })"),
            R"({"ticket":"${ .steps.a.id }","by":["${ .task.id }",9007199254740993]})");
  EXPECT_EQ(output("\"${ .steps.a }\""), R"("${ .steps.a }")");
  EXPECT_EQ(output("null"), "null");
  EXPECT_EQ(parse_workflow("w.yaml", with_step(""), nullptr).definition.output_json(), "") << "without the key there is none";
}

TEST(workflow_file, shows_what_is_wrong_with_the_output_at_its_key) {
  const auto problems = [](const std::string& value) { return found_in(with_step("") + "output: " + value + "\n"); };
  EXPECT_EQ(problems(R"("${ .steps.b }")"), lines{"5:9: output: an expression reads step \"b\", which is not in this workflow"});
  EXPECT_EQ(problems("007").size(), 1U) << "a number that JSON does not know";
  EXPECT_EQ(problems(R"("${ .steps.a")").size(), 1U) << "an expression that does not end";
}

TEST(workflow_file, reads_how_a_step_is_repeated) {
  auto file = parse_workflow("w.yaml", with_step("repeat: { until: \"${ .steps.a.done }\", every: 90s, max: 7 }"), nullptr);
  EXPECT_EQ(shown(file.problems), lines{});
  auto repeat = file.definition.steps(0).repeat();
  EXPECT_EQ(repeat.until_json(), R"("${ .steps.a.done }")");
  EXPECT_EQ(repeat.every_ms(), 90'000);
  EXPECT_EQ(repeat.most(), 7U);
  file = parse_workflow("w.yaml", with_step("repeat: { until: \"${ .steps.a.done }\" }"), nullptr);
  EXPECT_EQ(shown(file.problems), lines{});
  repeat = file.definition.steps(0).repeat();
  EXPECT_EQ(repeat.every_ms(), 0) << "at once";
  EXPECT_EQ(repeat.most(), 1'000U);
  EXPECT_FALSE(parse_workflow("w.yaml", with_step(""), nullptr).definition.steps(0).has_repeat());
}

TEST(workflow_file, shows_what_is_wrong_with_a_repetition_at_its_key) {
  const std::string until = R"(until: "${ .steps.a.done }")";
  EXPECT_EQ(found_in(with_step("repeat: { every: 1s }")),
            lines{"3:9: steps.a.repeat.until: this key is missing; expected an expression that gives true or false"});
  EXPECT_EQ(found_in(with_step("repeat: { until: done }")),
            lines{"3:18: steps.a.repeat.until: this is not one expression; write it as \"${ … }\", which gives true or false"});
  EXPECT_EQ(found_in(with_step("repeat: { until: \"${ .steps.b.done }\" }")),
            lines{"3:18: steps.a.repeat.until: an expression reads step \"b\", which is not in this workflow"});
  for (const auto* wrong : {"every: -1s", "every: often", "max: 0", "max: 10001", "times: 3"})
    EXPECT_EQ(found_in(with_step("repeat: { " + until + ", " + wrong + " }")).size(), 1U) << wrong;
  EXPECT_EQ(found_in(with_step("repeat: 3")).size(), 1U);
  EXPECT_EQ(found_in(with_step("pivot: true, repeat: { " + until + " }")),
            lines{"3:8: steps.a.pivot: each round would be a pivot of its own; put the pivot into a step that is not repeated"});
  EXPECT_EQ(found_in(with_step("undo: { call: z }, repeat: { " + until + " }")),
            lines{"3:7: steps.a.undo: what the rounds of a repeated step have done is not undone; set undo: none, and undo it in a step of "
                  "its own"});
  EXPECT_EQ(found_in("workflow: w\nsteps:\n  a: { wait: 1s, repeat: { " + until + " } }\n").size(), 1U)
      << "a step without an agent is not repeated";
}

TEST(workflow_file, reads_how_many_needs_must_be_completed) {
  const auto two = [](const std::string& join) {
    return "workflow: w\nsteps:\n  a: { agent: x, call: y, undo: none }\n  b: { agent: x, call: y, undo: none }\n" +
           std::string{"  c: { needs: [a, b], agent: x, call: y, undo: none"} + join + " }\n";
  };
  const auto join = [&](const std::string& text) {
    const auto file = parse_workflow("w.yaml", two(text), nullptr);
    EXPECT_EQ(shown(file.problems), lines{}) << text;
    return file.definition.steps(2).join();
  };
  EXPECT_EQ(join(""), 0U);
  EXPECT_EQ(join(", join: all"), 0U);
  EXPECT_EQ(join(", join: any"), 1U);
  EXPECT_EQ(join(", join: 1"), 1U);
  EXPECT_EQ(join(", join: 2"), 2U) << "of all needs, which must then be completed";
  EXPECT_EQ(found_in(two(", join: 3")),
            lines{"5:60: steps.c.join: 3 is not between 1 and 2, the number of steps that it needs; lower it, or set join: all"});
  for (const auto* wrong : {"some", "0", "-1", "[any]", "1.5", "true"})
    EXPECT_EQ(found_in(two(std::string{", join: "} + wrong)).size(), 1U) << wrong;
  EXPECT_EQ(found_in(with_step("join: any")),
            lines{"3:7: steps.a.join: the step needs no other step, so join has no effect; name the steps that it needs, or remove join"});
}

TEST(workflow_file, a_joined_step_that_no_agent_carries_out_may_say_what_follows_its_failure) {
  const auto text = [](const std::string& last) {
    return "workflow: w\nsteps:\n  a: { with: 1 }\n  b: { with: 2 }\n  c: { needs: [a, b], " + last + " }\n";
  };
  EXPECT_EQ(found_in(text("join: any, with: 3, on_failure: continue")), lines{});
  EXPECT_EQ(found_in(text("join: any, wait: 3s, on_failure: cool_off, cool_off: 1m")), lines{});
  EXPECT_EQ(found_in(text("with: 3, on_failure: continue")).size(), 1U) << "without a join it cannot fail";
}

TEST(workflow_file, reads_how_long_a_callback_may_take) {
  const auto file = parse_workflow("w.yaml", with_step("callback: { timeout: 7d }, repeat: { until: \"${ .steps.a }\" }"), nullptr);
  EXPECT_EQ(shown(file.problems), lines{});
  EXPECT_EQ(file.definition.steps(0).callback_ms(), std::int64_t{7} * 86'400'000);
  EXPECT_EQ(file.definition.steps(0).timeout_ms(), default_timeout_ms) << "of an attempt";
  EXPECT_EQ(parse_workflow("w.yaml", with_step(""), nullptr).definition.steps(0).callback_ms(), 0);
}

TEST(workflow_file, shows_what_is_wrong_with_a_callback_at_its_key) {
  EXPECT_EQ(found_in(with_step("callback: {}")),
            lines{"3:11: steps.a.callback.timeout: this key is missing; expected how long the callback may take, such as 7d"});
  EXPECT_EQ(found_in(with_step("callback: { timeout: 0s }")).size(), 1U);
  EXPECT_EQ(found_in(with_step("callback: { timeout: 3661d }")).size(), 1U);
  EXPECT_EQ(found_in(with_step("callback: { timeout: soon }")).size(), 1U);
  EXPECT_EQ(found_in(with_step("callback: { timeout: 1d, url: x }")).size(), 1U);
  EXPECT_EQ(found_in(with_step("callback: 7d")).size(), 1U);
  const auto without_agent = found_in("workflow: w\nsteps:\n  a: { wait: 1s, callback: { timeout: 1d } }\n");
  EXPECT_EQ(without_agent, lines{"3:18: steps.a.callback: a step that waits has no agent: `callback` has no effect here; remove callback"});
}

}  // namespace
}  // namespace fairlead::app
