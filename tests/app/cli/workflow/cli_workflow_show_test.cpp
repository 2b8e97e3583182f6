#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "app/cli/workflow/workflow_show.hpp"
#include "app/files/workflow_file.hpp"

namespace fairlead::app {
namespace {

TEST(workflow_show, says_in_the_place_of_a_call_what_a_step_without_an_agent_does) {
  const auto file = parse_workflow("w.yaml", R"(workflow: w
steps:
  charge: { agent: payment, call: charge }
  sum: { with: 1 }
  soon: { wait: 90s }
  later: { wait: "${ .input.at }" }
  approval: { signal: approve, timeout: 1h, on_failure: fail }
  cancelled: { signal: cancel, timeout: 1d, on_timeout: continue }
  ship: { workflow: shipment, timeout: 2h }
  tell: { workflow: letter, undo: none }
)",
                                   nullptr);
  ASSERT_TRUE(file.problems.empty()) << to_text(file.problems.front());
  v1::WorkflowShowReply reply;
  *reply.mutable_workflow()->mutable_definition() = file.definition;
  const auto text = workflow_show_text(reply);
  // The words of each row, without the blanks between the columns.
  std::vector<std::string> rows;
  std::istringstream lines{text.substr(text.find("\n\n") + 2)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string row;
    for (std::string word; words >> word;) row += (row.empty() ? "" : " ") + word;
    rows.push_back(row);
  }
  EXPECT_EQ(rows, (std::vector<std::string>{
                      "STEP NEEDS AGENT CALL TIMEOUT HEARTBEAT LABELS RETRIED BACKOFF ON FAILURE IN DOUBT UNDO UNDO RETRIED PIVOT",
                      "charge payment charge 30s 1h 1s x2 to 1m", "sum value", "soon wait 1m30s", "later wait ${ .input.at }",
                      "approval signal approve 1h fail", "cancelled signal cancel 1d on_timeout continue",
                      "ship workflow shipment 2h its task", "tell workflow letter none"}));
}

TEST(workflow_show, says_which_steps_are_undone_although_they_have_failed) {
  const auto file = parse_workflow("w.yaml", R"(workflow: w
steps:
  a: { agent: x, call: y, undo: { call: z, also_if_failed: true } }
  b: { agent: x, call: y, undo: { call: z } }
)",
                                   nullptr);
  ASSERT_TRUE(file.problems.empty()) << to_text(file.problems.front());
  v1::WorkflowShowReply reply;
  *reply.mutable_workflow()->mutable_definition() = file.definition;
  const auto text = workflow_show_text(reply);
  EXPECT_NE(text.find("  z, also if failed  "), std::string::npos) << text;
  EXPECT_NE(text.find("  z                  "), std::string::npos) << text;
}

TEST(workflow_show, has_a_line_for_input_and_output_and_for_each_step_that_is_repeated) {
  const auto file = parse_workflow("w.yaml", R"(workflow: w
input: { type: object }
output: { n: "${ .steps.poll.n }" }
steps:
  poll: { agent: bank, call: look, repeat: { until: "${ .steps.poll.done }", every: 10m, max: 400 } }
  once: { agent: bank, call: look, repeat: { until: "${ .steps.once.done }", max: 1 } }
)",
                                   nullptr);
  ASSERT_TRUE(file.problems.empty()) << to_text(file.problems.front());
  v1::WorkflowShowReply reply;
  *reply.mutable_workflow()->mutable_definition() = file.definition;
  const auto text = workflow_show_text(reply);
  EXPECT_NE(text.find("\ninput     {\"type\":\"object\"}\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\noutput    {\"n\":\"${ .steps.poll.n }\"}\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nrepeat    poll: until ${ .steps.poll.done }, every 10m, at most 400 rounds\n"
                      "repeat    once: until ${ .steps.once.done }, at most 1 round\n"),
            std::string::npos)
      << text;
}

TEST(workflow_show, has_a_line_for_each_list_that_is_carried_out) {
  const auto file = parse_workflow("w.yaml", R"(workflow: w
steps:
  letters: { for_each: "${ .input.all }", agent: mail, call: send }
  ship: { for_each: { items: [a, b], at_once: 1, failures: collect }, workflow: shipment }
)",
                                   nullptr);
  ASSERT_TRUE(file.problems.empty()) << to_text(file.problems.front());
  v1::WorkflowShowReply reply;
  *reply.mutable_workflow()->mutable_definition() = file.definition;
  const auto text = workflow_show_text(reply);
  EXPECT_NE(text.find("\nfor each  letters: ${ .input.all }, 10 at once\n"
                      "for each  ship: [\"a\",\"b\"], 1 at once, failures collect\n"),
            std::string::npos)
      << text;
}

TEST(workflow_show, has_a_line_for_each_step_that_awaits_a_callback) {
  const auto file = parse_workflow("w.yaml", R"(workflow: w
steps:
  order: { agent: bank, call: order }
  sign: { agent: sign, call: request, callback: { timeout: 36h } }
)",
                                   nullptr);
  ASSERT_TRUE(file.problems.empty()) << to_text(file.problems.front());
  v1::WorkflowShowReply reply;
  *reply.mutable_workflow()->mutable_definition() = file.definition;
  const auto text = workflow_show_text(reply);
  EXPECT_NE(text.find("\ncallback  sign: at most 1d12h after it was accepted\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("callback  order"), std::string::npos);
}

TEST(workflow_show, has_a_line_for_each_rule_of_a_step) {
  const auto file = parse_workflow("w.yaml", R"(workflow: w
steps:
  charge:
    agent: payment
    call: charge
    retry:
      - { on: rate_limited, attempts: 20, backoff: { first: 5s, factor: 1, max: 5s } }
      - { on: [http_502, "http_5*"], attempts: 3, retry_for: 10m }
      - { on: down }
)",
                                   nullptr);
  ASSERT_TRUE(file.problems.empty()) << to_text(file.problems.front());
  v1::WorkflowShowReply reply;
  *reply.mutable_workflow()->mutable_definition() = file.definition;
  const auto text = workflow_show_text(reply);
  EXPECT_NE(text.find("\nretry     charge on rate_limited: 20, backoff 5s x1 to 5s\nretry     charge on http_502, http_5*: 3 in 10m\n"
                      "retry     charge on down: 1h\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace fairlead::app
