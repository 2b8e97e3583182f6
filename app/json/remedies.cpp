#include "app/json/remedies.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "actors/core/items/items.hpp"
#include "actors/core/task/decision.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/workflow/check_kinds.hpp"
#include "actors/core/workflow/finally.hpp"
#include "actors/core/workflow/workflow.hpp"
#include "messages/task_states.hpp"

namespace fairlead::app {

namespace {

/// Names of steps made by a loop contain `[` and `#`, which are special in a shell.
std::string shell_word(const std::string& text) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view{"._:@/~-"}.find(static_cast<char>(c)) != std::string_view::npos;
  };
  // At the beginning of a word the shell puts a home folder in the place of `~`.
  if (!text.empty() && text.front() != '~' && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return out + "'";
}

/// The last attempt has ended, and no other attempt is planned.
bool at_rest(const v1::StepRecord& step) { return step.complete_by_unix_ms() == 0 && step.not_before_unix_ms() == 0; }

/// The parking reason contains `step PATH` if the step could not begin because its input could not
/// be computed.
bool named(const v1::TaskRecord& task, const v1::StepRecord& step) {
  const auto words = "step " + step.path();
  const auto& reason = task.parked_reason();
  const auto at = reason.find(words);
  if (at == std::string::npos) return false;
  const auto after = at + words.size();
  return after == reason.size() || reason[after] == ':' || reason[after] == ' ' || reason[after] == ',';
}

bool stuck_forward(const v1::TaskRecord& task, const v1::StepRecord& step) {
  return step.given_up() || (step.state() == v1::STEP_STATE_PENDING && named(task, step));
}

/// A step that failed for good before the undo began is given up too, but needs no decision.
bool stuck_backward(const v1::StepRecord& step) {
  if (step.state() == v1::STEP_STATE_UNDONE || step.state() == v1::STEP_STATE_SKIPPED) return false;
  return step.given_up() && (step.direction() != v1::DIRECTION_PERFORM || in_doubt(step));
}

/// Whether the step was carried out, or may have been, so that an undo concerns it.
bool may_have_happened(const v1::StepRecord& step) {
  switch (step.state()) {
    case v1::STEP_STATE_COMPLETED:
    case v1::STEP_STATE_RUNNING:
    case v1::STEP_STATE_IN_DOUBT:
    case v1::STEP_STATE_UNDOING: return true;
    case v1::STEP_STATE_UNDONE:
    case v1::STEP_STATE_SKIPPED: return false;
    default: return step.doubtful() || step.rounds() > 0 || child_stands(step);
  }
}

bool every_step_can_be_undone(const v1::TaskRecord& task, const v1::WorkflowDefinition& definition) {
  return std::all_of(task.steps().begin(), task.steps().end(), [&](const v1::StepRecord& step) {
    if (!may_have_happened(step)) return true;
    if (step.definition() >= static_cast<std::uint32_t>(definition.steps_size())) return false;
    const auto& defined = definition.steps(static_cast<int>(step.definition()));
    return core::is_of_end(defined) || (core::says_how_it_is_undone(defined) && !defined.pivot());
  });
}

/// Null: the definition is not known.
const v1::StepDefinition* defined_by(const v1::StepRecord& step, const v1::WorkflowDefinition& definition) {
  const auto index = static_cast<int>(step.definition());
  return index < definition.steps_size() ? &definition.steps(index) : nullptr;
}

/// Steps of the end are performed also while the task is undone.
bool may_be_performed(const v1::TaskRecord& task, const v1::StepDefinition* definition) {
  return task.state() == v1::TASK_STATE_RUNNING ||
         (task.state() == v1::TASK_STATE_UNDOING && definition != nullptr && core::is_of_end(*definition));
}

/// The steps that wait for a signal now, the first of each signal: it is the one that takes it.
std::vector<int> steps_with_signals(const v1::TaskRecord& task, const v1::WorkflowDefinition& definition) {
  std::vector<int> out;
  std::set<std::string> seen;
  for (int i = 0; i < task.steps_size(); ++i) {
    const auto& step = task.steps(i);
    const auto* const found = defined_by(step, definition);
    const auto waits = may_be_performed(task, found) && step.state() == v1::STEP_STATE_PENDING && step.not_before_unix_ms() != 0;
    if (waits && found != nullptr && found->kind() == v1::STEP_KIND_SIGNAL && seen.insert(found->signal()).second) out.push_back(i);
  }
  return out;
}

/// The node cannot use the version of the workflow that the task needs. The Scheduler then accepts
/// only a retry.
bool unusable_version(const v1::TaskRecord& task) { return task.parked_reason().rfind(core::unusable_version_words, 0) == 0; }

/// Everything is done but the output, which could not be computed or is too large.
bool lacks_output(const v1::TaskRecord& task) { return task.parked_reason().starts_with("the output of the task: "); }

class remedy_list {
 public:
  explicit remedy_list(const v1::TaskRecord& task) : id_(shell_word(task.id())) {}

