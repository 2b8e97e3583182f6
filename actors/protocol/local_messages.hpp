#pragma once
// Messages that never leave the process, so they need no byte format.

#include <cstdint>
#include <string>
#include <vector>

#include "actors/agents/backend.hpp"
#include "actors/protocol/ports.hpp"  // stalest_task travels as it stands
#include "messages/api.pb.h"
#include "store/batch.hpp"

namespace fairlead {

/// Scheduler to store actor: make this durable.
struct commit_request {
  store::batch what;
};

/// Store actor to Scheduler: everything up to `sequence` is durable.
struct committed {
  std::uint64_t sequence = 0;
};

/// An agent's backend to its host: one attempt is over.
struct attempt_finished {
  agents::attempt_key key;
  agents::attempt_result result;
};

/// An agent's backend to its host: an attempt under way has something to tell. What it is waits at the host, so that an attempt which reports
/// without pause has one message under way.
struct attempt_progressed {
  agents::attempt_key key;
};

/// Scheduler to cron: a job is due then.
struct job_due_at {
  moment due;
};

/// Archiver to Scheduler: these tasks stand durably in an archive; `erasures` takes them out of the store. It carries the epoch in which they were
/// read, and only the Scheduler of that epoch may take it: another one knows nothing of what was brought back to life in between. Without erasures:
/// something ages, and retention time should be made durable though nothing else is written.
struct archived_tasks {
  store::batch erasures;
  /// All of them, and the sequence of the state that was copied. Who has brought one of them back to life since then (an operator may undo a
  /// completed task) must drop the message whole: the archiver sees that some are finished no longer and starts anew.
  std::vector<std::uint64_t> numbers;
  std::uint64_t read_at_sequence = 0;
  std::uint64_t completed = 0;
  std::uint64_t undone = 0;
};

/// A courier to the Scheduler: what it has delivered or given up. `rows` moves its cursors and erases what was taken.
struct courier_rows {
  store::batch rows;
  std::uint64_t delivered_events = 0;   // status events that `rows` erases from outboxes
  std::vector<v1::AlertRecord> alerts;  // to be raised; only kind, subject, sentence and remedy are set
};

}  // namespace fairlead
