#pragma once
// For whom a replica is asked whether it leads (confirm_atom).

#include <cstdint>
#include <limits>

namespace fairlead {

/// In place of an epoch: for whatever Scheduler has begun under the present lead. The Scheduler of an earlier lead of the same node may not have
/// ended yet; it does not know what counted in between, and must not answer.
inline constexpr std::uint64_t confirm_begun = std::numeric_limits<std::uint64_t>::max();

}  // namespace fairlead
