#pragma once
// What the steps of a live task wait for. A step that may go on is held by an agent, waits for a moment that is in its row, or waits for something
// inside the process: its input from the expression worker, or an instance. One that waits for none of these would wait for ever.

#include <cstdint>
#include <vector>

#include "actors/core/task/decision.hpp"

namespace fairlead::core {

enum class awaited {
  input,     // that the expression worker was asked for
  instance,  // a free slot at one
  outcome,   // of an attempt without a lease: nobody will ever say that it is over
  recovery,  // at a moment that is not in the row
  turn,      // to be undone, or ended, though nothing else is under way
};

/// "its input", "an instance of its agent", …
const char* awaited_words(awaited what);

struct step_wait {
  std::uint32_t step = 0;
  v1::Direction direction = v1::DIRECTION_PERFORM;
  awaited what = awaited::turn;
};

/// The waits of a task that neither its agents nor a moment in its row end, step by step. `input` and `instance` are as they should be while
/// somebody inside the process has been asked; of the others each is a fault. Empty for a task that is over, pending, parked, paused or held.
std::vector<step_wait> waits_of(const v1::TaskRecord& record, const workflow& definition, const workflow_engine& engine,
                                const agent_directory& agents);

}  // namespace fairlead::core
