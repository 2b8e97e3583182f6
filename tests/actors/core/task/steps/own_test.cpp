// Limits of steps that no agent carries out.

#include "actors/core/request_limits.hpp"
#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

v1::StepDefinition value(const std::string& name, const std::vector<std::string>& needs, const std::string& with_json) {
  v1::StepDefinition out;
  out.set_name(name);
  out.set_kind(v1::STEP_KIND_VALUE);
  for (const auto& need : needs) out.add_needs(need);
  out.set_with_json(with_json);
  out.mutable_undo()->set_none(true);
  return out;
}

TEST(task_own_steps, a_chain_of_values_that_double_parks_the_task_before_it_fills_the_memory) {
  std::vector<v1::StepDefinition> steps{value("v0", {}, R"("${ .input }")")};
  for (int i = 1; i < 40; ++i) {
    const auto before = "v" + std::to_string(i - 1);
    steps.push_back(value("v" + std::to_string(i), {before}, R"(["${ .steps.)" + before + R"( }","${ .steps.)" + before + R"( }"])"));
  }
  world w{graph(steps)};
  w.started(R"({"text":")" + std::string(100'000, 'x') + R"("})");
  EXPECT_TRUE(w.record.parked());
  EXPECT_NE(w.record.parked_reason().find("step v4: its value has "), std::string::npos) << w.record.parked_reason();
  EXPECT_EQ(w.at(3).state(), v1::STEP_STATE_COMPLETED);
  EXPECT_EQ(w.at(4).state(), v1::STEP_STATE_PENDING);
  for (const auto& one : w.record.steps()) EXPECT_LE(one.output().size(), max_output_bytes);
  w.operate(v1::OPERATOR_VERB_RETRY, "v4", "7");
  EXPECT_EQ(w.at(4).output().json(), "7");
}

}  // namespace
}  // namespace fairlead::core::testing
