#include "actors/core/workflow/join.hpp"

#include <algorithm>

#include "messages/task_states.hpp"

namespace fairlead::core {

namespace {

const v1::StepRecord& step_at(const v1::TaskRecord& record, std::uint32_t index) { return record.steps(static_cast<int>(index)); }

/// A join for all needs leaves none over: it only wants them to be completed.
bool leaves_steps_over(std::uint32_t join, std::size_t needs) { return join > 0 && join < needs; }

bool is_completed(const v1::StepRecord& step) { return step.state() == v1::STEP_STATE_COMPLETED; }

/// By step: a join may drop it.
std::vector<bool> droppable(const v1::WorkflowDefinition& definition, const needs_graph& graph) {
  const auto size = static_cast<std::size_t>(definition.steps_size());
  std::vector<std::vector<int>> needed_by(size);
  std::vector<std::size_t> open(size);
  for (std::size_t i = 0; i < size; ++i)
    for (const int need : graph.needs(static_cast<int>(i))) needed_by[static_cast<std::size_t>(need)].push_back(static_cast<int>(i));
  std::vector<int> next;
  for (std::size_t i = 0; i < size; ++i) {
    open[i] = needed_by[i].size();
    if (open[i] == 0) next.push_back(static_cast<int>(i));
  }
  std::vector<bool> out(size);
  for (std::size_t at = 0; at < next.size(); ++at) {
    const auto step = static_cast<std::size_t>(next[at]);
    const auto& later = needed_by[step];
    out[step] = !later.empty() && std::all_of(later.begin(), later.end(), [&](int one) {
      const auto& by = definition.steps(one);
      return out[static_cast<std::size_t>(one)] || leaves_steps_over(by.join(), graph.needs(one).size());
    });
    for (const int need : graph.needs(next[at]))
      if (--open[static_cast<std::size_t>(need)] == 0) next.push_back(need);
  }
  return out;
}

}  // namespace

join_count count_of_join(const workflow& definition, const v1::TaskRecord& record, std::uint32_t step) {
  join_count out;
  std::uint32_t performed = 0;
  for (const auto need : definition.compiled(step).named) {
    const auto& one = step_at(record, need);
    if (one.state() == v1::STEP_STATE_SKIPPED) continue;
    ++performed;
    if (one.dropped() || one.passed_over()) continue;
    if (is_completed(one)) ++out.completed;
    const auto open = one.state() == v1::STEP_STATE_PENDING || one.state() == v1::STEP_STATE_RUNNING ||
                      one.state() == v1::STEP_STATE_FAILED || one.state() == v1::STEP_STATE_IN_DOUBT;
    if (open) ++out.open;
  }
  out.wanted = std::min(definition.step_definition(step).join(), performed);
  return out;
}

std::vector<std::uint32_t> steps_to_drop(const workflow& definition, const v1::TaskRecord& record) {
  const auto size = static_cast<std::size_t>(record.steps_size());
  std::vector<bool> leaves_over(size), lost(size);
  for (std::uint32_t i = 0; i < size; ++i)
    leaves_over[i] = leaves_steps_over(definition.step_definition(i).join(), definition.compiled(i).named.size()) &&
                     count_of_join(definition, record, i).met();
  std::vector<std::uint32_t> out;
  const auto& order = definition.in_order();
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const auto& step = step_at(record, *at);
    const auto& later = definition.compiled(*at).named_by;
    lost[*at] = step.dropped() || (!later.empty() && std::all_of(later.begin(), later.end(), [&](std::uint32_t one) {
                  return lost[one] || (leaves_over[one] && !is_completed(step));
                }));
    if (lost[*at] && !step.dropped()) out.push_back(*at);
  }
  return out;
}

std::optional<std::uint32_t> join_without(const workflow& definition, const v1::TaskRecord& record, std::uint32_t dropped) {
  for (auto at = dropped;;) {
    const auto& later = definition.compiled(at).named_by;
    if (later.empty()) return std::nullopt;
    const auto join = std::find_if(later.begin(), later.end(), [&](std::uint32_t one) { return !step_at(record, one).dropped(); });
    if (join != later.end()) return *join;
    at = later.front();
  }
}

bool undo_settled(const workflow& definition, const v1::StepRecord& step) {
  switch (step.state()) {
    case v1::STEP_STATE_COMPLETED: return !definition.compiled(step.definition()).undo_with;
    case v1::STEP_STATE_RUNNING:
    case v1::STEP_STATE_IN_DOUBT:
    case v1::STEP_STATE_UNDOING: return false;
    default: return !step.doubtful() && !is_undone_though_failed(definition.step_definition(step.definition()), step);
  }
}

bool is_over(const workflow& definition, const v1::StepRecord& step) {
  return step.dropped() ? undo_settled(definition, step) : satisfies_needs(step);
}

std::vector<definition_problem> check_joins(const v1::WorkflowDefinition& definition, const needs_graph& graph) {
  std::vector<definition_problem> out;
  const auto& steps = definition.steps();
  if (std::none_of(steps.begin(), steps.end(), [](const v1::StepDefinition& one) { return one.join() > 0; })) return out;
  for (const auto& step : steps) {
    if (step.join() == 0) continue;
    if (step.needs().empty())
      out.push_back(
          {step.name(), "join", "the step needs no other step, so join has no effect", "name the steps that it needs, or remove join"});
    else if (step.join() > static_cast<std::uint32_t>(step.needs_size()))
      out.push_back({step.name(), "join",
                     std::to_string(step.join()) + " is not between 1 and " + std::to_string(step.needs_size()) +
                         ", the number of steps that it needs",
                     "lower it, or set join: all"});
  }
  // Where each step needs an undo anyway, that has been said.
  const auto undoes = definition.on_failure() == v1::ON_FAILURE_UNDO ||
                      std::any_of(steps.begin(), steps.end(), [](const auto& one) { return one.on_failure() == v1::ON_FAILURE_UNDO; });
  const auto may_be_dropped = droppable(definition, graph);
  for (int i = 0; i < definition.steps_size(); ++i) {
    const auto& step = definition.steps(i);
    if (!may_be_dropped[static_cast<std::size_t>(i)]) continue;
    if (step.pivot())
      out.push_back({step.name(), "pivot", "a join may leave this step over, and a pivot is never undone",
                     "let a step need it that no join leaves over, or remove pivot"});
    if (!step.has_undo() && !undoes)
      out.push_back({step.name(), "undo", "a join may leave this step over, so it needs an undo", "say how it is undone, or undo: none"});
  }
  return out;
}

}  // namespace fairlead::core
