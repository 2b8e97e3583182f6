#include "tests/simulation/plans/ends.hpp"

namespace fairlead::simulation {

namespace {

v1::StepDefinition value_at_end() {
  v1::StepDefinition out;
  out.set_kind(v1::STEP_KIND_VALUE);
  out.set_with_json(R"({"v":"${ .input.n }"})");
  return out;
}

v1::StepDefinition call_at_end(random_stream& luck, const std::string& agent, bool sums) {
  v1::StepDefinition out;
  out.set_agent(agent);
  out.set_call("do");
  out.set_timeout_ms(luck.between(300, 4'000));
  out.set_attempts(static_cast<std::uint32_t>(luck.between(1, 4)));
  out.mutable_backoff()->set_first_ms(luck.between(20, 500));
  out.mutable_backoff()->set_factor(2);
  out.mutable_backoff()->set_max_ms(luck.between(500, 4'000));
  out.set_in_doubt(luck.chance(150) ? v1::IN_DOUBT_PARK : luck.chance(200) ? v1::IN_DOUBT_FAIL : v1::IN_DOUBT_RETRY);
  out.set_with_json(sums ? R"({"m":"${ .input.n + 5 }","end":"${ .task.end }"})" : R"({"n":"${ .input.n }","end":"${ .task.end }"})");
  return out;
}

}  // namespace

void add_ends(v1::WorkflowDefinition& to, random_stream& luck, const std::vector<agent_site>& sites, const options& settings) {
  const auto count = luck.between(1, 3);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto how = luck.below(10);
    const auto sums = how >= 7 && settings.has(concern::expressions);
    auto step = how == 0 && settings.has(concern::own_steps) ? value_at_end() : call_at_end(luck, luck.pick(sites).agent, sums);
    if (how == 9) step.set_when_json(R"("${ .input.yes }")");
    step.set_name("s" + std::to_string(to.steps_size()));
    step.set_finally(luck.chance(600) ? v1::FINALLY_ALWAYS : v1::FINALLY_AFTER_FAILURE);
    step.mutable_undo()->set_none(true);
    const auto& before = to.steps(to.steps_size() - 1);
    const auto follows = before.finally() == step.finally() || before.finally() == v1::FINALLY_ALWAYS;
    if (i > 0 && luck.chance(400) && follows) step.add_needs(before.name());
    *to.add_steps() = std::move(step);
  }
}

}  // namespace fairlead::simulation
