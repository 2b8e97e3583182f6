#pragma once
// No silent stall: every live task has a wake-up, that is a moment in its row and an entry in the due index. Questions over snapshots; whoever
// finds something asks the Scheduler for repair.
//
// Rows, entries and counters change in one transaction, so within one snapshot they must agree: what does not is damage, never work in transit.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actors/protocol/ports.hpp"
#include "store/store.hpp"

namespace fairlead {

/// A task that must be woken by time, or a wake-up that nobody needs.
struct wake_up_finding {
  std::uint64_t number = 0;
  std::string task_id;   // empty: there is no such task
  std::string sentence;  // what is wrong
};

/// Running or undoing, neither parked nor paused: it is for Fairlead to bring it on.
bool is_live(const v1::TaskRecord& record);

/// It is live, or some attempt of it is out whose lease will end.
bool needs_wake_up(const v1::TaskRecord& record);

/// Since when nothing has happened in the task.
std::int64_t last_progress_unix_ms(const v1::TaskRecord& record);

/// It is live, and some step of it may wait for what is inside the process: by its row no agent is at work for it and no moment is set, or nothing
/// has happened in it since that moment though something is under way. Or the wall clock was set back since, and some moment in its row may lie too
/// far away.
bool may_wait_in_vain(const v1::TaskRecord& record, std::int64_t quiet_since_unix_ms, std::int64_t now_unix_ms);

/// One pass over all rows of tasks, then over all entries of the due index; a part at a time, each over a snapshot of its own.
class wake_up_sweep {
 public:
  /// Looks at up to `rows` rows or entries. True: there are more.
  result<bool> step(const store::snapshot& view, std::size_t rows, std::vector<wake_up_finding>& found,
                    const std::function<void(const v1::TaskRecord&)>& each_task = {});

 private:
  result<bool> step_tasks(const store::snapshot& view, std::size_t rows, std::vector<wake_up_finding>& found,
                          const std::function<void(const v1::TaskRecord&)>& each_task);
  result<bool> step_entries(const store::snapshot& view, std::size_t rows, std::vector<wake_up_finding>& found);

  bool tasks_done_ = false;
  std::string from_;  // the key to go on with
};

/// Compares counters, which costs next to nothing; only when they disagree it sweeps for the tasks at fault.
class stall_check {
 public:
  explicit stall_check(duration scan_period) : scan_period_(scan_period) {}

  struct answer {
    bool more = false;                       // a sweep is under way: look again soon
    std::optional<std::string> unexplained;  // a sweep has ended without a finding, though the counters disagree
  };

  result<answer> look(const store::snapshot& view, moment now, std::vector<wake_up_finding>& found);

 private:
  /// How far the counters are from what they must be. All zero: there is nothing to look for.
  struct disagreement {
    std::int64_t entries = 0;    // in the due index beyond those accounted for
    std::int64_t sleepless = 0;  // live tasks beyond the wake-ups accounted for
    friend bool operator==(const disagreement&, const disagreement&) = default;
  };
  static disagreement compare(const store::snapshot& view);
  bool rests(const disagreement& now_seen, moment now) const;

  duration scan_period_;
  std::optional<wake_up_sweep> sweep_;
  std::size_t found_ = 0;                      // by the present sweep
  std::optional<moment> swept_at_;             // the last one ended
  std::optional<disagreement> not_explained_;  // by the last one
};

/// A slow round over the due index, where all live tasks are.
class progress_round {
 public:
  /// Looks at up to `entries` entries. Whoever has gone longest without progress, once a round is complete. Entries that are wrong are found
  /// here too, also when a lost and a surplus one leave the counters in order.
  /// `waiting`: the Scheduler has to say whether somebody was asked for what these wait for (may_wait_in_vain).
  result<std::optional<stalest_task>> step(const store::snapshot& view, std::size_t entries, std::int64_t now_unix_ms,
                                           std::int64_t quiet_ms, std::vector<wake_up_finding>& found, std::vector<std::uint64_t>& waiting);

 private:
  bool under_way_ = false;
  std::string from_;
  std::string to_;  // what was last when the round began: entries that move on and on must not keep it from ending
  stalest_task stalest_;
};

}  // namespace fairlead
