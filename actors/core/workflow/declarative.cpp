#include "actors/core/workflow/declarative.hpp"

#include <algorithm>

#include "actors/core/workflow/finally.hpp"
#include "messages/task_states.hpp"

namespace fairlead::core {

namespace {

/// Whether the undo of the task has nothing left to do for the step.
bool undo_settled(const workflow& definition, const v1::StepRecord& step) {
  if (is_of_end(definition.step_definition(step.definition()))) return true;
  switch (step.state()) {
    case v1::STEP_STATE_COMPLETED: return !definition.compiled(step.definition()).undo_with;
    case v1::STEP_STATE_RUNNING:
    case v1::STEP_STATE_IN_DOUBT:
    case v1::STEP_STATE_UNDOING: return false;
    default: return !step.doubtful() && !is_undone_though_failed(definition.step_definition(step.definition()), step);
  }
}

}  // namespace

void declarative_engine::begin(const workflow& definition, v1::TaskRecord& record) const {
  record.mutable_steps()->Reserve(definition.definition().steps_size());
  std::uint32_t index = 0;
  for (const auto& source : definition.definition().steps()) {
    auto* step = record.add_steps();
    step->set_path(source.name());
    step->set_state(v1::STEP_STATE_PENDING);
    step->set_definition(index++);
    step->set_kind(source.kind());
  }
}

void declarative_engine::next(const workflow& definition, const v1::TaskRecord& record, next_steps& out) const {
  out.ready.clear();
  out.over = true;
  for (int i = 0; i < record.steps_size(); ++i) {
    const auto& step = record.steps(i);
    if (satisfies_needs(step) || (definition.has_end() && is_of_end(definition.step_definition(step.definition())))) continue;
    out.over = false;
    if (step.state() != v1::STEP_STATE_PENDING) continue;
    // In this engine the index of a step is that of its definition.
    const auto& needs = definition.compiled(step.definition()).needs;
    const auto met =
        std::all_of(needs.begin(), needs.end(), [&](std::uint32_t need) { return satisfies_needs(record.steps(static_cast<int>(need))); });
    if (met) out.ready.push_back(static_cast<std::uint32_t>(i));
  }
  if (out.over && definition.has_end()) next_of_end(definition, record, v1::FINALLY_ALWAYS, out);
}

void declarative_engine::next_undo(const workflow& definition, const v1::TaskRecord& record, next_steps& out) const {
  out.ready.clear();
  out.over = true;
  // Backwards, so that at each step it is known whether a descendant still has to be undone.
  std::vector<bool> stands(static_cast<std::size_t>(record.steps_size()), false);
  const auto& order = definition.in_order();
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const auto& step = record.steps(static_cast<int>(*at));
    const auto& later = definition.compiled(*at).needed_by;
    const auto blocked = std::any_of(later.begin(), later.end(), [&](std::uint32_t one) { return stands[one]; });
    const auto settled = undo_settled(definition, step);
    stands[*at] = blocked || !settled;
    if (settled) continue;
    out.over = false;
    if (!blocked) out.ready.push_back(*at);
  }
}

}  // namespace fairlead::core
