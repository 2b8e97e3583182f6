#pragma once
// The judge of what becomes of tasks that have ended: each is in the store or whole in an archive, and neither leaves before its time. Of a task
// that was deleted nothing is left but its id.
//
// Rules: archive_alive, archive_copy, archive_early, archive_lost, archive_undone, deleted_copy, deleted_unasked, kept_too_short.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "messages/task.pb.h"
#include "store/memory/memory_archive.hpp"
#include "store/store.hpp"
#include "tests/simulation/plans/process_plans.hpp"
#include "tests/simulation/world/clocks.hpp"

namespace fairlead::simulation {

class archive_checker {
 public:
  archive_checker(world& in, const host_clock& of_shard) : world_(in), clock_(of_shard) {}

  /// Those of one more replica. Of several, which carry moves out at their own pace, only the end shows whether they have all.
  /// This replica is none of the shard's any more.
  void forget(const store::memory_archive& of) { std::erase(archives_, &of); }
  void watch(store::memory_archive& archives, const retention_plan& plan);

  /// `before`: each task as it was before these batches.
  void committed(const std::vector<store::batch>& group, const std::map<std::uint64_t, v1::TaskRecord>& before);
  /// Whether this task has left the store for an archive, or is on its way.
  bool has(const std::string& id) const { return gone_.count(id) != 0; }
  std::vector<std::string> ids() const;
  void asks_deletion(const std::string& id) { deletion_asked_.insert(id); }
  /// What has left is where its tombstone says, unless its time was over.
  void judge(const std::string& id, const store::snapshot& durable) const;
  void at_end(const store::snapshot& durable) const;

 private:
  struct gone_task {
    v1::TaskRecord record;  // as it was when it left
    store::archive_day day;
    bool deleted = false;
  };
  void removed(const std::string& id);
  bool anywhere(store::memory_archive& in, std::uint64_t number) const;
  void take(const v1::TaskRecord& record, const v1::TaskTombstone& tombstone);
  void judge_copy(store::memory_archive& in, const gone_task& one) const;
  void dropped(const store::archive_day& which);

  world& world_;
  const host_clock& clock_;
  std::vector<store::memory_archive*> archives_;  // of each replica
  retention_plan plan_;
  std::map<std::string, gone_task> gone_;
  std::set<std::uint64_t> moved_;
  std::set<store::archive_day> dropped_;
  std::set<std::string> deletion_asked_;
};

}  // namespace fairlead::simulation
