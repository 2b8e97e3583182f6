#include "actors/core/task/waits.hpp"

#include <algorithm>

#include "actors/core/items/items.hpp"
#include "actors/core/task/machine.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/task/standing.hpp"
#include "actors/core/workflow/finally.hpp"
#include "messages/holds.hpp"

namespace fairlead::core {

namespace {

class inspection {
 public:
  inspection(const v1::TaskRecord& record, const workflow& definition, const workflow_engine& engine, const agent_directory& agents)
      : record_(record), definition_(definition), engine_(engine), agents_(agents) {}

  std::vector<step_wait> run() {
    for (std::uint32_t i = 0; i < steps(); ++i)
      if (at(i).has_items() && child_out(at(i)))
        add_items(i);
      else if (child_out(at(i)))
        add(i, at(i).direction(), awaited::child);
      else if (at(i).state() == v1::STEP_STATE_RUNNING && !attempt_out(at(i)))
        add(i, at(i).direction(), awaited::outcome);
    if (record_.failing())
      of_failing();
    else if (record_.state() == v1::TASK_STATE_RUNNING)
      of_performing();
    else if (std::none_of(record_.steps().begin(), record_.steps().end(),
                          [this](const auto& step) { return !of_end(step) && holds_up_undo(record_, step); }))
      of_undoing();
    if (out_.empty() && std::none_of(record_.steps().begin(), record_.steps().end(), under_way))
      add(0, v1::DIRECTION_PERFORM, awaited::turn);
    return std::move(out_);
  }

 private:
  bool of_end(const v1::StepRecord& step) const { return is_of_end(definition_.step_definition(step.definition())); }

  /// Whether steps of the end of that kind are still to be performed.
  bool of_end(v1::Finally which) {
    next_steps next;
    next_of_end(definition_, record_, which, next);
    if (next.over) return false;
    for (const auto index : next.ready)
      if (!under_way(at(index))) add_wanted(index);
    for (std::uint32_t i = 0; i < steps(); ++i)
      if (of_end(at(i))) add_unfinished(i);
    return true;
  }

  /// Of a step with `for_each`, in progress.
  void add_items(std::uint32_t index) {
    const auto& step = at(index);
    const auto counts = count_items(step.items());
    if (counts.out() > 0) add(index, step.direction(), awaited::child);
    const auto begins = counts.to_begin > 0 && step.state() == v1::STEP_STATE_RUNNING && step.not_before_unix_ms() == 0;
    // With some in progress the end of one of them is enough.
    if (counts.out() > 0 || step.not_before_unix_ms() != 0) return;
    add(index, step.direction(), begins && !definition_.compiled(step.definition()).with.plain() ? awaited::input : awaited::turn);
  }

  /// A step that has failed or is in doubt, and that nothing goes on with.
  void add_unfinished(std::uint32_t index) {
    const auto& step = at(index);
    const auto open = step.state() == v1::STEP_STATE_FAILED || step.state() == v1::STEP_STATE_IN_DOUBT;
    if (under_way(step) || step.passed_over() || step.dropped() || !open) return;
    add(index, step.direction(), to_be_looked_up(step) ? awaited::instance : awaited::recovery);
  }

  void of_performing() {
    next_steps next;
    engine_.next(definition_, record_, next);
    const auto* output = definition_.output();
    if (next.over && output != nullptr && !output->plain() && !record_.has_output()) add(0, v1::DIRECTION_PERFORM, awaited::output);
    for (const auto index : next.ready)
      if (!under_way(at(index))) add_wanted(index);
    for (std::uint32_t i = 0; i < steps(); ++i) add_unfinished(i);
    const auto& all = record_.steps();
    if (std::none_of(all.begin(), all.end(), [](const v1::StepRecord& step) { return step.dropped(); })) return;
    engine_.next_dropped(definition_, record_, next);
    of_undo(next);
  }

  /// Look-ups that come before steps of the end and before any undo. True: one of them has no answer yet, so nothing else has its turn, also
  /// while it is in progress or waits for the moment of its next attempt.
  bool of_lookups() {
    bool asks = false;
    for (std::uint32_t i = 0; i < steps(); ++i) {
      if (!to_be_looked_up(at(i)) || of_end(at(i))) continue;
      asks = true;
      if (!under_way(at(i))) add(i, v1::DIRECTION_LOOKUP, awaited::instance);
    }
    return asks;
  }

  void of_failing() {
    if (record_.terminated()) return;
    // Nothing begins before their end, look-ups included.
    if (is_other_out(record_, definition_)) return;
    if (of_lookups() || !out_.empty()) return;
    if (!of_end(v1::FINALLY_ALWAYS)) of_end(v1::FINALLY_AFTER_FAILURE);
  }

  void of_undoing() {
    // Whether there is a way back at all only look-ups can say.
    if (record_.undo_uncertain() && cannot_undo(record_, definition_, nullptr) && of_lookups()) return;
    if (of_end(v1::FINALLY_ALWAYS)) return;
    next_steps next;
    engine_.next_undo(definition_, record_, next);
    if (next.over) of_end(v1::FINALLY_AFTER_FAILURE);
    if (!is_end_out(record_, definition_)) of_undo(next);
  }

