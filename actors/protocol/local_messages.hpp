#pragma once
// Messages that never leave the process, so they need no byte format.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "actors/agents/backend.hpp"
#include "actors/protocol/ports.hpp"  // stalest_task is sent as it is
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

/// An agent's backend to its host: an attempt in progress has news. The news itself is kept at the host, so that an attempt which reports
/// without pause has one message on its way.
struct attempt_progressed {
  agents::attempt_key key;
};

/// To an agent's host, for a backend that lives with it: a request of its own, to be run on the host's thread.
struct host_call {
  std::function<void()> run;
};

struct local_agent;

/// To an agent: its node file was read again. Null: the file does not name the agent any more, so it ends with its last attempt.
struct agent_redefined {
  std::shared_ptr<local_agent> now;
};

/// Scheduler to cron: a job is due at this moment.
struct job_due_at {
  moment due;
};

/// Archiver to Scheduler: `rows` say what is to be done about archives (store/rows/archive_rows.hpp), or that something was done. They carry
/// the epoch in which the tasks were read; only the Scheduler of that epoch may take them, since another one does not know which tasks were
/// undone meanwhile. Without rows: retention time should be made durable although nothing else is written, because something ages.
struct archive_rows {
  store::batch rows;
  /// The tasks that are to move, and the sequence of the state in which they were read. If one of them was reopened since then (an operator
  /// may undo a completed task) the Scheduler drops the whole message; the archiver notices and starts again.
  std::vector<std::uint64_t> numbers;
  std::uint64_t read_at_sequence = 0;
  std::map<v1::TaskState, std::uint64_t> ended{};  // how many of `numbers` have ended in each state
};

/// A courier to the Scheduler: deliveries that succeeded or were given up. `rows` moves the cursors and erases delivered events.
struct courier_rows {
  store::batch rows;
  std::uint64_t delivered_events = 0;   // status events that `rows` erases from outboxes
  std::vector<v1::AlertRecord> alerts;  // to be raised; only kind, subject, sentence and remedy are set
};

}  // namespace fairlead
