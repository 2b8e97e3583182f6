#pragma once
// Keeps the alert that says which other nodes of a replicated shard have been away, or behind, for a while, and raises one for each store that was
// damaged. One thread.

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "actors/alerts/book.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/scheduler/commit/pipeline.hpp"
#include "messages/error.hpp"
#include "messages/status.pb.h"
#include "messages/time.hpp"

namespace fairlead {

class replica_watch {
 public:
  static constexpr duration period = std::chrono::seconds{5};  // between two looks

  /// `after`: for how long a node must be away or behind. The other arguments must outlive the replica_watch.
  replica_watch(commit_pipeline& batches, alert_book& alerts, observer& log, const clock& time, duration after)
      : batches_(batches), alerts_(alerts), log_(log), time_(time), after_(after) {}

  bool is_due() const { return time_.steady() >= next_look_; }
  /// `seen`: what this node says, which leads the shard. Raises the alert, raises another when more nodes are away, and resolves it when none is.
  status look(const v1::ReplicationStatus& seen);

 private:
  void tell_damage(const v1::ReplicationStatus& seen);
  status resolve();
  status tell(const v1::ReplicationStatus& seen, const std::map<std::string, std::string>& lacking);

  commit_pipeline& batches_;
  alert_book& alerts_;
  observer& log_;
  const clock& time_;
  const duration after_;
  moment next_look_;                     // by the steady clock
  std::map<std::string, moment> since_;  // when a node was first seen lacking, by the steady clock
  std::set<std::string> told_;           // nodes that the alert names
  bool inherited_ = true;                // an alert that is there is that of a Scheduler before this one: it may name any nodes
};

}  // namespace fairlead
