#pragma once
// Has finished tasks moved to dated archives in small batches, and archives older than the retention dropped: it chooses, the Scheduler
// commits, and whoever applies the batch to the tables does it. A shell over ports. Ages are measured by the store's retention time
// (core/retention_time.hpp).

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/planted_faults.hpp"
#include "actors/protocol/local_messages.hpp"
#include "actors/protocol/ports.hpp"
#include "store/lmdb/archive.hpp"
#include "store/store.hpp"

namespace fairlead {

struct retention_policy {
  duration archive_after = std::chrono::hours{1};
  duration keep = std::chrono::hours{24 * 30};  // of tasks whose workflow does not set it
};

class archiver {
 public:
  archiver(const clock& time, const store::store& reads, std::shared_ptr<store::archive> archives, retention_policy policy,
           core::planted_faults faults = {})
      : time_(time), reads_(reads), archives_(std::move(archives)), policy_(policy), faults_(faults) {}

  struct pass_result {
    std::optional<archive_rows> moved;  // for the Scheduler to commit
    bool waiting = false;               // the tasks of the previous pass are still in the store
  };

  /// The message that moves the next finished tasks which are old enough: a thousand, or as many as have some MiB together.
  result<pass_result> pass();

  struct erase_result {
    std::optional<archive_rows> done;  // for the Scheduler to commit: erases the rows of the deletions
    std::optional<error> problem;      // an archive cannot be read or written: the rows stay, and the next call tries again
  };
  /// Erases what archives hold of deleted tasks.
  result<erase_result> erase_deleted();

  /// True once a period, however much there is to move: then call `drop_old` and `old_alerts`.
  bool sweep_is_due();

  struct drop_result {
    std::optional<archive_rows> told;  // for the Scheduler to commit; nullopt: there are no archives older than their retention
    std::optional<error> problem;      // an archive was to be dropped before, and is still there
  };
  /// Has archives older than their retention dropped.
  result<drop_result> drop_old();

  /// The rows that erase the next alerts resolved longer ago than the retention; nullopt: none among those read.
  result<std::optional<courier_rows>> old_alerts();

  /// A message without tasks that makes the Scheduler write retention time although nothing else is written. Only while something ages and
  /// the stored retention time is behind.
  result<std::optional<archive_rows>> ask_for_time();

 private:
  struct finished_task {
    std::string key;  // in the index of finished tasks
    v1::TaskRecord record;
    v1::TaskState state = v1::TASK_STATE_COMPLETED;
  };

  enum class last_pass { done, under_way, refused };
  result<last_pass> look_at_last_pass(const store::snapshot& view);
  result<std::vector<finished_task>> next_tasks(const store::snapshot& view);
  result<bool> is_kept_for_parent(const store::snapshot& view, const v1::TaskRecord& task);
  status forget_left_parents(const store::snapshot& view);
  /// The moment to which ages are measured.
  std::int64_t aged_until(const store::snapshot& view) const;
  result<bool> anything_ages(const store::snapshot& view) const;
  result<std::uint32_t> keep_days_of(const store::snapshot& view, const v1::TaskRecord& task);

  const clock& time_;
  const store::store& reads_;
  std::shared_ptr<store::archive> archives_;
  retention_policy policy_;
  core::planted_faults faults_;
  std::vector<std::string> moved_keys_;                                     // of the previous pass, in the index of finished tasks
  std::uint64_t told_epoch_ = 0;                                            // epoch under which its message left
  std::set<std::uint64_t> erased_;                                          // deleted tasks: their rows are to be erased,
  std::uint64_t erased_epoch_ = 0;                                          // by a message that left under this epoch
  std::size_t turn_ = 0;                                                    // the final state that comes first in a pass
  std::optional<moment> swept_at_;                                          // by the steady clock, as are the next two
  std::optional<moment> asked_at_;                                          // last request for retention time
  moment retention_seen_at_{};                                              // first reading of
  std::int64_t retention_seen_ms_ = -1;                                     // this stored retention time
  std::uint64_t alerts_seen_ = 0;                                           // last alert number read in this round
  std::map<std::pair<std::string, std::string>, std::uint32_t> keep_days_;  // by a workflow's name and hash
  std::set<std::uint64_t> kept_;                                            // children that are not looked at
  std::map<std::uint64_t, std::vector<std::uint64_t>> kept_by_;             // while these parents are stored,
  std::uint64_t kept_epoch_ = 0;                                            // as found under this epoch
};

}  // namespace fairlead
