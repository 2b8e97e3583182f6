#pragma once
// What an operator can do to a task, one row a verb. The command line, its help, the console's short forms and its completion follow from it.

#include <algorithm>
#include <iterator>
#include <string_view>

#include "messages/api.pb.h"

namespace fairlead::app {

struct task_verb {
  const char* word;
  v1::OperatorVerb verb;  // of `settle`: the one that its options lead to otherwise
  enum class step { none, may_be_named, must_be_named } step = step::none;
  bool needs_reason = false;
  bool mends = false;  // is for parked tasks
  const char* help;
  const char* short_help;  // in the console's overview
};

inline constexpr task_verb task_verbs[] = {
    {"retry", v1::OPERATOR_VERB_RETRY, task_verb::step::may_be_named, false, true,
     "Give steps that were given up a new round of attempts, try waiting ones at once, and let a parked task go on",
     "Give steps that were given up a new round of attempts"},
    {"skip", v1::OPERATOR_VERB_SKIP, task_verb::step::must_be_named, true, true,
     "Go on without a step: its output is null. In a task that is being undone, pass the undo of a step over", "Go on without a step"},
    {"settle", v1::OPERATOR_VERB_SETTLE_COMPLETED, task_verb::step::must_be_named, true, true, "Say how a step in doubt turned out",
     "Say how a step in doubt turned out"},
    {"undo", v1::OPERATOR_VERB_UNDO, task_verb::step::none, false, false, "Take back what a running or completed task has done",
     "Take back what a task has done"},
    {"cancel", v1::OPERATOR_VERB_CANCEL, task_verb::step::none, false, false,
     "Stop a pending or running task, and take back what it has done", "Stop a task, and take back what it has done"},
    {"pause", v1::OPERATOR_VERB_PAUSE, task_verb::step::none, false, false, "Start nothing new in a task until it is resumed",
     "Start nothing new in a task"},
    {"resume", v1::OPERATOR_VERB_RESUME, task_verb::step::none, false, false, "Let a paused task go on", "Let a paused task go on"},
};

/// Null: there is no such verb.
inline const task_verb* find_task_verb(std::string_view word) {
  const auto* found = std::find_if(std::begin(task_verbs), std::end(task_verbs), [&](const task_verb& one) { return one.word == word; });
  return found == std::end(task_verbs) ? nullptr : found;
}

}  // namespace fairlead::app
