#pragma once
// Fills a store with tasks of another time, so that the load runs on a large one.

#include <cstdint>
#include <string>

#include "messages/workflow.pb.h"

namespace fairlead::bench {

/// Finished tasks as they stand after their run, and live ones whose only step waits for a moment ten days ahead. Written in batches through
/// the store itself, rows and indexes as in production.
void seed_store(const std::string& directory, const v1::WorkflowDefinition& definition, std::uint64_t finished, std::uint64_t live);

}  // namespace fairlead::bench
