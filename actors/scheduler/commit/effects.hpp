#pragma once
// The effects of a batch: messages that leave the Scheduler once the batch is durable. They gather while the batch fills.

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
  /// To instances: acknowledges outcomes of an earlier lineage, which each batch names.
  std::vector<std::pair<std::string, v1::OutcomeAckBatch>> acknowledged_late;
  v1::RecoveryHintBatch hints;
  std::vector<std::pair<std::uint64_t, request_reply>> replies;  // by ticket
  std::optional<std::int64_t> cron_due_unix_ms;                  // the earliest moment at which a job has become due
  std::map<std::uint64_t, v1::FinishedNotice> notices;           // by subscriber

  /// Transitions for the log; kept as values because the record changes before they are logged.
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

  /// The cron must check for due jobs at this moment, if not earlier.
  void job_due(std::int64_t due_unix_ms);

  /// Appends the effects of `later`.
  void append(effects&& later);

  /// Drops all messages; keeps the fields for the Scheduler's own use.
  void drop_messages();

  struct leader {
    std::uint64_t epoch = 0;
    std::uint32_t shard = 0;
    const v1::Lineage& lineage;
  };
  /// Shortens leases whose end lies too far ahead because the wall clock was set back after the decision. Agents count leases from the
  /// moment when the messages leave, by the clock at that moment.
  void bring_leases_near(std::int64_t now_unix_ms);
  /// Drops hand-overs of the task's attempts that have ended before the messages left. (Their expired leases alone would not stop agents if
  /// the wall clock was set back.) Shortens the leases in messages whose leases in the record were cut.
  void bring_up_to(const v1::TaskRecord& task);
  /// Sends everything; messages to agents name the shard. Call only once the batch is durable.
  void release(const leader& by, scheduler_outbox& to, observer& log);
};

}  // namespace fairlead
