#pragma once
// Shows that the checker would see: each fault planted in the production path has to be caught, by a rule and not by an exception.

#include <cstdint>
#include <string>

#include "actors/core/planted_faults.hpp"

namespace fairlead::simulation {

/// Switches one on by name; std::invalid_argument names those there are.
void plant(core::planted_faults& in, const std::string& name);

/// Prints one line for each planted fault. 0 when the checker caught all of them. `from`: the seed where each search begins; 0: one by which the
/// fault was seen once.
int run_planted(unsigned processes, std::uint64_t from);

}  // namespace fairlead::simulation
