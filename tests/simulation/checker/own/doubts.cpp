// Steps with `in_doubt: park` or `in_doubt: fail`: after an attempt in doubt there is none until somebody knows better, or wants it.

#include "tests/simulation/checker/own/doubts.hpp"

#include "actors/core/task/record.hpp"
#include "tests/simulation/checker/checker.hpp"

namespace fairlead::simulation {

namespace {

/// The attempt may have been carried out, and nobody knows. An attempt that its agent has only accepted is in doubt as well.
bool is_doubt(v1::EventKind kind) {
  return kind == v1::EVENT_KIND_STEP_IN_DOUBT || kind == v1::EVENT_KIND_STEP_EXPIRED || kind == v1::EVENT_KIND_STEP_ACCEPTED;
}

/// An operator, or the parent of the task, has said something about the task or the step. To rest, and to go on, says nothing about doubt.
/// Who has the whole task tried again may be noted at another step.
bool is_order(const v1::HistoryEvent& event, std::uint32_t step_plus_one) {
  if (event.kind() == v1::EVENT_KIND_OPERATOR_PAUSE || event.kind() == v1::EVENT_KIND_OPERATOR_RESUME) return false;
  const auto about_it = event.step() == 0 || event.step() == step_plus_one || event.kind() == v1::EVENT_KIND_OPERATOR_RETRY;
  return event.kind() >= v1::EVENT_KIND_OPERATOR_RETRY && about_it;
}

/// What may follow doubt without another attempt, and ends it: a look-up or an operator settles it, or a callback has said what became of
/// the work. A look-up that fails ends no doubt.
bool ends_doubt(const v1::HistoryEvent& event) {
  switch (event.kind()) {
    case v1::EVENT_KIND_STEP_SETTLED:
    case v1::EVENT_KIND_STEP_ANSWERED:
    case v1::EVENT_KIND_STEP_COMPLETED:
    case v1::EVENT_KIND_STEP_REPEATED: return true;
    case v1::EVENT_KIND_STEP_FAILED: return event.direction() == v1::DIRECTION_PERFORM;
    default: return false;
  }
}

/// The end of the attempt before the one that begins with the event at `at`, if that is in doubt still. The record has the newest events
/// alone: what is older may be anything.
const v1::HistoryEvent* doubt_before(const v1::TaskRecord& record, int at) {
  const auto step = record.recent(at).step();
  for (int i = at - 1; i >= 0; --i) {
    const auto& event = record.recent(i);
    if (event.sequence() + 1 != record.recent(i + 1).sequence()) return nullptr;
    if (is_order(event, step) || event.kind() == v1::EVENT_KIND_TASK_RESTORED) return nullptr;
    if (event.step() != step) continue;
    if (ends_doubt(event)) return nullptr;
    if (event.direction() != v1::DIRECTION_PERFORM) continue;
    if (is_doubt(event.kind())) return &event;
    // One that nobody has begun is not in doubt, and was lawful itself.
    if (event.kind() == v1::EVENT_KIND_STEP_STARTED) return nullptr;
  }
  return nullptr;
}

}  // namespace

void judge_repeated(world& in, const v1::TaskRecord* was, const v1::TaskRecord& now, const shape& plan) {
  const auto seen = was == nullptr ? 0 : was->history_size();
  for (int at = 0; at < now.recent_size(); ++at) {
    const auto& event = now.recent(at);
    if (event.sequence() <= seen || event.kind() != v1::EVENT_KIND_STEP_STARTED || event.step() == 0) continue;
    const auto index = event.step() - 1;
    if (event.direction() != v1::DIRECTION_PERFORM || event.attempt() < 2 || index >= plan.size()) continue;
    // What becomes of a step of the end depends on how often its task comes to an end.
    if (plan.own(index) || plan.of_end(index) || core::may_be_repeated(plan.step(index).in_doubt())) continue;
    in.judges("repeated_in_doubt");
    if (const auto* doubt = doubt_before(now, at))
      world::broken("repeated_in_doubt", "attempt " + std::to_string(event.attempt()) + " of step " + plan.step(index).name() + " of " +
                                             now.id() + " was begun, attempt " + std::to_string(doubt->attempt()) +
                                             " is in doubt, and nobody has said that it may be repeated");
  }
}

}  // namespace fairlead::simulation
