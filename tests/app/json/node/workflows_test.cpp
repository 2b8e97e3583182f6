#include "app/json/node/workflows.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fairlead::app {
namespace {

/// A call, a value, a wait and a signal.
v1::WorkflowShowReply one_of_each() {
  v1::WorkflowShowReply out;
  auto& definition = *out.mutable_workflow()->mutable_definition();
  definition.set_name("order");
  const auto add = [&](const char* name, v1::StepKind kind, const char* with) {
    auto& step = *definition.add_steps();
    step.set_name(name);
    step.set_kind(kind);
    step.set_with_json(with);
    step.mutable_undo()->set_none(true);
    return &step;
  };
  auto* call = add("charge", v1::STEP_KIND_CALL, R"({"n":1})");
  call->set_agent("payment");
  call->set_call("charge");
  call->set_timeout_ms(5'000);
  call->mutable_backoff()->set_first_ms(200);
  call->mutable_backoff()->set_factor(2);
  call->mutable_backoff()->set_max_ms(10'000);
  add("sum", v1::STEP_KIND_VALUE, "7");
  add("rest", v1::STEP_KIND_WAIT, R"("10m")");
  auto* approval = add("approval", v1::STEP_KIND_SIGNAL, "null");
  approval->set_signal("approved");
  approval->set_timeout_ms(172'800'000);
  return out;
}

TEST(workflow_json, has_null_for_what_a_step_without_an_agent_has_not) {
  auto reply = one_of_each();
  const auto steps = nlohmann::json::parse(workflow_show_json(reply)).at("steps");
  EXPECT_EQ(steps[0].at("kind"), "call");
  EXPECT_EQ(steps[0].at("agent"), "payment");
  EXPECT_EQ(steps[0].at("in_doubt"), "retry");
  EXPECT_EQ(steps[0].at("backoff").at("first_ms"), 200);
  for (const auto* field : {"wait", "signal", "on_timeout"}) EXPECT_TRUE(steps[0].at(field).is_null()) << field;
  const char* kinds[] = {"call", "value", "wait", "signal"};
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(steps[i].at("kind"), kinds[i]);
    for (const auto* field : {"agent", "call", "backoff", "in_doubt"})
      EXPECT_TRUE(steps[i].at(field).is_null()) << kinds[i] << " " << field;
  }
  EXPECT_EQ(steps[1].at("with"), 7);
  EXPECT_EQ(steps[2].at("wait"), "10m");
  EXPECT_TRUE(steps[2].at("with").is_null());
  EXPECT_EQ(steps[3].at("signal"), "approved");
  EXPECT_EQ(steps[3].at("on_timeout"), "fail");
  reply.mutable_workflow()->mutable_definition()->mutable_steps(3)->set_goes_on_untimely(true);
  EXPECT_EQ(nlohmann::json::parse(workflow_show_json(reply)).at("steps")[3].at("on_timeout"), "continue");
}

}  // namespace
}  // namespace fairlead::app
