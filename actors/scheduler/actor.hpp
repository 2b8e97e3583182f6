#pragma once
// The Scheduler in CAF: translates messages, holds the handles behind instances, tickets and subscribers, and keeps its reminders armed.

#include <functional>
#include <memory>

#include "actors/protocol/handles.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "actors/supervision/supervised.hpp"
#include "store/store.hpp"

namespace fairlead {

struct scheduler_setup {
  std::uint32_t shard = 0;
  const clock* time = nullptr;
  const store::store* reads = nullptr;
  observer* log = nullptr;
  const core::workflow_engine* engine = nullptr;
  scheduler_limits limits;
  planted_faults faults;
  commit_actor commits;
  replica_actor replica;                               // asked who leads; null: the shard lives on this node alone
  std::function<v1::ReplicationStatus()> replication;  // what the replica knows; empty: as above. From any thread
  /// Asks the expression worker. The EvaluateReply is sent to the Scheduler, from any thread. For the returned pointer see
  /// scheduler_outbox.
  std::function<std::weak_ptr<const void>(const scheduler_actor& asker, v1::EvaluateRequest)> evaluate;
  fatal_handler on_fatal;
  std::uint64_t epoch = 0;  // raised durably before the Scheduler is spawned
};

class scheduler_shell;

struct scheduler_state {
  std::shared_ptr<scheduler_shell> shell;
  static inline const char* name = "scheduler";
};

scheduler_actor::behavior_type run_scheduler(supervised_stateful_pointer<scheduler_actor, scheduler_state> self, scheduler_setup setup);

}  // namespace fairlead
