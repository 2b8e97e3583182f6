#pragma once
// Long polls on tasks: each entry waits for the next events of one task, until a given moment. One thread.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "messages/api.pb.h"
#include "messages/time.hpp"
#include "store/store.hpp"

namespace fairlead {

class watches {
 public:
  static constexpr duration longest_wait{30'000};

  struct entry {
    std::uint64_t ticket = 0;
    std::uint64_t after_sequence = 0;
    std::int64_t after_progress_unix_ms = 0;  // 0: only events count
    moment until;
  };
  struct answer {
    std::uint64_t ticket = 0;
    v1::WatchReply reply;
  };

  bool empty() const noexcept { return by_task_.empty(); }
  bool has(std::uint64_t task_number) const { return by_task_.count(task_number) != 0; }

  void add(std::uint64_t task_number, entry who) { by_task_[task_number].push_back(who); }

  /// Answers the polls whose task has newer events in `now_committed`, or progress that they ask for.
  void look(std::uint64_t task_number, const store::snapshot& now_committed, std::vector<answer>& out);

  /// Answers the polls whose time is over, without events.
  void expire(moment now, const store::snapshot& now_committed, std::vector<answer>& out);

  /// The reply for one task as it is in `from`: `events` newer than `after_sequence`, `progress` of the attempts in progress.
  static v1::WatchReply describe(std::uint64_t task_number, std::uint64_t after_sequence, const store::snapshot& from);

  /// Whether the reply holds events, an error, or progress later than `after_progress_unix_ms` (0: progress does not count).
  static bool has_news(const v1::WatchReply& reply, std::int64_t after_progress_unix_ms);

 private:
  std::unordered_map<std::uint64_t, std::vector<entry>> by_task_;
};

}  // namespace fairlead
