#pragma once
// Steps with `join`: such a step starts when enough of its needs are completed. What then nothing needs any more is dropped: it ends, and what
// it has done is undone. Questions about a task's row; the task machine acts on the answers.

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/core/workflow/check.hpp"
#include "actors/core/workflow/graph.hpp"
#include "actors/core/workflow/workflow.hpp"

namespace fairlead::core {

/// The needs of a join.
struct join_count {
  std::uint32_t wanted = 0;     // how many must be completed: as many as the join says, or all that are not skipped
  std::uint32_t completed = 0;  // and not dropped
  std::uint32_t open = 0;       // may still complete

  bool met() const noexcept { return completed >= wanted; }
  bool can_be_met() const noexcept { return completed + open >= wanted; }
};

join_count count_of_join(const workflow& definition, const v1::TaskRecord& record, std::uint32_t step);

/// The steps that nothing needs any more and that are not dropped yet, each before those that it needs.
std::vector<std::uint32_t> steps_to_drop(const workflow& definition, const v1::TaskRecord& record);

/// The step whose join does not need the dropped step; nullopt: the definition has no such join.
std::optional<std::uint32_t> join_without(const workflow& definition, const v1::TaskRecord& record, std::uint32_t dropped);

/// An undo has nothing left to do for the step.
bool undo_settled(const workflow& definition, const v1::StepRecord& step);

/// Nothing is left to perform of the step and, if it is dropped, nothing to undo.
bool is_over(const workflow& definition, const v1::StepRecord& step);

/// What is wrong with the joins of a definition. `graph` is of the same definition and has no cycles.
std::vector<definition_problem> check_joins(const v1::WorkflowDefinition& definition, const needs_graph& graph);

}  // namespace fairlead::core
