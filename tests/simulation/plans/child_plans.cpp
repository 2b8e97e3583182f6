#include "tests/simulation/plans/child_plans.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fairlead::simulation {

namespace {

constexpr std::uint64_t stream_of_names = 1'700;
constexpr int most_children = 3;  // of one task

}  // namespace

child_plan::child_plan(const options& settings) : settings_(settings) {
  random_stream luck{settings.seed, stream_of_names};
  const auto any = luck.chance(300) || settings.always_items;
  const auto count = luck.between(1, 2);
  const auto recurs = luck.chance(150);
  const auto which = luck.below(3);
  if (!any || !settings.has(concern::children)) return;
  for (std::int64_t i = 0; i < count; ++i) names_.push_back("c" + std::to_string(i));
  if (recurs) recursive_ = which == 0 ? "w0" : names_[static_cast<std::size_t>(which % names_.size())];
}

/// No cycle but that of a workflow which names itself.
std::string child_plan::name_for(const std::string& parent, random_stream& luck) const {
  const auto missing = luck.chance(40);
  const auto which = static_cast<std::size_t>(luck.next() % 1'000);
  if (missing) return missing_workflow;
  const auto own = std::find(names_.begin(), names_.end(), parent);
  if (own == names_.end()) return names_[which % names_.size()];
  const auto later = static_cast<std::size_t>(names_.end() - own) - 1;
  return later == 0 ? std::string{} : *(own + 1 + static_cast<std::ptrdiff_t>(which % later));
}

std::string child_plan::input_of(const v1::StepDefinition& step, bool sums, random_stream& luck) {
  const auto how = luck.below(100);
  const auto need = step.needs_size() == 0 ? std::string{} : step.needs(0);
  if (how < 20) return {};
  if (how < 28) return unfit_input;
  if (how < 50 && !need.empty()) return R"({"n":"${ .input.n }","of":"${ .steps.)" + need + R"(.v? }"})";
  if (how < 65 && sums) return R"({"n":"${ .input.n + 1 }"})";
  if (how < 80) return R"({"n":"${ .input.n }","at":"${ .task.id }"})";
  return R"({"n":"${ .input.n }","yes":true})";
}

void child_plan::make_one(v1::WorkflowDefinition& in, int index, const std::string& name, random_stream& luck) const {
  auto& step = *in.mutable_steps(index);
  v1::StepDefinition child;
  child.set_name(step.name());
  *child.mutable_needs() = step.needs();
  child.set_when_json(step.when_json());
  child.set_kind(v1::STEP_KIND_WORKFLOW);
  child.set_workflow(name);
  child.set_pivot(step.pivot());
  child.set_with_json(input_of(step, settings_.has(concern::expressions), luck));
  const auto is_brief = luck.chance(250);
  const auto timeout_ms = luck.between(1'000, 20'000);
  if (is_brief) child.set_timeout_ms(timeout_ms);
  constexpr v1::OnFailure all[] = {v1::ON_FAILURE_UNDO, v1::ON_FAILURE_PARK, v1::ON_FAILURE_FAIL, v1::ON_FAILURE_CONTINUE};
  const auto says = luck.chance(600);
  const auto what = all[luck.below(std::size(all))];
  if (says) child.set_on_failure(what);
  // No child cools off.
  if (!says && in.on_failure() == v1::ON_FAILURE_COOL_OFF) child.set_on_failure(v1::ON_FAILURE_PARK);
  if (luck.chance(250) || step.pivot()) child.mutable_undo()->set_none(true);
  if (name == in.name() && settings_.has(concern::expressions) && luck.chance(500)) {
    child.set_when_json(R"("${ 6 > .input.n }")");
    child.set_with_json(R"({"n":"${ .input.n + 1 }"})");
  }
  step = std::move(child);
}

void child_plan::add_to(v1::WorkflowDefinition& to, random_stream luck) const {
  if (names_.empty()) return;
  const auto wanted = luck.chance(is_one(to.name()) ? 400 : 800);
  const auto itself = static_cast<int>(luck.below(static_cast<std::uint64_t>(to.steps_size())));
  // So that the tasks of one do not become more and more.
  if (to.name() == recursive_) return make_one(to, itself, to.name(), luck);
  int left = is_one(to.name()) ? 1 : most_children;
  for (int i = 0; i < to.steps_size() && wanted; ++i) {
    const auto name = name_for(to.name(), luck);
    const auto is_child = luck.chance(350) || i == itself;
    if (!is_child || name.empty() || left-- <= 0) continue;
    make_one(to, i, name, luck);
  }
}

void child_plan::give_output(v1::WorkflowDefinition& to, random_stream luck, const options& settings) {
  const auto wanted = luck.chance(750);
  const auto sums = luck.chance(300) && settings.has(concern::expressions);
  if (wanted && settings.has(concern::results)) to.set_output_json(sums ? R"({"v":"${ .input.n * 2 }"})" : R"({"v":"${ .input.n }"})");
}

}  // namespace fairlead::simulation
