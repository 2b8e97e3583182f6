#include "app/simulate/judge.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "messages/time.hpp"

namespace fairlead::app::simulate {

namespace {

/// The ledger of one step of one task.
struct effects_of_step {
  int live = 0;       // effects that are there
  int performed = 0;  // ever
  int undone = 0;
  bool twice = false;  // under one key
  bool undo_again = false;
  std::string undo_call;
};

using step_of_task = std::pair<std::uint64_t, std::uint32_t>;

std::map<step_of_task, effects_of_step> by_step(const run_end& run) {
  std::map<step_of_task, effects_of_step> out;
  for (const auto& [key, one] : run.ledger) {
    auto& sum = out[{one.task_number, one.step}];
    sum.live += one.live;
    sum.performed += one.performed;
    sum.undone += one.undone;
    sum.twice = sum.twice || one.performed > 1;
    sum.undo_again = sum.undo_again || one.undo_again > 0;
    if (!one.undo_call.empty()) sum.undo_call = one.undo_call;
  }
  return out;
}

/// null: there is none of this number.
const v1::TaskRecord* task_of(const run_end& run, std::uint64_t number) {
  return number == 0 || number > run.tasks.size() ? nullptr : &run.tasks[number - 1];
}

const v1::StepDefinition* step_that_began(const stage& on, const v1::TaskRecord& parent, const v1::TaskRecord& child) {
  const auto* definition = on.definition_of(parent.workflow());
  const auto& step = parent.steps(static_cast<int>(child.parent().step()));
  return definition == nullptr ? nullptr : &definition->steps(static_cast<int>(step.definition()));
}

/// Its own undo, or that of the task whose step it carries out, is over.
bool is_undone(const stage& on, const run_end& run, const v1::TaskRecord& record) {
  if (record.state() == v1::TASK_STATE_UNDONE) return true;
  if (!record.has_parent()) return false;
  const auto* parent = task_of(run, record.parent().number());
  const auto* begun_by = parent == nullptr ? nullptr : step_that_began(on, *parent, record);
  return begun_by != nullptr && !begun_by->undo().none() && is_undone(on, run, *parent);
}

std::string name_of(const finding& what) {
  return (what.of_item ? "an item of step " : "step ") + what.step + " of workflow " + what.workflow;
}
std::string call_of(const finding& what) { return what.agent + "." + what.call; }

/// The task itself, or that with the step of which it carries out an item.
const v1::TaskRecord& whole_of(const run_end& run, const v1::TaskRecord& record) {
  if (record.parent().call_of() == 0) return record;
  const auto* found = task_of(run, record.parent().number());
  return found == nullptr ? record : *found;
}

/// `each`: (record, step's record, its definition, its effects).
template <class Each>
void each_step(const stage& on, const run_end& run, Each each) {
  const auto sums = by_step(run);
  for (const auto& record : run.tasks) {
    const auto* definition = on.definition_of(record.workflow());
    if (definition == nullptr) continue;
    for (int i = 0; i < record.steps_size(); ++i) {
      const auto& step = record.steps(i);
      // The task of an item with a call has the one step that its parent's workflow has for all items.
      const auto of_item = record.parent().call_of() != 0;
      const auto& of = definition->steps(static_cast<int>(of_item ? record.parent().call_of() - 1 : step.definition()));
      if (step.kind() != v1::STEP_KIND_CALL || of.has_for_each() != of_item) continue;
      const auto found = sums.find({record.number(), static_cast<std::uint32_t>(i)});
      each(record, i, step, of, found == sums.end() ? effects_of_step{} : found->second);
    }
  }
}

}  // namespace

const char* word_of(finding_kind kind) {
  switch (kind) {
    case finding_kind::twice: return "twice";
    case finding_kind::undone_twice: return "undone_twice";
    case finding_kind::standing: return "standing";
    case finding_kind::pivot_undone: return "pivot_undone";
    case finding_kind::missing: return "missing";
    case finding_kind::key_expired: return "key_expired";
    case finding_kind::undo_unknown: return "undo_unknown";
    case finding_kind::stalled: return "stalled";
  }
  return "";
}

std::vector<finding> judge(const stage& on, const run_end& run) {
  std::set<finding> out;
  if (run.word == "stalled") out.insert({finding_kind::stalled, on.workflows.front().name(), {}, {}, {}, false});
  each_step(on, run, [&](const auto& record, int index, const auto& step, const auto& of, const effects_of_step& sum) {
    const auto add = [&](finding_kind kind, const std::string& call) {
      out.insert({kind, record.workflow(), of.name(), of.agent(), call, of.has_for_each()});
    };
    const auto undone = is_undone(on, run, record);
    if (sum.twice || (!of.has_repeat() && sum.live > 1)) add(finding_kind::twice, of.call());
    if (sum.undo_again) add(finding_kind::undone_twice, of.undo().call());
    if (undone && of.pivot() && sum.live > 0) add(finding_kind::pivot_undone, of.call());
    if (undone && of.has_undo() && !of.undo().none() && sum.live > 0) add(finding_kind::standing, of.call());
    if (step.state() == v1::STEP_STATE_COMPLETED && sum.performed - sum.undone <= 0) add(finding_kind::missing, of.call());
    // One that can deny was asked in vain: its service was down for too long, which no contract prevents.
    const auto can_tell = on.promised.of(of.agent(), of.call()).denies;
    for (const auto& one : run.stuck)
      if (one.task_number == record.number() && one.step == static_cast<std::uint32_t>(index) && (one.of_undo || !can_tell))
        add(one.code == "key_expired" ? finding_kind::key_expired : finding_kind::undo_unknown, one.of_undo ? of.undo().call() : of.call());
  });
  return {out.begin(), out.end()};
}

std::vector<std::string> left_as_said(const stage& on, const run_end& run) {
  std::vector<std::string> out;
  const auto add = [&](const v1::TaskRecord& record, const v1::StepDefinition& of) {
    if (!of.undo().none() || of.pivot() || of.finally() != v1::FINALLY_NO) return;
    const auto name = (&on.workflows.front() == on.definition_of(record.workflow()) ? "" : record.workflow() + ".") + of.name();
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  };
  each_step(on, run, [&](const auto& record, int, const auto&, const auto& of, const effects_of_step& sum) {
    if (sum.live == 0) return;
    if (whole_of(run, record).state() == v1::TASK_STATE_UNDONE) add(record, of);
    // What a sub-workflow has done, however deep below, is left by the step that says so of the whole of it.
    for (const auto* child = &record; child->has_parent();) {
      const auto* parent = task_of(run, child->parent().number());
      const auto* begun_by = parent == nullptr ? nullptr : step_that_began(on, *parent, *child);
      if (begun_by == nullptr) return;
      if (begun_by->kind() == v1::STEP_KIND_WORKFLOW && parent->state() == v1::TASK_STATE_UNDONE && child->state() != v1::TASK_STATE_UNDONE)
        add(*parent, *begun_by);
      child = parent;
    }
  });
  return out;
}

std::string sentence_of(const finding& what, const contract& promised) {
  const auto played = "; " + call_of(what) + " " + words_of(promised);
  switch (what.kind) {
    case finding_kind::twice: return "The effect of " + name_of(what) + " can happen twice" + played + ".";
    case finding_kind::undone_twice: return "The undo of " + name_of(what) + " can happen twice" + played + ".";
    case finding_kind::standing: return "The task can be undone although the effect of " + name_of(what) + " is still there" + played + ".";
    case finding_kind::pivot_undone: return "The task can be undone although its pivot, " + name_of(what) + ", has happened" + played + ".";
    case finding_kind::missing: return "The task can complete " + name_of(what) + " although its effect is missing" + played + ".";
    case finding_kind::key_expired:
      return "An operator is needed: " + name_of(what) + " can be in doubt for longer than " + call_of(what) + " honours its key (" +
             format_duration(promised.valid_for_ms) + ").";
    case finding_kind::undo_unknown:
      return "An operator is needed: the undo of " + name_of(what) +
             " reads the output of the step, and nobody knows it when the step is in doubt" + played + ".";
    case finding_kind::stalled:
      return "A task of workflow " + what.workflow +
             " can stay without an end, and nothing tells an operator; the endings say where it stops.";
  }
  return {};
}

std::string remedy_of(const finding& what, const contract& promised) {
  const auto look_up = "declare a look-up for " + call_of(what);
  const auto honour = "let the service of " + call_of(what) + " honour Idempotency-Key";
  switch (what.kind) {
    case finding_kind::twice:
      return !promised.honours_keys ? honour + "; or set in_doubt: park (or fail) at the step, and an agent without retries of its own"
                                    : "raise idempotency.valid_for of " + call_of(what);
    case finding_kind::undone_twice: return honour;
    case finding_kind::standing:
      return !promised.honours_keys ? honour + ", so that a perform that comes after its undo has no effect; or " + look_up
                                    : "remember undone keys at the service of " + call_of(what);
    case finding_kind::pivot_undone:
    case finding_kind::missing: return "report this as a bug of Fairlead";
    case finding_kind::key_expired:
      return look_up + (promised.looks_up ? " that can say never_happened" : "") +
             "; or raise idempotency.valid_for above the time for which the step is retried (retry_for, attempts)";
    case finding_kind::undo_unknown:
      return (promised.looks_up ? "let the look-up of " + call_of(what) + " find every perform" : look_up) +
             "; or let the undo name what the step makes by something known before, such as ${ .task.id }";
    case finding_kind::stalled:
      return "lower repeat.max if the task goes on because it repeats a step very often, and let a workflow that begins itself stop "
             "by a when or an empty list; otherwise report this as a bug of Fairlead";
  }
  return {};
}

}  // namespace fairlead::app::simulate
