// Steps of the end: when they are performed, that they are, and what they get.

#include <algorithm>

#include "actors/core/task/task.hpp"
#include "store/rows/task_rows.hpp"
#include "tests/simulation/checker/checker.hpp"

namespace fairlead::simulation {

namespace {

bool has_begun(const v1::StepRecord& step) {
  const auto open = step.state() == v1::STEP_STATE_PENDING || step.state() == v1::STEP_STATE_SKIPPED;
  return !open || step.started_at_unix_ms() != 0 || step.doubtful();
}

/// What it has done would still have to be undone.
bool is_to_be_undone(const v1::StepRecord& step) {
  return step.state() == v1::STEP_STATE_COMPLETED || step.state() == v1::STEP_STATE_IN_DOUBT || step.state() == v1::STEP_STATE_UNDOING ||
         step.state() == v1::STEP_STATE_RUNNING;
}

}  // namespace

/// A task that was to fail may perform other steps again, at an operator's word.
bool checker::brought_forward(const std::string& id) const {
  const auto asked = orders_.find(id);
  return asked != orders_.end() && std::any_of(asked->second.begin(), asked->second.end(), [](const v1::OperatorAction& order) {
           return order.verb() == v1::OPERATOR_VERB_RETRY || order.verb() == v1::OPERATOR_VERB_SKIP ||
                  order.verb() == v1::OPERATOR_VERB_SETTLE_COMPLETED || order.verb() == v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED;
         });
}

/// It was handed over to be performed, perhaps not for the first time.
void checker::judge_end_perform(const step_name& of, const hand_over& next, const shape& plan, const v1::TaskRecord& record,
                                const history& past) const {
  const auto text = of.task + " step " + std::to_string(of.step) + ", a step of the end,";
  const auto again = std::any_of(past.all.begin(), past.all.end(),
                                 [&](const hand_over& one) { return one.direction == next.direction && one.attempt == next.attempt; });
  if (again) return;
  const auto after_failure = plan.step(of.step).finally() == v1::FINALLY_AFTER_FAILURE;
  world_.count(after_failure && undo_began_.count(of.task) != 0 ? "steps of the end that ran after the undo" : "steps of the end that ran");
  // By a clock that was set a lease ends that its agent still holds. With replicas each change of the leader is one.
  if (clock_.settings() != 0) return;
  world_.judges("perform_after_undo");
  if (!after_failure && undo_began_.count(of.task) != 0)
    world::broken("perform_after_undo", text + " was handed over to be performed after the first undo");
  // So may a callback that says that a step was carried out after all.
  const auto called = [](const v1::HistoryEvent& event) { return event.kind() == v1::EVENT_KIND_STEP_ANSWERED; };
  if (brought_forward(of.task) || std::any_of(record.recent().begin(), record.recent().end(), called)) return;
  for (std::uint32_t other = 0; other < plan.size(); ++other) {
    const auto& needed = record.steps(static_cast<int>(other));
    if (plan.of_end(other)) {
      if (plan.must_wait_for(of.step, other) && !over(needed))
        world::broken("needs", text + " was handed over before what it needs was over");
      continue;
    }
    world_.judges("finally_early");
    const auto begun = steps_.find({of.task, other});
    if (begun == steps_.end()) continue;
    for (const auto& one : begun->second.all)
      if (one.direction == v1::DIRECTION_PERFORM && !one.late && !closed(one))
        world::broken("finally_early", text + " was handed over while step " + std::to_string(other) + " is performed");
  }
  if (!after_failure) return;
  world_.judges("after_failure_early");
  // The record may be further on than what leaves now.
  const auto completes = record.state() == v1::TASK_STATE_COMPLETED || (record.state() == v1::TASK_STATE_RUNNING && !record.failing());
  if (completes) world::broken("after_failure_early", text + " was handed over, and its task completes");
  if (record.state() != v1::TASK_STATE_UNDOING || record.failing()) return;
  for (std::uint32_t other = 0; other < plan.size(); ++other)
    if (!plan.of_end(other) && plan.undoable(other) && is_to_be_undone(record.steps(static_cast<int>(other))))
      world::broken("after_failure_early", text + " was handed over before step " + std::to_string(other) + " was undone");
}

/// Of a task that has ended.
void checker::judge_ends_of(const v1::TaskRecord& record, const shape& plan) const {
  if (restores_.on()) return;
  const auto begun = std::any_of(record.steps().begin(), record.steps().end(), has_begun);
  for (std::uint32_t i = 0; i < plan.size(); ++i) {
    if (!plan.of_end(i)) continue;
    const auto& step = record.steps(static_cast<int>(i));
    const auto name = record.id() + "/" + step.path();
    if (step.state() == v1::STEP_STATE_UNDOING || step.state() == v1::STEP_STATE_UNDONE)
      world::broken("impossible_step", name + ", a step of the end, is " + core::state_word(step.state()));
    if (step.passed_over()) world_.count("steps of the end that have failed");
    const auto no_turn = step.state() == v1::STEP_STATE_SKIPPED && step.ended_at_unix_ms() == 0;
    if (no_turn) world_.count("steps of the end that had no turn");
    const auto needless =
        record.state() == v1::TASK_STATE_COMPLETED ? plan.step(i).finally() == v1::FINALLY_AFTER_FAILURE : record.terminated() || !begun;
    world_.judges("finally_skipped");
    if (over(step) && (!no_turn || needless)) continue;
    world::broken("finally_skipped", record.id() + " is " + core::state_word(record.state()) + " with " + step.path() +
                                         ", a step of the end, " + (no_turn ? "left out" : core::state_word(step.state())));
  }
}

/// The task may take another end since.
void content_checker::judge_end_input(const v1::Perform& what, const shape& plan, const value& document) const {
  world_.judges("input");
  const auto& with = plan.step(what.step()).with_json();
  for (const auto* end : {"completed", "failed", "undone"}) {
    auto with_end = document;
    with_end.members["task"].members["end"] = text_value(end);
    const auto expected = fill_template(with, with_end);
    if (expected && parse_value(what.input()) == expected) return;
  }
  world::broken("input", "step " + what.step_path() + " of " + what.task_id() + " was handed over with " + what.input() +
                             ", which is not what " + with + " gives");
}

}  // namespace fairlead::simulation
