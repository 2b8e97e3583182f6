#include "actors/core/workflow/declarative.hpp"

#include <algorithm>

#include "actors/core/workflow/finally.hpp"
#include "actors/core/workflow/join.hpp"

namespace fairlead::core {

namespace {

/// Backwards, so that at each step it is known whether a descendant still has to be undone. `concerns`: the step is one of those to be undone.
template <class Concerns>
void find_undo(const workflow& definition, const v1::TaskRecord& record, next_steps& out, const Concerns& concerns) {
  out.ready.clear();
  out.over = true;
  std::vector<bool> stands(static_cast<std::size_t>(record.steps_size()), false);
  const auto& order = definition.in_order();
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const auto& step = record.steps(static_cast<int>(*at));
    const auto& later = definition.compiled(*at).needed_by;
    const auto blocked = std::any_of(later.begin(), later.end(), [&](std::uint32_t one) { return stands[one]; });
    const auto settled = !concerns(step) || undo_settled(definition, step);
    stands[*at] = blocked || !settled;
    if (settled) continue;
    out.over = false;
    if (!blocked) out.ready.push_back(*at);
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
    // Items are tasks, whoever carries them out.
    step->set_kind(source.has_for_each() ? v1::STEP_KIND_WORKFLOW : source.kind());
  }
}

void declarative_engine::next(const workflow& definition, const v1::TaskRecord& record, next_steps& out) const {
  out.ready.clear();
  out.unmet.clear();
  out.over = true;
  // In this engine the index of a step is that of its definition.
  const auto over = [&](std::uint32_t index) { return is_over(definition, record.steps(static_cast<int>(index))); };
  const auto of_end = [&](std::uint32_t index) { return definition.has_end() && is_of_end(definition.step_definition(index)); };
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(record.steps_size()); ++i) {
    if (over(i) || of_end(i)) continue;
    out.over = false;
    const auto& step = record.steps(static_cast<int>(i));
    if (step.state() != v1::STEP_STATE_PENDING || step.dropped()) continue;
    const auto& defined = definition.step_definition(step.definition());
    if (defined.join() > 0) {
      const auto count = count_of_join(definition, record, i);
      if (!count.can_be_met()) out.unmet.push_back(i);
      if (!count.met()) continue;
    }
    const auto& needs = definition.compiled(step.definition()).needs;
    // A pivot waits for whatever is not its descendant, steps that its own join does not need included.
    const auto starts_now = defined.join() > 0 && !defined.pivot();
    if (starts_now || std::all_of(needs.begin(), needs.end(), over)) out.ready.push_back(i);
  }
  if (out.over && definition.has_end()) next_of_end(definition, record, v1::FINALLY_ALWAYS, out);
  out.dropped.clear();
  if (definition.has_joins()) out.dropped = steps_to_drop(definition, record);
}

void declarative_engine::next_undo(const workflow& definition, const v1::TaskRecord& record, next_steps& out) const {
  find_undo(definition, record, out, [&](const v1::StepRecord& step) { return !is_of_end(definition.step_definition(step.definition())); });
}

void declarative_engine::next_dropped(const workflow& definition, const v1::TaskRecord& record, next_steps& out) const {
  find_undo(definition, record, out, [](const v1::StepRecord& step) { return step.dropped(); });
  std::erase_if(out.ready, [&](std::uint32_t one) { return record.steps(static_cast<int>(one)).state() == v1::STEP_STATE_RUNNING; });
}

}  // namespace fairlead::core
