#pragma once
// When the attempts of a task began and ended, as its history tells. A history of more than 10,000 events has forgotten the oldest.

#include <cstdint>
#include <string>
#include <vector>

#include "messages/task.pb.h"

namespace fairlead::app {

struct attempt_time {
  std::uint32_t step = 0;  // index
  std::uint32_t attempt = 0;
  v1::Direction direction = v1::DIRECTION_PERFORM;
  std::int64_t began_unix_ms = 0;
  std::int64_t ended_unix_ms = 0;  // 0: it is in progress
  std::string end;                 // completed, failed, in_doubt, expired, undone or settled; empty: it is in progress

  /// 0 while it is in progress, and if the clock was set back meanwhile.
  std::int64_t took_ms() const { return ended_unix_ms > began_unix_ms ? ended_unix_ms - began_unix_ms : 0; }
};

/// In the order in which they began. `record` has its whole history, as TaskShowReply has it.
std::vector<attempt_time> attempt_times(const v1::TaskRecord& record);

/// `2`, or `2 undo`: each direction has its own count.
std::string attempt_word(std::uint32_t attempt, v1::Direction direction);

}  // namespace fairlead::app
