#pragma once
// What must have happened in so many runs with replicas, and which rules must have been asked: a fault or a rule that comes up no more would
// otherwise pass for one that holds.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fairlead::simulation {

inline constexpr std::uint64_t seeds_that_cover_replicas = 10'000;

/// Those that have not, of what did more than a hundred times in 20,000 runs when the list was made.
std::vector<std::string> not_covered(const std::map<std::string, std::uint64_t>& counts,
                                     const std::map<std::string, std::uint64_t>& judged);

}  // namespace fairlead::simulation
