#pragma once
// Seeds of consensus alone, on all processors, and the faults planted in it.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/simulation/consensus/world.hpp"

namespace fairlead::simulation {

struct consensus_harvest {
  std::vector<std::pair<std::uint64_t, consensus_verdict>> failed;  // by seed
  std::map<std::string, std::uint64_t> counts;
};

/// Runs seeds `first` … first + count - 1, each twice if `twice`: another hash is a failure. Ends early after `most_failures`.
consensus_harvest run_consensus_seeds(const consensus_run& like, std::uint64_t first, std::uint64_t count, bool twice, unsigned threads,
                                      std::size_t most_failures);

/// The same with a summary on the terminal. 0: nothing failed.
int print_consensus_seeds(std::uint64_t first, std::uint64_t count, bool twice, unsigned threads);
int print_consensus_seed(std::uint64_t seed, bool verbose, const std::string& fault);

/// Each planted fault until the judge catches it. 0: all were caught. `from`: the seed where each search begins; 0: one by which the fault was
/// seen once.
int run_planted_consensus(unsigned threads, std::uint64_t from);

}  // namespace fairlead::simulation
