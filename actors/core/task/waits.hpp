#pragma once
// The waits of a live task's steps. A step that may go on is held by an agent, waits for a moment in its row, or waits for something inside
// the process: its input from the expression worker, or an instance. A step with none of these would wait for ever.

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/core/task/decision.hpp"

namespace fairlead::core {

enum class awaited {
  input,      // requested from the expression worker
  condition,  // the step's `when`, requested likewise
  list,       // of its `for_each`, requested likewise
  until,      // its `until`, requested likewise
  output,     // of the task, requested likewise
  instance,   // a free slot
  child,      // the end of a task
  outcome,    // of an attempt without a lease: nothing will ever end it
  recovery,   // at a moment that is not in the row
  turn,       // to be undone or ended, although nothing else is in progress
};

/// "its input", "an instance of its agent", …
const char* awaited_words(awaited what);

struct step_wait {
  std::uint32_t step = 0;
  v1::Direction direction = v1::DIRECTION_PERFORM;
  awaited what = awaited::turn;
};

/// What the expression worker evaluates for the wait; nullopt: it waits for something else.
std::optional<v1::ExpressionPart> awaited_part(const step_wait& wait);

/// The waits of a task, step by step, that neither its agents nor a moment in its row will end. Those with an `awaited_part`, and `instance`,
/// are normal while somebody inside the process has been asked; each of the others is a fault. Empty for a task that is over, pending, parked, paused or
/// held.
std::vector<step_wait> waits_of(const v1::TaskRecord& record, const workflow& definition, const workflow_engine& engine,
                                const agent_directory& agents);

}  // namespace fairlead::core
