#include "app/json/node/workflows.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/files/workflow_file.hpp"

namespace fairlead::app {
namespace {

nlohmann::json steps_shown(const std::string& steps) {
  const auto file = parse_workflow("w.yaml", "workflow: w\nsteps:\n" + steps, nullptr);
  for (const auto& one : file.problems) ADD_FAILURE() << to_text(one);
  v1::WorkflowShowReply reply;
  *reply.mutable_workflow()->mutable_definition() = file.definition;
  return nlohmann::json::parse(workflow_show_json(reply))["steps"];
}

TEST(workflow_json, shows_the_workflow_of_a_step_and_how_it_is_undone) {
  const auto steps = steps_shown("  ship: { workflow: shipment, timeout: 2h }\n  tell: { workflow: letter, undo: none }\n  sum: {}\n");
  EXPECT_EQ(steps[0]["kind"], "workflow");
  EXPECT_EQ(steps[0]["workflow"], "shipment");
  EXPECT_EQ(steps[0]["with"], nullptr);
  EXPECT_EQ(steps[0]["timeout_ms"], 7'200'000);
  EXPECT_EQ(steps[0]["backoff"], nullptr);
  EXPECT_EQ(steps[0]["undo"], nullptr);
  EXPECT_EQ(steps[1]["undo"], nlohmann::json({{"none", true}}));
  EXPECT_EQ(steps[2]["workflow"], nullptr);
}

TEST(workflow_json, shows_the_kind_of_each_step_and_only_what_it_has) {
  const auto steps = steps_shown(R"(  charge: { agent: payment, call: charge, with: { a: 1 } }
  sum: { needs: charge, with: "${ .steps.charge.a + 1 }" }
  soon: { wait: 90s }
  later: { needs: charge, wait: "${ .steps.charge.at }" }
  approval: { signal: approve, timeout: 1h, on_failure: fail }
  cancelled: { signal: cancel, timeout: 1d, on_timeout: continue }
)");
  ASSERT_EQ(steps.size(), 6U);
  const auto all = [&](const char* key) {
    auto out = nlohmann::json::array();
    for (const auto& step : steps) out.push_back(step.at(key));
    return out;
  };
  const auto null = nlohmann::json{};
  EXPECT_EQ(all("kind"), nlohmann::json({"call", "value", "wait", "wait", "signal", "signal"}));
  EXPECT_EQ(all("agent"), nlohmann::json({"payment", null, null, null, null, null}));
  EXPECT_EQ(all("call"), nlohmann::json({"charge", null, null, null, null, null}));
  EXPECT_EQ(all("with"), nlohmann::json({{{"a", 1}}, "${ .steps.charge.a + 1 }", null, null, null, null}));
  EXPECT_EQ(all("wait"), nlohmann::json({null, null, "1m30s", "${ .steps.charge.at }", null, null}));
  EXPECT_EQ(all("signal"), nlohmann::json({null, null, null, null, "approve", "cancel"}));
  EXPECT_EQ(all("on_timeout"), nlohmann::json({null, null, null, null, "fail", "continue"}));
  EXPECT_EQ(all("timeout_ms"), nlohmann::json({30'000, 0, 0, 0, 3'600'000, 86'400'000}));
  EXPECT_EQ(all("on_failure"), nlohmann::json({null, null, null, null, "fail", null}));
  EXPECT_EQ(all("in_doubt"), nlohmann::json({"retry", null, null, null, null, null}));
  EXPECT_EQ(all("retry_for_ms"), nlohmann::json({3'600'000, null, null, null, null, null}));
  EXPECT_TRUE(steps[0]["backoff"].is_object());
  for (std::size_t i = 1; i < steps.size(); ++i) {
    EXPECT_TRUE(steps[i]["backoff"].is_null()) << i;
    EXPECT_EQ(steps[i]["undo"], nlohmann::json({{"none", true}})) << i;
  }
}

TEST(workflow_json, says_how_many_needs_must_be_completed) {
  const auto steps = steps_shown(R"(  a: { with: 1 }
  b: { with: 2 }
  c: { needs: [a, b], with: 3 }
  d: { needs: [a, b], join: any, with: 4 }
  e: { needs: [a, b], join: 2, with: 5 }
)");
  EXPECT_TRUE(steps[0].at("join").is_null());
  EXPECT_TRUE(steps[2].at("join").is_null()) << "all";
  EXPECT_EQ(steps[3].at("join"), 1);
  EXPECT_EQ(steps[4].at("join"), 2);
}

TEST(workflow_json, says_whether_a_step_that_has_failed_is_undone) {
  const auto steps = steps_shown(R"(  a: { agent: x, call: y, undo: { call: z, also_if_failed: true } }
  b: { agent: x, call: y, undo: { call: z } }
)");
  EXPECT_EQ(steps[0]["undo"].at("also_if_failed"), nlohmann::json(true));
  EXPECT_EQ(steps[1]["undo"].at("also_if_failed"), nlohmann::json(false));
}

TEST(workflow_json, shows_how_a_step_is_repeated_the_input_and_the_output) {
  const auto steps = steps_shown(R"(  once: { agent: bank, call: order }
  poll: { agent: bank, call: look, repeat: { until: "${ .steps.poll.done }", every: 10m, max: 7 } }
)");
  EXPECT_TRUE(steps[0].at("repeat").is_null());
  EXPECT_EQ(steps[1].at("repeat"), nlohmann::json({{"until", "${ .steps.poll.done }"}, {"every_ms", 600'000}, {"max", 7}}));
  v1::WorkflowShowReply reply;
  EXPECT_TRUE(nlohmann::json::parse(workflow_show_json(reply)).at("output").is_null());
  reply.mutable_workflow()->mutable_definition()->set_output_json(R"({"n":"${ .steps.poll.n }"})");
  EXPECT_EQ(nlohmann::json::parse(workflow_show_json(reply)).at("output"), nlohmann::json({{"n", "${ .steps.poll.n }"}}));
  EXPECT_TRUE(nlohmann::json::parse(workflow_show_json(reply)).at("input").is_null());
  reply.mutable_workflow()->mutable_definition()->set_input_schema_json(R"({"type":"object"})");
  EXPECT_EQ(nlohmann::json::parse(workflow_show_json(reply)).at("input"), nlohmann::json({{"type", "object"}}));
}

TEST(workflow_json, shows_what_is_carried_out_for_each_item) {
  const auto steps = steps_shown(R"(  once: { agent: mail, call: send }
  letters: { for_each: "${ .input.all }", agent: mail, call: send }
  ship: { for_each: { items: [a], at_once: 1, failures: collect }, workflow: shipment }
)");
  EXPECT_TRUE(steps[0].at("for_each").is_null());
  EXPECT_EQ(steps[1].at("for_each"), nlohmann::json({{"items", "${ .input.all }"}, {"at_once", 10}, {"failures", "stop"}}));
  EXPECT_EQ(steps[2].at("for_each"), nlohmann::json({{"items", nlohmann::json::array({"a"})}, {"at_once", 1}, {"failures", "collect"}}));
}

TEST(workflow_json, shows_which_steps_are_of_the_end) {
  const auto steps = steps_shown(R"(  work: { agent: x, call: y }
  unlock: { finally: true, agent: x, call: y }
  tell: { finally: after_failure, with: 1 }
)");
  EXPECT_TRUE(steps[0].at("finally").is_null());
  EXPECT_EQ(steps[1].at("finally"), nlohmann::json("always"));
  EXPECT_EQ(steps[2].at("finally"), nlohmann::json("after_failure"));
}

TEST(workflow_json, shows_how_long_a_callback_may_take) {
  const auto steps = steps_shown(R"(  order: { agent: bank, call: order }
  sign: { agent: sign, call: request, callback: { timeout: 7d } }
)");
  EXPECT_TRUE(steps[0].at("callback").is_null());
  EXPECT_EQ(steps[1].at("callback"), nlohmann::json({{"timeout_ms", 604'800'000}}));
}

TEST(workflow_json, shows_the_rules_of_a_step) {
  const auto steps = steps_shown(R"(  a: { agent: bank, call: order }
  b:
    agent: bank
    call: order
    retry:
      - { on: [http_502, "http_5*"], attempts: 3, backoff: { first: 5s, factor: 1, max: 5s } }
      - { on: busy }
)");
  EXPECT_EQ(steps[0].at("retry"), nlohmann::json::array());
  EXPECT_EQ(steps[1].at("retry"), nlohmann::json::parse(R"([
    {"on": ["http_502", "http_5*"], "attempts": 3, "retry_for_ms": null, "backoff": {"first_ms": 5000, "factor": 1, "max_ms": 5000}},
    {"on": ["busy"], "attempts": 0, "retry_for_ms": 3600000, "backoff": null}])"));
}

}  // namespace
}  // namespace fairlead::app
