#pragma once
// Retry arithmetic: how long to wait before the next attempt.

#include <cstdint>

#include "messages/time.hpp"
#include "messages/workflow.pb.h"

namespace fairlead::core {

/// The seed of a delay's jitter: the same history replays with the same delays.
struct jitter_seed {
  std::uint64_t task_number = 0;
  std::uint32_t step = 0;
  std::uint32_t attempt = 0;
};

/// The wait after the `failures`-th bad end (from 1): exponential and capped, then random within its upper half ("equal jitter": 50 % to
/// 100 % of the capped value), so that tasks that failed together do not retry together. Never negative.
std::int64_t backoff_ms(const v1::Backoff& policy, std::uint32_t failures, const jitter_seed& seed);

/// The same, doubling from `first` to `longest`.
duration backoff_after(std::uint32_t failures, duration first, duration longest, const jitter_seed& seed);

/// Between `least_ms` and 10 % more: spreads a wait that many were given, so that they do not come back in one instant.
std::int64_t spread_ms(std::int64_t least_ms, const jitter_seed& seed);

}  // namespace fairlead::core