  void add(const std::string& verb, const std::string& rest, std::string effect) {
    found_.push_back({"fairlead task " + verb + " " + id_ + (rest.empty() ? "" : " " + rest), std::move(effect)});
  }
  void add_other(std::string command, std::string effect) { found_.push_back({std::move(command), std::move(effect)}); }

  void completed(const std::string& step, const std::string& then) {
    add("settle", step + " --completed JSON --reason TEXT", "if the step was carried out, with this output" + then);
  }
  void never_happened(const std::string& step, const std::string& then) {
    add("settle", step + " --never-happened --reason TEXT", "if the step was not carried out and will not be: " + then);
  }

  void signal(const v1::StepRecord& step, const std::string& signal) {
    add("signal", signal + " --data JSON", "gives step " + step.path() + " what it waits for");
  }

  void output() {
    add("retry", "", "computes the output of the task again");
    add("settle", "--output JSON --reason TEXT", "completes the task with this output");
  }

  void terminate() { add("terminate", "--reason TEXT", "ends the task as failed: what it has done stays"); }

  void next_round(const v1::StepRecord& step) { add("retry", shell_word(step.path()), "begins the next round of the step at once"); }

  /// Commands for the task of another id.
  void look_at_child(const v1::StepRecord& step) {
    add_other("fairlead task show " + shell_word(step.child().id()), "shows what helps the task of step " + step.path());
  }
  void undo_child(const v1::StepRecord& step) {
    add_other("fairlead task undo " + shell_word(step.child().id()), "undoes what the task of step " + step.path() + " has done");
  }

  /// `definition`: null if it is not known.
  void forward(const v1::StepRecord& step, const v1::StepDefinition* definition) {
    const auto kind = definition == nullptr ? v1::STEP_KIND_CALL : definition->kind();
    const auto repeats = definition != nullptr && definition->has_repeat();
    const auto name = shell_word(step.path());
    // Until its task is undone the step is neither retried nor skipped.
    const auto blocked = !step.has_items() || core::count_items(step.items()).left_behind > 0;
    if (step.state() == v1::STEP_STATE_FAILED && step.child().stands() && blocked) {
      if (step.fault().code() != core::child_gone_code) undo_child(step);
      return completed(name, "");
    }
    if (in_doubt(step)) {
      add("retry", name, "retries the step with the same idempotency key; a service that remembers keys does it once");
      completed(name, "");
      never_happened(name, "the step can be tried again with a new key");
      return;
    }
    if (kind == v1::STEP_KIND_SIGNAL) {
      add("retry", name, "has the step wait for its signal once more");
    } else {
      const auto* const effect = repeats && step.fault().code() == core::out_of_rounds_code ? "repeats the step as often again"
                                                                                            : "gives the step a new round of attempts";
      if (step.has_items()) {
        if (!step.child().id().empty()) look_at_child(step);
        add("retry", name, "begins the items that have failed again, and goes on with those that have not begun");
        completed(name, "");
        // With items that are completed, nothing would undo them any more.
        if (!step.child().stands()) add("skip", name + " --reason TEXT", "goes on without the step: its output is null");
        return;
      }
      if (kind == v1::STEP_KIND_WORKFLOW)
        add("retry", name, "begins another task of workflow " + definition->workflow());
      else if (step.state() != v1::STEP_STATE_PENDING)
        add("retry", name, effect);
      add("retry", name + " --input JSON", repeats ? "performs another round with this input" : effect_of_input(kind));
    }
    if (step.until_open())
      add("settle", name + " --completed JSON --reason TEXT", "ends the rounds: completes the step with this output");
    else if (step.state() == v1::STEP_STATE_FAILED)
      completed(name, "");
    add("skip", name + " --reason TEXT", "goes on without the step: its output is null");
  }

