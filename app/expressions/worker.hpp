#pragma once
// The child side of actors/expressions/pool.hpp: a process that evaluates jq and may die of it.
//
// Descriptor 0 carries requests and descriptor 1 answers, each as a frame: u32 LE size | serialized message. A frame of size 0 from
// the worker means "still at it": one when it is ready, one after each expression it had to compile. A request without a document
// only asks whether its expressions compile.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/expressions/pool.hpp"

namespace fairlead::app {

/// The word that selects this entry in main().
inline constexpr const char* expression_worker_entry = "expression-worker";

/// Serves until its input ends. Limits its own memory, keeps no descriptors but 0, 1 and 2, and dies with its parent. The exit code.
/// `ahead`: expressions that are compiled before anybody asks.
int run_expression_worker(std::uint64_t max_memory_bytes = default_expression_memory_bytes, const std::vector<std::string>& ahead = {});

/// The same with the words behind expression_worker_entry; none when they are not what a node starts a worker with.
std::optional<int> run_expression_worker(int count, const char* const* words);

}  // namespace fairlead::app
