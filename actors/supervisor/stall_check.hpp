#pragma once
// No silent stall: every live task has a wake-up, that is a moment in its row and an entry in the due index. Queries over snapshots;
// callers ask the Scheduler to repair the findings.
//
// Rows, entries and counters change in one transaction, so within one snapshot they must agree: a disagreement is damage, never work in
// transit.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actors/protocol/ports.hpp"
#include "store/store.hpp"

namespace fairlead {

/// A task without the wake-up that it needs, or a wake-up that no task needs.
struct wake_up_finding {
  std::uint64_t number = 0;
  std::string task_id;   // empty: there is no such task
  std::string sentence;  // what is wrong
};

/// Running or undoing, neither parked nor paused: Fairlead must bring the task forward.
bool is_live(const v1::TaskRecord& record);

/// The task is live, or has an attempt in progress whose lease will end.
bool needs_wake_up(const v1::TaskRecord& record);

/// The moment of the task's last progress.
std::int64_t last_progress_unix_ms(const v1::TaskRecord& record);

/// The task is live, and one of its steps may wait for something inside the process: its row shows no agent at work and no moment, or
/// something is in progress but nothing has happened since `quiet_since_unix_ms`. Or the wall clock was set back, and a moment in the row
/// may lie too far ahead.
bool may_wait_in_vain(const v1::TaskRecord& record, std::int64_t quiet_since_unix_ms, std::int64_t now_unix_ms);

/// One pass over all rows of tasks, then over all entries of the due index; a part at a time, each over a snapshot of its own.
class wake_up_sweep {
 public:
  /// Reads up to `rows` rows or entries. True: there are more.
  result<bool> step(const store::snapshot& view, std::size_t rows, std::vector<wake_up_finding>& found,
                    const std::function<void(const v1::TaskRecord&)>& each_task = {});

 private:
  result<bool> step_tasks(const store::snapshot& view, std::size_t rows, std::vector<wake_up_finding>& found,
                          const std::function<void(const v1::TaskRecord&)>& each_task);
  result<bool> step_entries(const store::snapshot& view, std::size_t rows, std::vector<wake_up_finding>& found);

  bool tasks_done_ = false;
  std::string from_;  // key at which the sweep goes on
};

/// Compares counters, which costs next to nothing; sweeps for the tasks at fault only if the counters disagree.
class stall_check {
 public:
  explicit stall_check(duration scan_period) : scan_period_(scan_period) {}

  struct answer {
    bool more = false;                       // a sweep is in progress: call again soon
    std::optional<std::string> unexplained;  // a sweep has ended without a finding, though the counters disagree
  };

  result<answer> look(const store::snapshot& view, moment now, std::vector<wake_up_finding>& found);

 private:
  /// How far the counters are from the required values. All zero: nothing to look for.
  struct disagreement {
    std::int64_t entries = 0;    // in the due index beyond those accounted for
    std::int64_t sleepless = 0;  // live tasks beyond the wake-ups accounted for
    friend bool operator==(const disagreement&, const disagreement&) = default;
  };
  static disagreement compare(const store::snapshot& view);
  bool rests(const disagreement& now_seen, moment now) const;

  duration scan_period_;
  std::optional<wake_up_sweep> sweep_;
  std::size_t found_ = 0;                      // by the current sweep
  std::optional<moment> swept_at_;             // end of the last sweep
  std::optional<disagreement> not_explained_;  // by the last sweep
};

/// A slow round over the due index, which holds all live tasks.
class progress_round {
 public:
  /// Reads up to `entries` entries. Returns the task that has gone longest without progress, once a round is complete. Wrong entries are
  /// found here, too, even if a lost and a surplus entry leave the counters in order.
  /// `waiting`: tasks of which the Scheduler must say whether their input or slot was asked for (may_wait_in_vain).
  result<std::optional<stalest_task>> step(const store::snapshot& view, std::size_t entries, std::int64_t now_unix_ms,
                                           std::int64_t quiet_ms, std::vector<wake_up_finding>& found, std::vector<std::uint64_t>& waiting);

 private:
  bool under_way_ = false;
  std::string from_;
  std::string to_;  // last key when the round began: entries that keep moving must not prolong the round
  stalest_task stalest_;
};

}  // namespace fairlead
