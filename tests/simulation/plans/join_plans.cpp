// Steps with joins, in generated workflows.

#include <algorithm>

#include "messages/task_states.hpp"
#include "tests/simulation/plans/workflows.hpp"

namespace fairlead::simulation {

namespace {

void remove_joins(v1::WorkflowDefinition& from) {
  for (auto& step : *from.mutable_steps()) {
    // Without a join these cannot fail.
    const auto cannot_fail = !carried_out_elsewhere(step.kind()) && (step.kind() != v1::STEP_KIND_SIGNAL || step.goes_on_untimely());
    if (cannot_fail) step.clear_on_failure();
    step.clear_join();
  }
}

/// Whoever may be left over says how it is undone, and is no pivot.
void make_droppable(v1::WorkflowDefinition& in) {
  const auto may_go = shape{in}.droppable();
  for (int i = 0; i < in.steps_size(); ++i) {
    auto& step = *in.mutable_steps(i);
    if (!may_go[static_cast<std::size_t>(i)]) continue;
    if (step.pivot()) return remove_joins(in);
    if (!step.has_undo() && step.kind() != v1::STEP_KIND_WORKFLOW) step.mutable_undo()->set_none(true);
  }
}

bool needs(const v1::StepDefinition& step, const std::string& other) {
  return std::find(step.needs().begin(), step.needs().end(), other) != step.needs().end();
}

}  // namespace

void add_joins(v1::WorkflowDefinition& to, random_stream luck) {
  if (!luck.chance(350)) return;
  for (auto& step : *to.mutable_steps()) {
    const auto wanted = luck.chance(700);
    const auto one = luck.chance(650);
    const auto more = luck.next();
    const auto careful = luck.chance(850);
    const auto goes_on = luck.chance(500);
    if (!wanted || step.needs_size() < 2) continue;
    step.set_join(one ? 1 : static_cast<std::uint32_t>(1 + more % static_cast<std::uint64_t>(step.needs_size())));
    const auto says = step.on_failure() == v1::ON_FAILURE_UNSPECIFIED ? to.on_failure() : step.on_failure();
    // It would cool off for ever if its join can never be met.
    if (says == v1::ON_FAILURE_COOL_OFF) step.set_on_failure(v1::ON_FAILURE_PARK);
    // Most read what may be missing.
    if (careful && step.kind() != v1::STEP_KIND_WORKFLOW && step.kind() != v1::STEP_KIND_WAIT && step.kind() != v1::STEP_KIND_SIGNAL) {
      const auto last = step.needs(step.needs_size() - 1);
      step.set_with_json(R"({"v":"${ .steps.)" + step.needs(0) + R"(.v? }","w":"${ .steps.)" + last + R"( }","how":"${ .status.)" + last +
                         R"( }","n":"${ .input.n }"})");
      if (step.when_json().find(".steps") != std::string::npos) step.clear_when_json();
    }
    for (auto& other : *to.mutable_steps())
      if (goes_on && carried_out_elsewhere(other.kind()) && !other.pivot() && needs(step, other.name()))
        other.set_on_failure(v1::ON_FAILURE_CONTINUE);
  }
  make_droppable(to);
}

}  // namespace fairlead::simulation
