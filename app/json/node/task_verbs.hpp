#pragma once
// What is done to a task, one row for each: the operator's actions, and the signal. The command line, its help, and the console's
// short forms and completion use these rows.

#include <algorithm>
#include <iterator>
#include <string_view>

#include "messages/api.pb.h"

namespace fairlead::app {

struct task_verb {
  const char* word;
  v1::OperatorVerb verb;  // for `settle`: the default; its options may select another
  enum class step { none, may_be_named, must_be_named } step = step::none;
  bool needs_reason = false;
  bool mends = false;  // for parked tasks
  const char* help;
  const char* short_help;  // in the console's `help`
  // Given to one task by its id: no action on many tasks, and none of /v1/tasks/{id}/actions.
  bool of_one_task = false;
  bool of_workflow = false;  // no command of `fairlead task`: `fairlead workflow` has it
};

inline constexpr task_verb task_verbs[] = {
    {"retry", v1::OPERATOR_VERB_RETRY, task_verb::step::may_be_named, false, true,
     "Give failed steps a new round of attempts, retry waiting steps at once, and let a parked task go on",
     "Give failed steps a new round of attempts"},
    {"skip", v1::OPERATOR_VERB_SKIP, task_verb::step::must_be_named, true, true,
     "Go on without a step: its output is null. In a task that is being undone, skip the undo of the step", "Go on without a step"},
    // A settlement without a step gives the output of the task.
    {"settle", v1::OPERATOR_VERB_SETTLE_COMPLETED, task_verb::step::may_be_named, true, true,
     "Resolve a step in doubt: say whether it was carried out. Without a step: give the output of a task that cannot compute it",
     "Resolve a step in doubt: say whether it was carried out"},
    {"undo", v1::OPERATOR_VERB_UNDO, task_verb::step::none, false, false,
     "Undo a running, completed or failed task: call the undo of every step that was carried out",
     "Undo a running, completed or failed task"},
    {"cancel", v1::OPERATOR_VERB_CANCEL, task_verb::step::none, false, false, "Stop a pending or running task and undo what it has done",
     "Stop a task and undo what it has done"},
    {"terminate", v1::OPERATOR_VERB_TERMINATE, task_verb::step::none, false, false,
     "End a task as failed: nothing new starts, and what was done stays. The task ends once no attempt is in progress",
     "End a task as failed: what was done stays"},
    {"pause", v1::OPERATOR_VERB_PAUSE, task_verb::step::none, false, false, "Pause a task: no new step starts until the task is resumed",
     "Pause a task: no new step starts"},
    {"resume", v1::OPERATOR_VERB_RESUME, task_verb::step::none, false, false, "Resume a paused task", "Resume a paused task"},
    {"delete", v1::OPERATOR_VERB_DELETE, task_verb::step::none, false, false,
     "Delete the record of an ended task, archived or not: steps, payloads and history. Its id stays taken. This cannot be undone",
     "Delete the record of an ended task"},
    {"signal", v1::OPERATOR_VERB_SIGNAL, task_verb::step::none, false, false,
     "Give a task a signal that a step of it waits for, or will wait for", "Give a task a signal that a step waits for", true},
    {"migrate", v1::OPERATOR_VERB_MIGRATE, task_verb::step::none, false, false,
     "Let tasks go on by another version of their workflow, where the steps that have begun are the same",
     "Let tasks go on by another version of their workflow", false, true},
};

/// Null: the verb is unknown.
inline const task_verb* find_task_verb(std::string_view word) {
  const auto* found = std::find_if(std::begin(task_verbs), std::end(task_verbs), [&](const task_verb& one) { return one.word == word; });
  return found == std::end(task_verbs) ? nullptr : found;
}

}  // namespace fairlead::app
