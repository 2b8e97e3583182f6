#pragma once
// Counts of the Scheduler's work since its start.

#include <cstdint>

#include "actors/core/distribution.hpp"
#include "actors/core/task/decision.hpp"
#include "messages/api.pb.h"

namespace fairlead {

struct traffic_counts {
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;
  std::uint64_t undone = 0;
  std::uint64_t failed = 0;
  std::uint64_t parked = 0;
  std::uint64_t steps_completed = 0;
  std::uint64_t steps_failed = 0;
  std::uint64_t steps_expired = 0;
  std::uint64_t steps_undone = 0;
  std::uint64_t handed_over = 0;
  std::uint64_t misdirected = 0;
  core::distribution step_ms;
  core::distribution task_ms;

  /// Counts `made`, the decision about the event `what`.
  void count(const core::event& what, const core::decision& made, const v1::TaskRecord& record);

  v1::Traffic to_proto() const;
};

}  // namespace fairlead
