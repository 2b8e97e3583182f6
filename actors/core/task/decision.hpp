#pragma once
// Input and result of a decision about a task: plain values and two small interfaces.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <variant>
#include <vector>

#include "actors/core/workflow/workflow.hpp"
#include "messages/agent.pb.h"
#include "messages/api.pb.h"
#include "messages/error.hpp"
#include "messages/task.pb.h"
#include "messages/time.hpp"

namespace fairlead::core {

struct planted_faults;

// ---- events ----

/// A pending task may run.
struct task_admitted {};

/// An agent reports the end of an attempt.
struct attempt_ended {
  std::uint32_t step = 0;
  v1::Direction direction = v1::DIRECTION_PERFORM;
  std::uint32_t attempt = 0;
  std::uint32_t tries = 0;
  std::int64_t busy_ms = 0;  // of the last try
  std::string output;        // JSON text, if there is no fault; of a look-up: the output of the perform
  std::optional<v1::Fault> fault;
  v1::LookupVerdict verdict = v1::LOOKUP_VERDICT_UNSPECIFIED;  // of a look-up without fault
  std::optional<std::string> log;                              // what the attempt has printed, or the end of it
  bool log_cut = false;
};

/// The agent has not begun an attempt handed to it, and will not: it obeys a later lineage or start of the shard, or it gave the attempt back.
/// The attempt does not count.
struct attempt_refused {
  std::uint32_t step = 0;
  v1::Direction direction = v1::DIRECTION_PERFORM;
  std::uint32_t attempt = 0;
  bool given_back = false;
};

/// The expression worker's answer for a part of a step.
struct expressions_evaluated {
  std::uint32_t step = 0;
  std::vector<std::string> results;  // JSON texts
  std::optional<error> failure;
  v1::ExpressionPart part = v1::EXPRESSION_PART_WITH;
  std::uint32_t item = 0;  // as EvaluateRequest.item
};

/// The agent still works at an attempt.
struct attempt_heartbeat {
  std::uint32_t step = 0;
  v1::Direction direction = v1::DIRECTION_PERFORM;
  std::uint32_t attempt = 0;
  std::uint64_t sequence = 0;  // grows within the attempt
  bool has_progress = false;
  std::optional<std::uint32_t> percent;
  std::string note;
  std::string checkpoint;  // JSON text; empty: unchanged
};

/// A waiting step of this task may go on: an agent may have a free slot, or the expression worker room.
struct slot_freed {};

/// The Supervisor's request about one step, with the attempt, failures and direction that it saw. An outdated request has no effect.
struct recovery_requested {
  std::uint32_t step = 0;
  std::uint32_t attempt = 0;
  std::uint32_t failure_count = 0;
  v1::Direction direction = v1::DIRECTION_PERFORM;
};

/// The task's entry in the due index is due.
struct task_due {};

/// An agent instance has a new incarnation: attempts held by the old one are in doubt.
struct agent_replaced {
  std::string instance;
  std::uint64_t incarnation = 0;  // the new one
};

/// An agent instance has registered. Attempts held by this process, according to the record, count and are sent to it again, since any
/// message may have been lost. Attempts held by an earlier process are in doubt.
struct agent_returned {
  std::string instance;
  std::uint64_t incarnation = 0;
  std::vector<std::uint32_t> never_left{};  // steps of this task whose attempt an earlier process never received
};

/// An agent's limits have changed: attempts in progress count against the new limits.
struct limits_changed {
  std::string agent;
};

/// The Scheduler has started and takes the task up again.
struct task_resumed {};

/// The performance whose end a callback tells: of this step, under the key of this generation.
struct performance_name {
  std::uint32_t step = 0;
  std::uint32_t generation = 0;
};

/// An operator's action on the task or one of its steps, or a signal or callback.
struct operated {
  v1::OperatorAction action;
  std::string content_hash{};      // of the action without its conditions; only with a token
  performance_name called_back{};  // of a callback
  bool by_parent = false;          // the task is a child, and its parent wants the action
  // Of its parent, as TaskRecord says: a child that was over at that backup may have been undone since.
  std::int64_t restored_from_unix_ms = 0;
  std::int64_t first_restored_from_unix_ms = 0;  // likewise
  // Of a migration: the version by which the task is to go on; null: it is not stored.
  std::shared_ptr<const workflow> target{};
};

/// The child that carries a step out has ended, parked, or goes on.
struct child_changed {
  std::uint32_t step = 0;
  std::string id;  // of the child
  v1::TaskState state = v1::TASK_STATE_UNSPECIFIED;
  bool parked = false;
  bool stands = false;     // as ChildTask.stands
  bool untried = false;    // it is undone, and no step of it was carried out, tried or skipped
  std::string reason;      // of its state, for people
  std::string output;      // JSON text, of a completed one; empty: it has none. Not of an item
  std::uint32_t item = 0;  // as ParentOf.item
};

/// There is no child, or it does not do what was asked.
struct child_refused {
  std::uint32_t step = 0;
  std::string id;
  std::string code;
  std::string sentence;
  std::int64_t again_at_unix_ms = 0;  // not 0: it is to be asked for again then, and has not been refused for good
  std::uint32_t item = 0;             // as ParentOf.item
};

/// Outputs of items that have all ended, in the order of the list.
struct items_gathered {
  std::uint32_t step = 0;
  std::uint32_t first = 0;  // as ParentOf.item
  std::uint32_t count = 0;
  std::string outputs;  // a JSON array
};

/// A step was found to wait for something that will never come: the input or slot is asked for anew.
struct wait_lost {};

/// The wall clock was set back since the row was written: moments in the row that lie further ahead than the longest wait are brought near.
struct clock_set_back {};

/// A decision about this task crashed: an operator must look.
struct task_poisoned {
  std::string reason;
};

using event = std::variant<task_admitted, attempt_ended, attempt_refused, attempt_heartbeat, expressions_evaluated, slot_freed,
                           recovery_requested, task_due, agent_replaced, agent_returned, limits_changed, task_resumed, operated, wait_lost,
                           clock_set_back, task_poisoned, child_changed, child_refused, items_gathered>;

// ---- the world, as a decision sees it ----

/// An agent instance that may be handed an attempt.
struct agent_instance {
  std::string_view name;
  std::uint64_t incarnation = 0;
};

/// The holder of a slot: a step has at most one attempt in progress.
struct slot_holder {
  std::uint64_t task_number = 0;
  std::uint32_t step = 0;
  friend bool operator==(const slot_holder&, const slot_holder&) = default;
};

/// The needs of an attempt. The views are valid during the call only.
struct slot_request {
  slot_holder holder;
  std::string_view agent;
  std::string_view call;
  const google::protobuf::RepeatedPtrField<v1::Label>* labels = nullptr;  // the instance must carry these; null: none
  std::string_view input;                                                 // JSON text; read only if `wants_input` says so
  bool lookup = false;                                                    // the call is looked up, not carried out
};

/// An instance, or the queue in which to wait for one.
struct slot_answer {
  std::optional<agent_instance> instance;
  std::uint64_t queue = 0;  // wait queue for the task, if there is no instance
};

/// How the use of a slot has ended, as far as it concerns the instance and its service.
enum class slot_end {
  succeeded,
  answered,  // a permanent fault: the service works, and refuses
  failed,    // a transient fault, or a fault that leaves doubt
  expired,   // nothing was heard before the end of the lease
  lost,      // the process is known to be dead; the service's state is unknown
  unused,    // nothing was handed over
};

struct slot_outcome {
  slot_end how = slot_end::unused;
  std::uint32_t tries = 1;   // all but the last try failed
  std::int64_t busy_ms = 0;  // of the last try; 0: not known
  std::string_view code{};   // of the fault; valid during the call only
};

class agent_directory {
 public:
  virtual ~agent_directory() = default;
  /// Takes a free slot at an instance.
  virtual slot_answer claim(const slot_request& what) = 0;
  /// Whether `claim` needs the step's input: some limit counts by a value in the input.
  virtual bool wants_input(std::string_view agent, std::string_view call) const = 0;
  /// Whether a perform of `call` that is in doubt can be looked up at a connected instance of `agent`.
  virtual bool looks_up(std::string_view agent, std::string_view call) const = 0;
  /// How long the service honours an idempotency key after its first use; 0: for ever, or not declared.
  virtual std::int64_t key_valid_for_ms(std::string_view agent, std::string_view call) const = 0;
  /// How long the breaker of the service has kept steps waiting, by a steady clock; grows from the start of the process on. Time for which
  /// an operator keeps the breaker open does not count, nor time without an instance.
  virtual std::int64_t blocked_ms(std::string_view agent) const = 0;
  /// The incarnation of a connected instance; nullopt: the instance is not known.
  virtual std::optional<std::uint64_t> incarnation_of(std::string_view instance) const = 0;
  /// Takes a slot for an attempt that the instance holds already (the Scheduler has restarted), even if none is free. Counts an attempt
  /// that has a slot anew, against the current limits. `instance` empty: the holder is not connected; the attempt counts against limits
  /// alone.
  virtual void hold(std::string_view instance, const slot_request& what) = 0;
  /// Gives back the slot of an attempt that has left `running`. No effect if the holder has none (the instance has been replaced).
  virtual void release(const slot_holder& holder, const slot_outcome& outcome) = 0;
};

/// Gives the JSON text of payloads that are not inline in the row.
class payload_source {
 public:
  virtual ~payload_source() = default;
  virtual result<std::string_view> load(const v1::TaskRecord& record, std::uint32_t slot) const = 0;
};

/// The task whose step a child carries out as its call (ParentOf.call_of): what the child's expressions read is the parent's.
class parent_source {
 public:
  virtual ~parent_source() = default;
  /// null: it is not in the store any more.
  virtual result<const v1::TaskRecord*> record() const = 0;
  virtual const payload_source& payloads() const = 0;
};

struct context {
  moment now;
  std::uint64_t epoch = 0;
  const workflow* definition = nullptr;
  const workflow_engine* engine = nullptr;
  agent_directory* agents = nullptr;
  const payload_source* payloads = nullptr;
  const parent_source* parent = nullptr;                          // null: the task has no parent whose call it carries out
  const std::unordered_set<std::uint32_t>* evaluating = nullptr;  // evaluation_key of parts that the worker has been asked for; may be null
  std::int64_t failing_alert_after_ms = 300'000;                  // a step that fails for so long is worth an alert
  bool hold_undo = false;                                         // the brake on mass undo: failed tasks are not undone automatically
  std::uint32_t may_begin = 4;                                    // items whose task, or its undo, may begin in this decision
  bool crowded = false;                                           // a list may have one item in progress, whatever its at_once says
  const planted_faults* planted = nullptr;                        // null in production
};

/// Names one part of one step of a task.
constexpr std::uint32_t evaluation_key(std::uint32_t step, v1::ExpressionPart part) {
  return step * (v1::ExpressionPart_MAX + 1) + static_cast<std::uint32_t>(part);
}

/// The part that gives the input in a direction; a look-up has none of its own.
constexpr v1::ExpressionPart part_of_input(v1::Direction direction) {
  return direction == v1::DIRECTION_UNDO ? v1::EXPRESSION_PART_UNDO_WITH : v1::EXPRESSION_PART_WITH;
}

/// Only the worker can say whether the step is performed, and has not. With an input the step was wanted before, or an operator wants it.
inline bool awaits_condition(const workflow::step& compiled, const v1::StepRecord& step) {
  return compiled.when && !compiled.when->plain() && !step.wanted() && !step.has_input();
}

/// Its agent has accepted the step, and the moment by which the callback must come is in its row.
inline bool waits_for_callback(const v1::StepRecord& step) { return step.awaits_callback() && step.not_before_unix_ms() != 0; }

/// The step waits for a moment, a signal, or its next round; nothing has failed.
inline bool waits_itself(const v1::StepRecord& step) { return step.state() == v1::STEP_STATE_PENDING && step.not_before_unix_ms() != 0; }

// ---- the result ----

struct handover {
  std::string instance;
  v1::Perform message;
};

struct stored_payload {
  std::uint32_t slot = 0;
  std::string json;
};

/// The task begins or ceases to count among those in which a step has been failing for long.
struct failing_change {
  std::uint32_t step = 0;
  bool failing = false;
  std::string agent;
  std::string since;  // moment, as text
  std::string fault;  // `http_503: no more cars`
};

/// A ready step found no instance.
struct slot_wait {
  std::uint32_t step = 0;
  std::uint64_t queue = 0;  // from the directory
};

/// What a child is to do. The shell does it in the commit of the decision.
struct child_order {
  std::uint32_t step = 0;
  std::string id;
  bool begins = false;  // the child is to be created; otherwise it exists, and takes the action
  std::string workflow{};
  std::string input{};  // JSON text
  std::int64_t deadline_unix_ms = 0;
  v1::OperatorAction action{};
  std::uint32_t item = 0;     // as ParentOf.item
  std::uint32_t call_of = 0;  // as ParentOf.call_of
  std::string item_json{};    // of a child with call_of
  // Not 0: nothing is asked of a child. The outputs of so many items, from `item` on, are wanted (items_gathered).
  std::uint32_t gathers = 0;
  bool collects = false;     // as ForEachDefinition.collect
  bool may_be_none = false;  // of an undo: that there has never been such a child is no failure (child_never_begun_code)
};

/// A change of state, for the log. `step` is an index plus one; 0 is the task.
struct noted_transition {
  std::uint32_t step = 0;
  const char* from = "";
  const char* to = "";
  std::uint32_t attempt = 0;
  std::string detail;
};

/// Rows to write (the record and its payloads), and messages to send once they are durable.
struct decision {
  bool changed = false;          // the record must be written
  bool accepted = false;         // attempt_ended: the outcome counts; attempt_heartbeat: the attempt is still held
  bool ended = false;            // the task has reached a final state
  bool parked = false;           // the task has been parked
  bool unparked = false;         // the task goes on, or is over: its alert is to be resolved
  bool answered_undo = false;    // a step has failed or the time is over, and the workflow answers with undo
  std::uint32_t expired = 0;     // attempts whose lease has ended
  std::uint32_t lost = 0;        // attempts whose process is dead
  std::int64_t took_ms = 0;      // accepted attempt_ended: time since the hand-over
  bool repeated = false;         // operated: it was done before, under its token; nothing has changed
  bool migrated = false;         // operated: the task goes on by `target`
  bool misfit = false;           // accepted attempt_ended: the output does not fit the workflow's type
  std::optional<error> refused;  // operated: why the action cannot be done; nothing has changed
  std::vector<stored_payload> payloads;
  std::vector<std::uint32_t> dropped_slots;  // payloads to which the record does not refer any more
  std::vector<handover> performs;
  std::vector<v1::EvaluateRequest> evaluations;  // the shell sets `ticket`
  bool forget_asked = false;                     // an operator has changed what expressions read: answers to come are of no use
  bool awaits_input = false;                     // a part of a ready step was requested earlier and has not come yet
  std::vector<v1::RecoveryHint> hints;
  std::vector<slot_wait> waiting;  // ready steps of this task that found no instance; one for each need
  bool found_no_instance = false;
  bool leases_cut = false;  // of attempts in progress: the wall clock was set back since they were decided
  std::vector<child_order> children;
  std::vector<noted_transition> transitions;
  std::vector<failing_change> failing;
  std::vector<v1::AlertRecord> alerts;    // to be raised: kind, subject, sentence and remedy
  std::vector<v1::AlertRecord> restated;  // what the task's alert says now, if it is of this kind and step
  std::vector<v1::StatusEvent> statuses;  // for the reply address; the shell sets `position`
  std::optional<error> fatal;             // a read of the store failed: the node must stop

  /// Adds the results of a later decision about the same record.
  void append(decision&& later);
};

}  // namespace fairlead::core
