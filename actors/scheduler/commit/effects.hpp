#pragma once
// What must leave the Scheduler once a batch is durable, gathered while the batch fills.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/task/decision.hpp"
#include "actors/protocol/ports.hpp"

namespace fairlead {

class effects {
 public:
  std::map<std::string, v1::PerformBatch> performs;         // by instance
  std::map<std::string, v1::OutcomeAckBatch> acknowledged;  // by instance
  std::map<std::string, v1::HeartbeatAckBatch> renewed;     // by instance
  /// To instances: of outcomes that an earlier lineage has left over. Each says of which.
  std::vector<std::pair<std::string, v1::OutcomeAckBatch>> acknowledged_late;
  v1::RecoveryHintBatch hints;
  std::vector<std::pair<std::uint64_t, request_reply>> replies;  // by ticket
  std::optional<std::int64_t> cron_due_unix_ms;                  // the earliest moment at which a job has become due
  std::map<std::uint64_t, v1::FinishedNotice> notices;           // by subscriber

  /// Transitions as the log will show them; kept as values because the record moves on before they are told.
  struct told_transition {
    std::string task_id;
    std::string step;
    core::noted_transition what;
  };
  std::vector<told_transition> transitions;

  /// Tasks changed by this batch; for the Scheduler's own use after the commit.
  std::vector<std::uint64_t> changed;
  std::vector<std::string> new_ids;

  bool empty() const;

  /// The cron is to look at this moment, if not earlier.
  void job_due(std::int64_t due_unix_ms);

  /// Adds what `later` holds behind what is here.
  void append(effects&& later);

  /// Forgets all messages and keeps what is for the Scheduler's own use.
  void drop_messages();

  /// Sends everything, to agents in the name of the shard. To be called once the batch is durable.
  struct leader {
    std::uint64_t epoch = 0;
    std::uint32_t shard = 0;
    const v1::Lineage& lineage;
  };
  /// The wall clock may have been set back since these attempts were decided. Their agents count leases from when the messages leave, by what the
  /// clock shows then.
  void bring_leases_near(std::int64_t now_unix_ms);
  /// Attempts of the task that have ended before their messages left are not handed over: their leases say so too, but not once the wall clock was
  /// set back. Leases that were made shorter are shorter in the messages.
  void bring_up_to(const v1::TaskRecord& task);
  void release(const leader& by, scheduler_outbox& to, observer& log);
};

}  // namespace fairlead