  void backward(const v1::StepRecord& step, const v1::StepDefinition* definition) {
    const auto name = shell_word(step.path());
    if (in_doubt(step)) {
      const auto no_way_back = definition != nullptr && (definition->pivot() || !core::says_how_it_is_undone(*definition));
      // If the undo was already tried, an output comes too late to be used.
      if (step.state() == v1::STEP_STATE_IN_DOUBT)
        completed(name, no_way_back ? "; the task cannot be undone any more then, and stops" : "; its undo follows");
      never_happened(name, "the step needs no undo");
      add("retry", name, "repeats the look-up and the undo");
      return;
    }
    if (!step.child().id().empty()) look_at_child(step);
    add("retry", name,
        step.has_items()   ? "tries to undo those items again that could not be undone"
        : step.has_child() ? "tries to undo the task of the step again"
                           : "gives the undo of the step a new round of attempts");
    add("skip", name + " --reason TEXT", "skips the undo of the step: what the step did stays done");
  }

  std::vector<remedy> take() { return std::move(found_); }

 private:
  static const char* effect_of_input(v1::StepKind kind) {
    switch (kind) {
      case v1::STEP_KIND_VALUE: return "completes the step with this output";
      case v1::STEP_KIND_WAIT: return "waits for this duration or until this time, such as '\"10m\"'";
      case v1::STEP_KIND_WORKFLOW: return "begins another task with this input";
      default: return "retries the step with another input";
    }
  }

  std::string id_;
  std::vector<remedy> found_;
};

}  // namespace

bool in_doubt(const v1::StepRecord& step) { return step.doubtful() || step.state() == v1::STEP_STATE_IN_DOUBT; }

bool can_be_undone(const v1::TaskRecord& task, const v1::WorkflowDefinition& definition) {
  const bool live = task.state() == v1::TASK_STATE_PENDING || task.state() == v1::TASK_STATE_RUNNING;
  return live && every_step_can_be_undone(task, definition);
}

bool between_rounds(const v1::TaskRecord& task, const v1::StepRecord& step, const v1::StepDefinition& definition) {
  return definition.has_repeat() && may_be_performed(task, &definition) && step.state() == v1::STEP_STATE_PENDING &&
         step.not_before_unix_ms() != 0;
}

std::vector<int> stuck_steps(const v1::TaskRecord& task) {
  std::vector<int> out;
  if (!task.parked()) return out;
  const bool undoing = task.state() == v1::TASK_STATE_UNDOING;
  for (int i = 0; i < task.steps_size(); ++i) {
    const auto& step = task.steps(i);
    if (at_rest(step) && (undoing || step.dropped() ? stuck_backward(step) : stuck_forward(task, step))) out.push_back(i);
  }
  return out;
}

