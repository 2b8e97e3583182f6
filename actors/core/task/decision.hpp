#pragma once
// What goes into a decision about a task and what comes out of it. All plain values and two small interfaces.

#include <cstdint>
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

/// An agent says how an attempt ended.
struct attempt_ended {
  std::uint32_t step = 0;
  v1::Direction direction = v1::DIRECTION_PERFORM;
  std::uint32_t attempt = 0;
  std::uint32_t tries = 0;
  std::int64_t busy_ms = 0;  // of the last try
  std::string output;        // JSON text, when there is no fault; of a lookup: what the perform gave
  std::optional<v1::Fault> fault;
  v1::LookupVerdict verdict = v1::LOOKUP_VERDICT_UNSPECIFIED;  // of a lookup without fault
};

/// The agent has not begun an attempt that it was handed, and will not: it obeys a later lineage or start of the shard. The attempt does not count.
struct attempt_refused {
  std::uint32_t step = 0;
  v1::Direction direction = v1::DIRECTION_PERFORM;
  std::uint32_t attempt = 0;
};

/// The expression worker's answer for a step's input.
struct input_evaluated {
  std::uint32_t step = 0;
  std::vector<std::string> results;  // JSON texts
  std::optional<error> failure;
  v1::Direction direction = v1::DIRECTION_PERFORM;  // of the input
};

/// The agent that holds an attempt is still at it.
struct attempt_heartbeat {
  std::uint32_t step = 0;
  v1::Direction direction = v1::DIRECTION_PERFORM;
  std::uint32_t attempt = 0;
  std::uint64_t sequence = 0;  // grows within the attempt
  bool has_progress = false;
  std::optional<std::uint32_t> percent;
  std::string note;
  std::string checkpoint;  // JSON text; empty: as before
};

/// An agent may have a free slot for steps of this task that wait for one.
struct slot_freed {};

/// The Supervisor's request about one step, stamped with what it saw.
struct recovery_requested {
  std::uint32_t step = 0;
  std::uint32_t attempt = 0;
  std::uint32_t failure_count = 0;
  v1::Direction direction = v1::DIRECTION_PERFORM;
};

/// The task's entry in the due index has come up.
struct task_due {};

/// An agent instance has a new incarnation: what the old one held is in doubt.
struct agent_replaced {
  std::string instance;
  std::uint64_t incarnation = 0;  // the new one
};

/// An agent instance has registered: what this process holds by the record counts, and is sent to it again, since any message to it may have been
/// lost; what an earlier one held is in doubt.
struct agent_returned {
  std::string instance;
  std::uint64_t incarnation = 0;
  std::vector<std::uint32_t> never_left{};  // steps of this task whose attempt an earlier process was never handed
};

/// The limits of an agent are others than before: what is out counts against them.
struct limits_changed {
  std::string agent;
};

/// The Scheduler has started and takes the task up again.
struct task_resumed {};

/// An operator does something to the task or one of its steps.
struct operated {
  v1::OperatorAction action;
};

/// Somebody has found that a step waits for what nobody will give it: whatever it waits for is asked for anew.
struct wait_lost {};

/// The wall clock was set back since the row was written: moments in it that lie further ahead than any wait leads are brought near.
struct clock_set_back {};

/// A decision about this task crashed: an operator must look.
struct task_poisoned {
  std::string reason;
};

using event = std::variant<task_admitted, attempt_ended, attempt_refused, attempt_heartbeat, input_evaluated, slot_freed,
                           recovery_requested, task_due, agent_replaced, agent_returned, limits_changed, task_resumed, operated, wait_lost,
                           clock_set_back, task_poisoned>;

// ---- the world as far as a decision needs it ----

/// An agent instance that may be handed an attempt.
struct agent_instance {
  std::string_view name;
  std::uint64_t incarnation = 0;
};

/// Who holds a slot: a step has at most one attempt out.
struct slot_holder {
  std::uint64_t task_number = 0;
  std::uint32_t step = 0;
  friend bool operator==(const slot_holder&, const slot_holder&) = default;
};

/// What an attempt needs of an instance. The views are valid during the call only.
struct slot_request {
  slot_holder holder;
  std::string_view agent;
  std::string_view call;
  const google::protobuf::RepeatedPtrField<v1::Label>* labels = nullptr;  // that the instance must carry; null: none
  std::string_view input;                                                 // JSON text; only looked at where `wants_input` says so
  bool lookup = false;                                                    // the call is to be looked up, not carried out
};

/// An instance, or where to wait for one.
struct slot_answer {
  std::optional<agent_instance> instance;
  std::uint64_t queue = 0;  // to be given to the one who queues the task, when there is no instance
};

/// How what a slot was held for has ended, as far as it says something about the instance and its service.
enum class slot_end {
  succeeded,
  answered,  // a permanent fault: the service works, and refuses
  failed,    // a transient fault or one that leaves doubt
  expired,   // nothing was heard before the end of the lease
  lost,      // the process is known to be dead: nothing is known of the service
  unused,    // nothing was handed over
};