  void of_undo(const next_steps& next) {
    for (const auto index : next.ready) {
      const auto& step = at(index);
      if (under_way(step)) continue;
      const auto doubt = step.state() == v1::STEP_STATE_IN_DOUBT;
      const auto asked_in_vain = doubt && step.direction() == v1::DIRECTION_LOOKUP && step.given_up();
      // A step that cannot be undone waits until the others are undone; then the task parks.
      if (step.given_up() && !asked_in_vain) continue;
      const auto& compiled = definition_.compiled(step.definition());
      const auto& definition = definition_.step_definition(step.definition());
      const auto asks = doubt && !asked_in_vain && step.kind() == v1::STEP_KIND_CALL;
      if (asks && (step.direction() == v1::DIRECTION_LOOKUP || agents_.looks_up(definition.agent(), definition.call())))
        add(index, v1::DIRECTION_LOOKUP, awaited::instance);
      else if (!compiled.undo_with)
        add(index, v1::DIRECTION_UNDO, awaited::turn);
      else
        add_ready(index, v1::DIRECTION_UNDO, step.has_undo_input() || (doubt && compiled.undo_reads_output));
    }
  }

  void add_wanted(std::uint32_t index) {
    const auto& step = at(index);
    const auto own = step.kind() != v1::STEP_KIND_CALL;
    const auto& list = definition_.compiled(step.definition()).list;
    if (step.until_open())
      add(index, v1::DIRECTION_PERFORM, awaited::until);
    else if (awaits_condition(definition_.compiled(step.definition()), step))
      add(index, v1::DIRECTION_PERFORM, awaited::condition);
    else if (list)
      add(index, v1::DIRECTION_PERFORM, step.has_input() || step.has_items() || list->plain() ? awaited::turn : awaited::list);
    else if (own && (step.has_input() || definition_.compiled(step.definition()).with.plain()))
      add(index, v1::DIRECTION_PERFORM, awaited::turn);
    else
      add_ready(index, v1::DIRECTION_PERFORM, step.has_input());
  }

  void add_ready(std::uint32_t index, v1::Direction direction, bool has_input) {
    const auto& compiled = definition_.compiled(at(index).definition());
    const auto plain = direction == v1::DIRECTION_UNDO ? compiled.undo_with->plain() : compiled.with.plain();
    add(index, direction, has_input || plain ? awaited::instance : awaited::input);
  }

  void add(std::uint32_t index, v1::Direction direction, awaited what) { out_.push_back({index, direction, what}); }

  const v1::StepRecord& at(std::uint32_t index) const { return record_.steps(static_cast<int>(index)); }
  std::uint32_t steps() const { return static_cast<std::uint32_t>(record_.steps_size()); }

  const v1::TaskRecord& record_;
  const workflow& definition_;
  const workflow_engine& engine_;
  const agent_directory& agents_;
  std::vector<step_wait> out_;
};

}  // namespace

const char* awaited_words(awaited what) {
  switch (what) {
    case awaited::input: return "its input";
    case awaited::condition: return "its `when`";
    case awaited::list: return "its list";
    case awaited::until: return "its `until`";
    case awaited::output: return "its output";
    case awaited::instance: return "an instance of its agent";
    case awaited::child: return "the end of its task";
    case awaited::outcome: return "the outcome of an attempt";
    case awaited::recovery: return "its recovery";
    case awaited::turn: return "its turn";
  }
  return "something";
}

std::optional<v1::ExpressionPart> awaited_part(const step_wait& wait) {
  switch (wait.what) {
    case awaited::input: return part_of_input(wait.direction);
    case awaited::condition: return v1::EXPRESSION_PART_WHEN;
    case awaited::list: return v1::EXPRESSION_PART_LIST;
    case awaited::until: return v1::EXPRESSION_PART_UNTIL;
    case awaited::output: return v1::EXPRESSION_PART_OUTPUT;
    default: return std::nullopt;
  }
}

bool is_abandoned(const v1::TaskRecord& task, const v1::StepRecord& step) {
  if (task.state() != v1::TASK_STATE_UNDOING || attempt_out(step) || !under_way(step)) return false;
  // A perform in doubt waits for nothing else here.
  const auto in_doubt = step.state() == v1::STEP_STATE_IN_DOUBT && step.direction() == v1::DIRECTION_PERFORM;
  return in_doubt || step.held_until_unix_ms() != 0;
}

bool holds_up_undo(const v1::TaskRecord& task, const v1::StepRecord& step) {
  return step.state() == v1::STEP_STATE_RUNNING || (is_abandoned(task, step) && step.direction() == v1::DIRECTION_PERFORM);
}

std::vector<step_wait> waits_of(const v1::TaskRecord& record, const workflow& definition, const workflow_engine& engine,
                                const agent_directory& agents) {
  const auto live = record.state() == v1::TASK_STATE_RUNNING || record.state() == v1::TASK_STATE_UNDOING;
  const auto stopped = record.failing() ? sleeps(record) : is_held(record);
  if (!live || stopped || !definition.usable()) return {};
  return inspection{record, definition, engine, agents}.run();
}

}  // namespace fairlead::core