bool cooling_off(const v1::TaskRecord& task, int step) {
  if (task.steps(step).not_before_unix_ms() == 0) return false;
  for (auto event = task.recent().rbegin(); event != task.recent().rend(); ++event)
    if (event->step() == static_cast<std::uint32_t>(step) + 1) return event->kind() == v1::EVENT_KIND_STEP_COOLING_OFF;
  return false;
}

std::vector<remedy> remedies_of(const v1::TaskRecord& task, const v1::WorkflowDefinition& definition) {
  remedy_list out{task};
  if (task.paused()) out.add("resume", "", "lets the task go on");
  if (task.undo_held()) {
    out.add_other("fairlead brake release", "lets the undo of all held tasks go on");
    out.add("retry", "", "gives failed steps a new round of attempts instead of the undo");
    if (can_be_undone(task, definition)) out.add("undo", "", "undoes this task although the brake is on");
  }
  if (!task.parked()) {
    for (int i = 0; i < task.steps_size(); ++i)
      if (cooling_off(task, i)) out.add("retry", shell_word(task.steps(i).path()), "retries the step at once");
    for (const auto& step : task.steps()) {
      const auto* const found = defined_by(step, definition);
      if (found != nullptr && between_rounds(task, step, *found)) out.next_round(step);
    }
    for (const auto& step : task.steps())
      if (core::waits_for_callback(step)) out.forward(step, defined_by(step, definition));
    for (const auto i : steps_with_signals(task, definition)) out.signal(task.steps(i), defined_by(task.steps(i), definition)->signal());
    return out.take();
  }
  if (unusable_version(task)) {
    out.add("retry", "", "lets the task go on, once the node runs a release that can use the task's version of the workflow");
    out.terminate();
    return out.take();
  }
  for (const auto& step : task.steps())
    if (task.parked_for_child() && step.child().parked()) out.look_at_child(step);
  const bool undoing = task.state() == v1::TASK_STATE_UNDOING;
  const auto stuck = stuck_steps(task);
  for (const auto i : stuck) {
    const auto& step = task.steps(i);
    const auto* const found = defined_by(step, definition);
    const auto of_end = found != nullptr && core::is_of_end(*found);
    (undoing && !of_end) || step.dropped() ? out.backward(step, found) : out.forward(step, found);
  }
  const bool at_output = stuck.empty() && lacks_output(task);
  if (at_output) out.output();
  if (stuck.size() > 1) out.add("retry", "", "gives all of these steps a new round of attempts");
  if (stuck.empty() && !at_output && !task.parked_for_child())
    out.add("retry", "", task.timed_out() ? "lets the task go on, beyond its timeout" : "lets the task go on from its current state");
  if (can_be_undone(task, definition)) out.add("undo", "", "undoes what the task has done");
  out.terminate();
  return out.take();
}

std::vector<remedy> choices_of(const v1::TaskRecord& task, const v1::WorkflowDefinition& definition, bool archived) {
  remedy_list more{task};
  if (has_ended(task.state())) {
    // What its parent goes on with is undone with the parent.
    const auto kept = task.state() == v1::TASK_STATE_UNDONE || (task.has_parent() && task.state() == v1::TASK_STATE_COMPLETED);
    if (!kept && !archived && every_step_can_be_undone(task, definition)) more.add("undo", "", "undoes what the task has done");
    // A child is deleted after its parent.
    if (!task.has_parent()) more.add("delete", "", "deletes the record of the task");
    return more.take();
  }
  if (task.terminated()) {
    more.add("terminate", "--now --reason TEXT", "ends the task without waiting for the attempts in progress");
    return more.take();
  }
  auto out = remedies_of(task, definition);
  if (task.parked()) return out;
  if (!task.paused() && !task.scheduled()) more.add("pause", "", "starts no further step until the task is resumed");
  if (!task.undo_held() && can_be_undone(task, definition)) more.add("cancel", "", "stops the task and undoes what it has done");
  more.terminate();
  for (auto& one : more.take()) out.push_back(std::move(one));
  return out;
}

}  // namespace fairlead::app
