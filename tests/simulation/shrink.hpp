#pragma once
// Makes a failing run smaller: switches whole concerns off and cuts tasks, steps, orders and faults for as long as the same rule still fails.

#include "tests/simulation/simulation.hpp"

namespace fairlead::simulation {

/// The smallest run found that fails by the same rule as `failing` does, within at most `most_runs` runs.
options shrink(const options& failing, int most_runs = 400);

/// What it takes to run it again: `--seed 7 --without network --tasks 1 …`.
std::string command_line(const options& of);

}  // namespace fairlead::simulation
