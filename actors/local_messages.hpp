#pragma once
// Messages that never leave the process, so they need no byte format.

#include <cstdint>
#include <vector>

#include "actors/agents/backend.hpp"
#include "store/batch.hpp"

namespace fairlead {

/// Scheduler to store actor: make this durable.
struct commit_request {
  store::batch what;
};

/// Store actor to Scheduler: everything up to `sequence` is durable.
struct committed {
  std::uint64_t sequence = 0;
};

/// An agent's backend to its host: one attempt is over.
struct attempt_finished {
  agents::attempt_key key;
  agents::attempt_result result;
};

/// Archiver to Scheduler: these tasks stand durably in an archive; `erasures` takes them out of the store.
struct archived_tasks {
  store::batch erasures;
  std::uint64_t tasks = 0;
};

}  // namespace fairlead
