#pragma once
// Generated workflows: graphs of a few steps with every lawful mixture of undo, pivots, doubt and answers to failure.

#include <vector>

#include "messages/workflow.pb.h"
#include "tests/simulation/world/sites.hpp"
#include "tests/simulation/world/world.hpp"

namespace fairlead::simulation {

/// One or two workflows, and in some runs others of tasks that steps of these are, that `core::check_definition` has nothing against.
std::vector<v1::WorkflowDefinition> make_workflows(world& in, const std::vector<agent_site>& sites);

/// Other versions of these, under the same names: to be deployed while tasks of the first run.
std::vector<v1::WorkflowDefinition> make_versions(world& in, const std::vector<agent_site>& sites,
                                                  const std::vector<v1::WorkflowDefinition>& of);

/// Some steps start when some of their needs are completed, from a stream of their own, as these were added to what had been there.
void add_joins(v1::WorkflowDefinition& to, random_stream luck);

/// What a checker wants to know of a workflow, worked out from the definition alone.
class shape {
 public:
  explicit shape(v1::WorkflowDefinition definition);

  const v1::WorkflowDefinition& definition() const { return definition_; }
  const v1::StepDefinition& step(std::uint32_t index) const { return definition_.steps(static_cast<int>(index)); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(definition_.steps_size()); }
  /// `step` comes after `other`, directly or through others.
  bool after(std::uint32_t step, std::uint32_t other) const { return after_[step][other]; }
  /// What must be over before `step` may start: what it needs itself (a skipped step may stand in between), and before a pivot
  /// everything that does not come after it. What a step with a join needs is another question.
  bool must_wait_for(std::uint32_t step, std::uint32_t other) const {
    if (of_end(step) || of_end(other)) return needs_[step][other] || (of_end(step) && !of_end(other));
    return (needs_[step][other] && !joins(step)) || (this->step(step).pivot() && step != other && !after(other, step));
  }
  bool of_end(std::uint32_t index) const { return step(index).finally() != v1::FINALLY_NO; }
  /// By its own words.
  bool needs(std::uint32_t step, std::uint32_t other) const { return needs_[step][other]; }
  bool joins(std::uint32_t index) const { return step(index).join() != 0; }
  bool has_joins() const;
  /// What its join does not need is dropped.
  bool leaves_steps_over(std::uint32_t index) const {
    return joins(index) && step(index).join() < static_cast<std::uint32_t>(step(index).needs_size());
  }
  /// By step: some join may drop it.
  std::vector<bool> droppable() const;
  /// No agent carries it out.
  bool own(std::uint32_t index) const { return step(index).kind() != v1::STEP_KIND_CALL || has_items(index); }
  bool repeats(std::uint32_t index) const { return step(index).has_repeat(); }
  /// A callback brings what it gives.
  bool answered_later(std::uint32_t index) const { return step(index).callback_ms() != 0 && !has_items(index); }
  /// A task of its own carries it out, or one for each item of its list.
  bool is_child(std::uint32_t index) const { return step(index).kind() == v1::STEP_KIND_WORKFLOW || has_items(index); }
  bool has_items(std::uint32_t index) const { return step(index).has_for_each(); }
  bool says_how_it_is_undone(std::uint32_t index) const { return step(index).has_undo() || step(index).kind() == v1::STEP_KIND_WORKFLOW; }
  bool undoable(std::uint32_t index) const { return says_how_it_is_undone(index) && !step(index).undo().none(); }
  /// Also a step that has failed.
  bool undoes_failed(std::uint32_t index) const { return undoable(index) && step(index).undo().also_if_failed(); }
  /// As its record says.
  v1::StepKind kind_of(std::uint32_t index) const { return is_child(index) ? v1::STEP_KIND_WORKFLOW : step(index).kind(); }
  /// By which the task of one item goes, where the step's call carries it out.
  shape of_item(std::uint32_t index) const;
  bool says_undo_none(std::uint32_t index) const { return step(index).has_undo() && step(index).undo().none(); }

 private:
  v1::WorkflowDefinition definition_;
  std::vector<std::vector<bool>> needs_;  // [step][other]
  std::vector<std::vector<bool>> after_;
};

}  // namespace fairlead::simulation
