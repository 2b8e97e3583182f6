#include "tests/simulation/checker/own/migration.hpp"

#include "messages/task_states.hpp"

namespace fairlead::simulation {

namespace {

/// As far as a row tells it to anybody.
bool is_touched(const v1::StepRecord& step) {
  return step.state() != v1::STEP_STATE_PENDING || step.attempt() > 0 || step.has_input() || step.rounds() > 0 ||
         step.not_before_unix_ms() != 0 || step.generation() > 0;
}

/// What is left of the step is carried out as it was said before.
bool is_same(const v1::StepRecord& was, const v1::StepDefinition& before, const v1::StepDefinition& after) {
  if (before.for_each().SerializeAsString() != after.for_each().SerializeAsString()) return false;
  if (before.kind() == v1::STEP_KIND_WORKFLOW)
    return before.kind() == after.kind() && before.workflow() == after.workflow() && before.undo().none() == after.undo().none();
  // One that a join has left over is undone for good.
  const auto ended = satisfies_needs(was) || was.state() == v1::STEP_STATE_UNDONE;
  if (!ended || was.doubtful() || was.undo_doubtful()) return before.SerializeAsString() == after.SerializeAsString();
  return before.kind() == after.kind() && before.agent() == after.agent() && before.call() == after.call() &&
         before.pivot() == after.pivot() && before.has_undo() == after.has_undo() &&
         before.undo().SerializeAsString() == after.undo().SerializeAsString();
}

}  // namespace

v1::TaskRecord carried_over(world& in, const v1::TaskRecord& before, const v1::TaskRecord& after, const shape& from, const shape& to,
                            bool is_ordered) {
  in.count("migrations");
  in.judges("version_changed");
  if (!is_ordered) world::broken("version_changed", after.id() + " goes on by another version of its workflow");
  in.judges("migrated_order");
  if (after.steps_size() != static_cast<int>(to.size()))
    world::broken("migrated_order",
                  after.id() + " has " + std::to_string(after.steps_size()) + " steps, and its version has " + std::to_string(to.size()));
  for (std::uint32_t i = 0; i < to.size(); ++i)
    if (const auto& step = after.steps(static_cast<int>(i)); step.path() != to.step(i).name() || step.definition() != i)
      world::broken("migrated_order", "step " + std::to_string(i) + " of " + after.id() + " is " + step.path() + ", and its version has " +
                                          to.step(i).name() + " there");
  auto out = before;
  out.set_workflow_hash(after.workflow_hash());
  out.clear_steps();
  for (std::uint32_t i = 0; i < to.size(); ++i) {
    auto& step = *out.add_steps();
    step.set_path(to.step(i).name());
    step.set_state(v1::STEP_STATE_PENDING);
    step.set_definition(i);
    step.set_kind(to.kind_of(i));
  }
  for (int i = 0; i < before.steps_size(); ++i) {
    const auto& was = before.steps(i);
    if (!is_touched(was)) continue;
    in.count("steps carried over");
    in.judges("migrated_begun");
    const auto index = static_cast<std::uint32_t>(i);
    if (index >= to.size() || to.step(index).name() != was.path())
      world::broken("migrated_begun", "step " + was.path() + " of " + after.id() + " had begun as number " + std::to_string(i) +
                                          ", and is not there in the version by which it goes on");
    // It may have ended in the commit of the migration, before that.
    const auto& said = after.version() > before.version() + 1 ? after.steps(i) : was;
    if (!is_same(said, from.step(index), to.step(index)))
      world::broken("migrated_begun",
                    "step " + was.path() + " of " + after.id() + " had begun, and is another one in the version by which it goes on");
    *out.mutable_steps(i) = was;
  }
  return out;
}

}  // namespace fairlead::simulation
