#pragma once
// The world as the shells see it. Production passes CAF, LMDB and the machine's clock; tests and the simulator pass their own. No CAF here.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actors/protocol/requests.hpp"
#include "messages/agent.pb.h"
#include "messages/api.pb.h"
#include "messages/error.hpp"
#include "messages/job.pb.h"
#include "messages/time.hpp"
#include "store/batch.hpp"

namespace fairlead {

/// One change of state of a task (`step` empty) or of a step. Reported once it is durable.
struct transition {
  std::string_view task_id;
  std::string_view step;
  std::string_view from;
  std::string_view to;
  std::uint32_t attempt = 0;
  std::string_view detail;  // never a payload
};

enum class note_level { debug, info, warning, error };

/// The shells' reports; the application logs them. Called from several threads.
class observer {
 public:
  virtual ~observer() = default;
  virtual void on_transition(const transition& what) = 0;
  /// False lets a shell skip the work of describing transitions.
  virtual bool wants_transitions() const { return true; }
  virtual void on_note(note_level level, std::string_view component, std::string_view sentence) = 0;
};

/// Called when the store cannot be trusted any more (disk error, corruption, full beyond its reserve, epoch taken). Must end the process
/// or the shard: nothing more will be committed.
using fatal_handler = std::function<void(const error&)>;

/// A request as the audit has it, and what became of it.
struct noted_request {
  v1::AuditEntry entry;  // without its node
  v1::ErrorCode end = v1::ERROR_CODE_OK;
};

/// The audit of a node. Thread-safe.
class audit_port {
 public:
  virtual ~audit_port() = default;
  /// A page of this node's own entries. Reads files, so it takes a moment.
  virtual v1::AuditListReply read(const v1::AuditListRequest& what) const = 0;
  /// False: nothing can be written now, and what would have to be noted must not be done.
  virtual bool is_sound() const = 0;
  /// Returns at once. Calls `then` from any thread once all is on the disk, or cannot be written.
  virtual void note(std::vector<noted_request> what, std::function<void(const status&)> then) = 0;
};

/// Takes a Scheduler's batches. `commit` returns at once; `scheduler::on_committed(sequence)` is called, in order, once everything up to
/// that sequence is durable.
class commit_port {
 public:
  virtual ~commit_port() = default;
  virtual void commit(store::batch what) = 0;
  /// Of a shard that several nodes hold: asks whether this one leads it now. The answer comes back under the ticket.
  virtual void confirm(std::uint64_t) { throw std::logic_error{"a shard that lives on one node has nobody to ask who leads"}; }
};

/// Takes a Scheduler's effects. All functions except `evaluate` are called only for durable state.
class scheduler_outbox {
 public:
  virtual ~scheduler_outbox() = default;

  /// To one agent instance.
  virtual void perform(const std::string& instance, v1::PerformBatch what) = 0;
  virtual void acknowledge(const std::string& instance, v1::OutcomeAckBatch what) = 0;
  virtual void acknowledge(const std::string& instance, v1::HeartbeatAckBatch what) = 0;

  /// To the Supervisor.
  virtual void hint(v1::RecoveryHintBatch what) = 0;

  /// To the cron: a job may be due at this moment, earlier than the cron knows.
  virtual void wake_cron(moment due) = 0;

  /// To the expression worker. The only message that may leave before a commit: it changes nothing. The answer brings its ticket back. The
  /// returned pointer lives for as long as an answer can still be given; when it has expired, a given answer is on its way.
  virtual std::weak_ptr<const void> evaluate(v1::EvaluateRequest what) = 0;

  /// To clients. A ticket stands for one request that waits for its reply, a subscriber for one client.
  virtual void reply(std::uint64_t ticket, request_reply what) = 0;
  virtual void notify(std::uint64_t subscriber, v1::FinishedNotice what) = 0;
};

/// For the status: the live task that has gone longest without progress.
struct stalest_task {
  std::string id;  // empty: there is no live task
  std::int64_t since_unix_ms = 0;

  friend bool operator==(const stalest_task&, const stalest_task&) = default;
};

/// Supervisor to Scheduler: live tasks whose rows show no agent at work and no wake-up moment. They wait for something inside the process,
/// and only the Scheduler knows whether that was asked for.
struct waiting_tasks {
  std::vector<std::uint64_t> numbers;
};

/// Cron to Scheduler.
struct due_jobs {
  std::vector<std::string> names;  // of jobs whose index entry has come up; the highest priority first at equal moments
  bool look = false;               // the index has been read: check the clock, and launches that wait for room and agents
};

/// Takes the cron's messages.
class cron_outbox {
 public:
  virtual ~cron_outbox() = default;
  virtual void due(due_jobs what) = 0;
};

/// Takes the Supervisor's requests.
class supervisor_outbox {
 public:
  virtual ~supervisor_outbox() = default;
  virtual void recover(v1::RecoverBatch what) = 0;
  virtual void stalest(stalest_task what) = 0;
  virtual void waiting(waiting_tasks what) = 0;
};

}  // namespace fairlead
