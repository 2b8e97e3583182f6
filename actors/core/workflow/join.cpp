#include "actors/core/workflow/join.hpp"

#include <algorithm>

#include "actors/core/workflow/check_kinds.hpp"
#include "messages/task_states.hpp"

namespace fairlead::core {

namespace {

const v1::StepRecord& step_at(const v1::TaskRecord& record, std::uint32_t index) { return record.steps(static_cast<int>(index)); }

/// A join for all needs leaves none over: it only wants them to be completed.
bool leaves_steps_over(std::uint32_t join, std::size_t needs) { return join > 0 && join < needs; }

bool is_completed(const v1::StepRecord& step) { return step.state() == v1::STEP_STATE_COMPLETED; }

bool is_open(const v1::StepRecord& step) {
  if (step.dropped() || step.passed_over()) return false;
  return step.state() == v1::STEP_STATE_PENDING || step.state() == v1::STEP_STATE_RUNNING || step.state() == v1::STEP_STATE_FAILED ||
         step.state() == v1::STEP_STATE_IN_DOUBT;
}

/// All that the step waits for has ended, or it has begun.
bool has_its_turn(const workflow& definition, const v1::TaskRecord& record, std::uint32_t index) {
  if (step_at(record, index).state() != v1::STEP_STATE_PENDING) return true;
  if (definition.step_definition(index).join() > 0) return count_of_join(definition, record, index).met();
  const auto& needs = definition.compiled(index).needs;
  return std::all_of(needs.begin(), needs.end(), [&](std::uint32_t need) { return is_over(definition, step_at(record, need)); });
}

/// It is not known whether the step was performed in the time that a restore has lost. Doubt about a child or items is theirs from the moment
/// in which they begin, so the step is not doubtful then: their end settles it.
bool is_in_doubt(const v1::TaskRecord& record, const v1::StepRecord& step) {
  return step.doubtful() || (record.restored_from_unix_ms() != 0 && child_out(step));
}

/// The needs whose doubt is settled next. One whose turn has not come does not count: it may never be performed.
std::uint32_t needs_in_doubt(const workflow& definition, const v1::TaskRecord& record, std::uint32_t joined) {
  const auto& needs = definition.compiled(joined).named;
  return static_cast<std::uint32_t>(std::count_if(needs.begin(), needs.end(), [&](std::uint32_t need) {
    const auto& step = step_at(record, need);
    return is_in_doubt(record, step) && is_open(step) && has_its_turn(definition, record, need);
  }));
}

/// The shard was restored from a backup in which the step had not begun; since then a call, the step's own or one behind it, may have been
/// performed: a call that was never handed over is in doubt for no other reason.
bool may_have_begun_since_backup(const workflow& definition, const v1::TaskRecord& record, std::uint32_t step) {
  std::vector<bool> seen(static_cast<std::size_t>(record.steps_size()));
  std::vector<std::uint32_t> next{step};
  while (!next.empty()) {
    const auto index = next.back();
    next.pop_back();
    if (seen[index]) continue;
    seen[index] = true;
    const auto& one = step_at(record, index);
    if (one.state() != v1::STEP_STATE_PENDING) continue;
    const auto acts = carried_out_elsewhere(one.kind());
    if (acts && one.doubtful() && one.started_at_unix_ms() == 0) return true;
    // What is behind a call begins after it.
    if (acts) continue;
    const auto& later = definition.compiled(index).named_by;
    next.insert(next.end(), later.begin(), later.end());
  }
  return false;
}

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
    if (is_open(one)) ++out.open;
  }
  out.wanted = std::min(definition.step_definition(step).join(), performed);
  if (step_at(record, step).state() != v1::STEP_STATE_PENDING) return out;
  // In the lost time the join may have been met by a need that is in doubt now: what the joined step did for it must not be undone.
  const auto in_doubt = needs_in_doubt(definition, record, step);
  if (in_doubt > 0 && may_have_begun_since_backup(definition, record, step)) out.wanted = std::max(out.wanted, out.completed + in_doubt);
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
    case v1::STEP_STATE_COMPLETED:
      if (step.kind() == v1::STEP_KIND_WORKFLOW) return definition.step_definition(step.definition()).undo().none();
      return !definition.compiled(step.definition()).undo_with;
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
    if (!says_how_it_is_undone(step) && !undoes)
      out.push_back({step.name(), "undo", "a join may leave this step over, so it needs an undo", "say how it is undone, or undo: none"});
  }
  return out;
}

}  // namespace fairlead::core
