#pragma once
// What is settled for one run about what a node's process does besides its core.

#include <cstdint>
#include <vector>

#include "actors/alerts/target.hpp"
#include "actors/shard/archiver.hpp"

namespace fairlead::simulation {

/// How long what has ended stays, in the store and in the archive.
struct retention_plan {
  bool any = false;
  retention_policy policy;
};

/// Who is to be told of alerts, and when they do not listen.
struct target_plan {
  struct spell {
    std::int64_t from_us = 0;
    std::int64_t to_us = 0;
  };
  alert_target is;
  std::vector<spell> deaf;
};

}  // namespace fairlead::simulation