struct slot_outcome {
  slot_end how = slot_end::unused;
  std::uint32_t tries = 1;   // all but the last failed
  std::int64_t busy_ms = 0;  // of the last; 0: not known
  std::string_view code{};   // of the fault; only looked at during the call
};

class agent_directory {
 public:
  virtual ~agent_directory() = default;
  /// Takes a free slot at an instance.
  virtual slot_answer claim(const slot_request& what) = 0;
  /// Whether `claim` needs the step's input: some limit counts by a value in it.
  virtual bool wants_input(std::string_view agent, std::string_view call) const = 0;
  /// Whether a perform of `call` that is in doubt can be looked up at some instance of `agent` that is there now.
  virtual bool looks_up(std::string_view agent, std::string_view call) const = 0;
  /// How long the service honours an idempotency key after its first use; 0: for ever, or nobody has said.
  virtual std::int64_t key_valid_for_ms(std::string_view agent, std::string_view call) const = 0;
  /// The incarnation of an instance that is there now; nullopt when the instance is not known.
  virtual std::optional<std::uint64_t> incarnation_of(std::string_view instance) const = 0;
  /// Takes a slot for an attempt that the instance holds already (its Scheduler has started anew), whatever is free; also counts one that has a
  /// slot anew, against the limits that hold now. `instance` empty: whoever holds it is not there; it counts against limits alone.
  virtual void hold(std::string_view instance, const slot_request& what) = 0;
  /// Gives back the slot of an attempt that has left `running`. Nothing happens when the holder has none (the instance has been replaced).
  virtual void release(const slot_holder& holder, const slot_outcome& outcome) = 0;
};

/// Gives the JSON text of payloads that do not stand in the row.
class payload_source {
 public:
  virtual ~payload_source() = default;
  virtual result<std::string_view> load(const v1::TaskRecord& record, std::uint32_t slot) const = 0;
};

struct context {
  moment now;
  std::uint64_t epoch = 0;
  const workflow* definition = nullptr;
  const workflow_engine* engine = nullptr;
  agent_directory* agents = nullptr;
  const payload_source* payloads = nullptr;
  const std::unordered_set<std::uint32_t>* evaluating =
      nullptr;                              // evaluation_key of inputs that the worker has been asked for; may be null
  bool hold_undo = false;                   // the brake on mass undo: no task that failed is undone by itself
  const planted_faults* planted = nullptr;  // null in production
};

/// Names one input of a task: that to perform a step or that to undo it.
constexpr std::uint32_t evaluation_key(std::uint32_t step, v1::Direction direction) {
  return step * 2 + (direction == v1::DIRECTION_UNDO ? 1 : 0);
}

// ---- what comes out ----

struct handover {
  std::string instance;
  v1::Perform message;
};

struct stored_payload {
  std::uint32_t slot = 0;
  std::string json;
};

/// A ready step found no instance.
struct slot_wait {
  std::uint32_t step = 0;
  std::uint64_t queue = 0;  // as the directory said
};

/// A change of state, for the log. `step` is an index plus one; 0 is the task.
struct noted_transition {
  std::uint32_t step = 0;
  const char* from = "";
  const char* to = "";
  std::uint32_t attempt = 0;
  std::string detail;
};

/// Rows to write (the record itself and its payloads) and messages to send once they are durable.
struct decision {
  bool changed = false;          // the record must be written
  bool accepted = false;         // for attempt_ended: the outcome counts; for attempt_heartbeat: the attempt is held
  bool ended = false;            // the task has reached a final state by this
  bool parked = false;           // the task has been parked by this
  bool unparked = false;         // it goes on, or is over: what was raised about it is no more
  bool failed = false;           // the task has failed in a way that its workflow answers with undo
  std::uint32_t expired = 0;     // attempts whose leases were over
  std::uint32_t lost = 0;        // attempts that went with their process
  std::int64_t took_ms = 0;      // for attempt_ended that is accepted: since the attempt was handed over,
  bool misfit = false;           // and whether its output is not of the type that the workflow says
  std::optional<error> refused;  // for operated: why it cannot be done; nothing has changed
  std::vector<stored_payload> payloads;
  std::vector<std::uint32_t> dropped_slots;  // of payloads that the record does not refer to any more
  std::vector<handover> performs;
  std::vector<v1::EvaluateRequest> evaluations;  // `ticket` is left to the shell
  bool awaits_input = false;                     // a ready step's input was asked for earlier and has not come yet
  std::vector<v1::RecoveryHint> hints;
  std::vector<slot_wait> waiting;  // ready steps of this task that found no instance, those of one need once
  bool found_no_instance = false;
  bool leases_cut = false;  // of attempts that are out: the wall clock was set back since they were decided
  std::vector<noted_transition> transitions;
  std::vector<v1::AlertRecord> alerts;    // to be raised: kind, subject, sentence and remedy
  std::vector<v1::StatusEvent> statuses;  // for the reply address; `position` is left to the shell
  std::optional<error> fatal;             // a read of the store failed: the node must stop

  /// Adds what a later decision about the same record says.
  void append(decision&& later);
};

}  // namespace fairlead::core
