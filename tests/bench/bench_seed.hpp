#pragma once
// Fills a store with tasks of another time, so that the load runs on a large one.

#include <cstdint>
#include <string>

#include "messages/workflow.pb.h"

namespace fairlead::bench {

/// Finished tasks as they stand after their run, and live ones whose first step has failed and waits for the moment `live_due_unix_ms` (0: ten
/// days ahead). Written in batches through the store itself, rows, indexes and counters as in production.
void seed_store(const std::string& directory, const v1::WorkflowDefinition& definition, std::uint64_t finished, std::uint64_t live,
                std::int64_t live_due_unix_ms = 0);

}  // namespace fairlead::bench
