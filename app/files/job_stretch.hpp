#pragma once
// Which skipped times of a job a node would launch after all.

#include <cstdint>
#include <optional>

#include "messages/job.pb.h"

namespace fairlead::app {

/// As `job backfill` takes it: both ends are meant.
struct job_stretch {
  std::int64_t from_unix_ms = 0;
  std::int64_t to_unix_ms = 0;
  bool whole = true;  // false: there is more before it than can be launched at a time
};

/// The newest stretch of the latest launches that holds skips a person may want to have launched, none that were meant, nothing beyond now, and no
/// more times than a node takes at once. Nothing while the mark is ahead of now: the clock may have been wrong, and a rewind comes first.
std::optional<job_stretch> stretch_to_backfill(const v1::JobShowReply& reply, std::int64_t now_unix_ms);

}  // namespace fairlead::app
