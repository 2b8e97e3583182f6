#pragma once
// Many seeds on all processors: worker processes, each with a share of the seeds. A worker that dies itself is a failure of the seed it was at.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/simulation/simulation.hpp"

namespace fairlead::simulation {

struct failed_seed {
  std::uint64_t seed = 0;
  std::string rule;
  std::string sentence;
  bool by_checker = true;
};

struct harvest {
  std::uint64_t seeds = 0;
  std::vector<failed_seed> failed;
  std::map<std::string, std::uint64_t> struck;
  std::map<std::string, std::uint64_t> counts;
  std::map<std::string, std::uint64_t> judged;
  std::uint64_t events = 0;
};

/// Runs `count` seeds from `first` on, each as `like` says. With `twice` each seed runs twice, and another trace hash is a failure. Stops early
/// after `most_failures`.
harvest run_seeds(const options& like, std::uint64_t first, std::uint64_t count, bool twice, unsigned processes,
                  std::uint64_t most_failures);

}  // namespace fairlead::simulation
