#pragma once
// The Scheduler arranges the steps of its tasks, records every state in the store, and sends work to agents. It is a shell over ports: CAF
// (actor.*) and tests run it alike. One thread at a time; only reads of the store block.
//
// Decide, commit, act. A message becomes an event, and the core decides. Rows and effects gather in the open batch; `flush` hands the batch
// to the commit port. Its effects leave when `on_committed` says that the batch is durable. Decisions use the newest records (those in
// `live_`), committed or not; replies and effects show only committed state.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "actors/alerts/book.hpp"
#include "actors/core/planted_faults.hpp"
#include "actors/core/request_limits.hpp"
#include "actors/core/store_room.hpp"
#include "actors/core/task/decision.hpp"
#include "actors/core/task/waits.hpp"
#include "actors/protocol/local_messages.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/registry/registry.hpp"
#include "actors/scheduler/books/archive_ledger.hpp"
#include "actors/scheduler/books/evaluations.hpp"
#include "actors/scheduler/books/failing_steps.hpp"
#include "actors/scheduler/books/resume_sweep.hpp"
#include "actors/scheduler/books/stray_effects.hpp"
#include "actors/scheduler/books/traffic.hpp"
#include "actors/scheduler/books/undo_brake.hpp"
#include "actors/scheduler/books/watches.hpp"
#include "actors/scheduler/books/worker_book.hpp"
#include "actors/scheduler/books/workflow_catalog.hpp"
#include "actors/scheduler/commit/certificate_watch.hpp"
#include "actors/scheduler/commit/effects.hpp"
#include "actors/scheduler/commit/pipeline.hpp"
#include "actors/scheduler/commit/replica_watch.hpp"
#include "actors/scheduler/commit/store_watch.hpp"
#include "actors/scheduler/family.hpp"
#include "actors/scheduler/jobs/launches.hpp"
#include "store/rows/task_rows.hpp"
#include "store/store.hpp"

namespace fairlead {

struct scheduler_limits {
  duration failing_alert_after = std::chrono::minutes{5};  // a step that fails for so long raises an alert
  duration replica_alert_after = std::chrono::minutes{1};  // as replica_watch
  std::uint64_t running_tasks = 10'000;                    // tasks beyond this wait as pending, on disk only
  std::uint64_t family_tasks = 10'000;                     // below one task: a crowd, as family_sizes
  std::uint64_t pending_tasks = 1'000'000;                 // beyond this submissions are refused
  std::uint64_t input_bytes = max_input_bytes;             // of one task's input
  std::uint64_t output_bytes = max_output_bytes;           // of one step's output
  std::uint64_t evaluating_bytes = 64ULL << 20;            // documents at the expression worker; further steps wait
  std::uint64_t uncommitted_bytes = 64ULL << 20;           // handed to the store, not yet durable; beyond this submissions are refused
  std::uint32_t full_percent = 90;                         // of the store's size; beyond this submissions are refused
  std::uint32_t shard = 0;                                 // number of this shard
  std::uint32_t shard_count = 1;                           // agents' limits and those of the cron are divided among so many shards
  v1::Lineage lineage;                                     // of the shard; not set: lineages are not compared
  cron_limits cron;
  undo_brake_policy brake;
  registry_policy registry;
};

using planted_faults = core::planted_faults;

class scheduler final : private launch_tasks, private family_tasks {
 public:
  struct ports {
    const clock* time = nullptr;
    const store::store* reads = nullptr;
    commit_port* commits = nullptr;
    scheduler_outbox* out = nullptr;
    observer* log = nullptr;
    const core::workflow_engine* engine = nullptr;
    const core::zone_source* zones = nullptr;                 // null: the system's
    bool confirms = false;                                    // other nodes may lead the shard (commit_pipeline::ports)
    std::function<v1::ReplicationStatus()> replication = {};  // of this node; empty: the shard lives on this node alone
    std::string work_key = {};                                // random; signs for workers over HTTP if the shard has no key yet
  };

  scheduler(ports world, scheduler_limits limits, planted_faults faults = {});
  ~scheduler() override;

  /// Starts under `epoch`, which the caller has raised, from the state in the store. Call `resume_some` until it returns false.
  status open(std::uint64_t epoch);

  // Messages in. A handler may leave an open batch: `wants_flush` is then true.
  void answer(v1::SubmitRequest what, std::uint64_t ticket, std::uint64_t subscriber);  // subscriber 0: no notices
  /// The subscriber is gone: its notices are dropped.
  void unsubscribe(std::uint64_t subscriber);
  void answer(const v1::DeployRequest& what, std::uint64_t ticket);
  void answer(const v1::WorkflowDeleteRequest& what, std::uint64_t ticket);
  void answer(const v1::WatchRequest& what, std::uint64_t ticket);
  /// An instance registers. An error in the answer: the registration is refused. The caller fills in the clock fields of the answer.
  /// `reconnected`: messages to the instance may have been lost although it was never reported away.
  v1::AgentWelcome add_agent(const v1::RegisterAgent& what, bool reconnected = false);
  /// This process of the instance cannot be reached. It gets nothing until it registers again; the leases of its attempts run on.
  void agent_away(const std::string& instance, std::uint64_t incarnation, const std::string& why);
  /// Slots that the instance, and others of its service, could use of a capacity that this shard shares with other shards.
  std::uint64_t wanted_of(const std::string& instance) const;
  /// Counts a message that makes no sense here.
  void misdirected() { ++traffic_.misdirected; }
  void outcomes(v1::OutcomeBatch what);
  void heartbeats(v1::HeartbeatBatch what);
  void recover(const v1::RecoverBatch& what);
  void evaluated(v1::EvaluateReply what);
  void archive(const archive_rows& what);
  void delivered(courier_rows what);
  void stalest(const stalest_task& what) { stalest_ = what; }
  /// For each of these tasks: was anyone inside the process asked for the input or slot that the task waits for? A wait found to be in vain
  /// twice raises an alert and is asked for anew. A task that still waits in vain is parked.
  void look_at_waits(const waiting_tasks& what);
  void answer(const v1::OperateRequest& what, std::uint64_t ticket);
  void answer(const v1::AlertAckRequest& what, std::uint64_t ticket);
  void answer(const v1::BrakeReleaseRequest& what, std::uint64_t ticket);
  /// An operator has dealt with the effects without a task.
  void answer(const v1::DoctorRequest& what, std::uint64_t ticket);
  void answer(const v1::AgentOperateRequest& what, std::uint64_t ticket);
  void answer(const v1::WorkerSessionRequest& what, std::uint64_t ticket);
  void answer(const v1::JobApplyRequest& what, std::uint64_t ticket);
  void answer(const v1::JobOperateRequest& what, std::uint64_t ticket);
  /// The cron has found jobs whose time has come.
  void launch_due(const due_jobs& what);
  /// Some waiting steps may start because time has passed. `next_offer` is the moment of the next such check; nullopt: none.
  void offer();
  std::optional<moment> next_offer() const {
    const auto next = slots_.next_wake();
    return next && faults_.offer_for_ever ? world_.time->now() : next;
  }
  void on_committed(std::uint64_t sequence);
  void on_confirmed(std::uint64_t ticket, bool led);
  void expire_watches();
  /// Of a node of the cluster. Only shard 0 keeps these alerts.
  void look_at_certificate(const v1::CertificateReport& what);
  /// To be called now and then, more often than every replica_watch::period.
  void look_at_replicas();

  /// Takes up the next tasks of the sweep after a start; false when the sweep is over.
  bool resume_some();

  /// Closes the open batch and hands it to the commit port.
  void flush() override;
  bool wants_flush() const;

  /// From now on: no new tasks, no hand-overs.
  void drain();
  /// Every decision is durable, and its messages have left.
  bool settled() const;
  /// Attempts that an instance holds.
  std::uint64_t held_by(const std::string& instance) const { return slots_.held_by(instance); }

  void describe(v1::StatusReply& out) const;
  std::uint64_t epoch() const noexcept { return batches_.epoch(); }
  std::uint32_t shard() const noexcept { return limits_.shard; }
  bool watched() const noexcept { return !watches_.empty(); }
  /// The store could not be read: the node must stop.
  const std::optional<error>& fatal() const noexcept { return fatal_; }

 private:
  struct live_task {
    v1::TaskRecord record;
    workflow_catalog::handle definition;
    std::uint64_t last_sequence = 0;  // newest batch that holds a version of the task
    std::uint64_t sent_again = 0;     // batch of the latest messages that hand attempts over once more
    std::map<std::uint32_t, std::pair<v1::Direction, std::uint32_t>>
        handed_before;                                              // by step: the attempt, which another host may have, too
    std::unordered_map<std::uint32_t, std::string> fresh_payloads;  // by slot, until committed
    std::unordered_set<std::uint32_t> evaluating;                   // core::evaluation_key of parts that the worker was asked for
    std::string poison;  // why a decision about the task crashed; nothing more is decided about it
  };
  struct recent_id {
    std::uint64_t number = 0;
    std::string content_hash;
  };
  const store::snapshot& committed() { return batches_.committed(); }
  live_task* find(std::uint64_t number);
  live_task* load(std::uint64_t number);
  struct applied {
    bool accepted = false;         // the outcome counts, or the attempt is still held
    std::optional<error> refused;  // why the operator's action cannot be done
    bool repeated = false;         // the operator's action had been done before
  };
  applied apply(live_task& task, const core::event& what);
  void poison(live_task& task, std::string why);
  static std::string bug_sentence(const std::exception& bug);
  core::context context_for(const live_task& task, const core::payload_source& payloads);
  void write(live_task& task, const store::task_index_state& before, core::decision& made, bool exact_due);
  void fold_history(live_task& task);
  void store_payloads(live_task& task, core::decision& made);
  void write_alerts(v1::TaskRecord& record, core::decision& made);
  void write_services();
  void watch_brake(const v1::TaskRecord& record, const core::decision& made);
  void gather(live_task& task, core::decision& made);
  void count(const store::task_index_state& before, const v1::TaskRecord& after);
  void act(effects after);
  void flush_if_large() override;
  void watch_room();
  std::uint64_t active_tasks() const;
  std::uint64_t queued_tasks() const { return batches_.counts().pending() - batches_.counts().scheduled(); }
  std::optional<v1::Fault> fault_of_output(const std::string& output) const;
  static bool drops_output(const live_task& task, const v1::Outcome& what);
  void take_expressions(const evaluations::wanted& whose, v1::EvaluateReply& what);
  void serve_waiting();
  void admit_pending();
  void take_hints(core::decision& made);
  void go_on();
  void repair(const std::vector<std::uint64_t>& numbers);
  bool repair_entry(live_task& task);
  void erase_strays(const std::set<std::uint64_t>& numbers);
  void tell_of_repair(std::uint64_t number, const std::string& what, const v1::TaskRecord* record);
  std::optional<core::step_wait> vain_wait_of(const live_task& task, const evaluations::asked_parts& asked);
  void mend_wait(live_task& task, const core::step_wait& wait);
  void raise_stalled(const v1::TaskRecord& record, const std::string& words);
  static void note_handed(live_task& task);
  bool makes_sense(std::uint32_t shard, const std::string& instance, std::uint64_t incarnation);
  using unsent_steps = std::map<std::uint64_t, std::vector<std::uint32_t>>;  // by task number
  unsent_steps keep_back(const std::string& instance);
  void arrived(const std::string& instance, std::uint64_t incarnation, const unsent_steps& never_left, bool reconnected);
  void count_limits_anew(const std::string& agent);
  void refused(const v1::OutcomeBatch& what);
  void ticket(const live_task& task, const std::string& instance, v1::Perform& what);
  bool given_back(live_task& task, const v1::OutcomeBatch& by, const v1::Outcome& what);
  void left_over(const v1::OutcomeBatch& what);
  bool has_step(std::uint64_t number, const std::string& path);
  v1::OperateResult operate_on(const std::string& id, const v1::OperatorAction& action, const std::string& submitter);
  error gone(const std::string& id);
  result<bool> is_visible_to(const std::string& submitter, const std::string& id);
  /// nullopt: done, or the store could not be read.
  std::optional<error> delete_task(const std::string& id, std::uint64_t number, const v1::OperatorAction& action, v1::OperateResult& out);

  // The port through which families use tasks (family_tasks).
  const v1::TaskRecord* newest(std::uint64_t number) override;
  bool has_crashed(std::uint64_t number) override { return find(number) != nullptr && !find(number)->poison.empty(); }
  const core::workflow& definition_of(std::uint64_t number) override { return *find(number)->definition; }
  result<std::optional<std::uint64_t>> number_of(const std::string& id) override;
  result<std::string> text_of(std::uint64_t number, const v1::Payload& payload) override;
  std::optional<error> decide_about(std::uint64_t number, const core::event& what) override;
  result<workflow_catalog::handle> pinned_to(std::uint64_t number, std::uint32_t call_of) override;
  void create_child(v1::Submission& item, core::child_order& order, v1::ParentOf parent, workflow_catalog::handle definition) override;
  bool is_leaving(std::uint64_t number) override;
  void forget_if_idle(std::uint64_t number) override;

  // The port through which launches use tasks (launch_tasks).
  std::uint64_t create_launch(v1::Submission& item, std::string input, workflow_catalog::handle definition, v1::LaunchOf launch,
                              std::int64_t deadline_unix_ms, std::int64_t restored_from_unix_ms) override;
  void cancel_launch(std::uint64_t number, const std::string& reason) override;
  v1::TaskState final_state_of(std::uint64_t number, const std::string& id) override;
  result<bool> has_task(const std::string& id) override;
  bool draining() const override { return draining_; }
  bool failed() const override { return fatal_.has_value(); }
  bool fail(const error& why) override;

  v1::SubmitResult take(v1::Submission& item, std::uint64_t subscriber, core::comparison_budget& budget);
  std::optional<error> refuse_new() const override;
  /// The number of a taken or stored task, by its id.
  result<std::optional<recent_id>> lookup(const std::string& id);
  /// Notifies `subscriber` when the task ends or parks; at once if it has ended or is parked.
  void follow(const std::string& id, std::uint64_t number, std::uint64_t subscriber);
  /// The additional fields of a task that is a launch, or the child of another.
  struct task_part {
    std::optional<v1::LaunchOf> launch;
    std::int64_t deadline_unix_ms;  // 0: none
    std::optional<v1::ParentOf> parent;
    std::int64_t restored_from_unix_ms;            // as core::new_task
    std::string item;                              // likewise
    std::int64_t first_restored_from_unix_ms = 0;  // likewise
  };
  /// Returns the number of the new task.
  std::uint64_t create(v1::Submission& item, std::string minified, std::string hash, workflow_catalog::handle definition,
                       std::uint64_t subscriber, task_part part);

  ports world_;
  scheduler_limits limits_;
  planted_faults faults_;

  alert_book alerts_;
  commit_pipeline batches_;
  store_watch store_watch_;
  replica_watch replica_watch_;
  certificate_watch certificate_watch_;
  bool draining_ = false;
  std::optional<error> fatal_;

  workflow_catalog catalog_;
  registry slots_;
  traffic_counts traffic_;
  watches watches_;
  stray_effects strays_;
  worker_book workers_;
  failing_steps failing_{alerts_};
  undo_brake brake_;
  stalest_task stalest_;
  std::map<std::string, std::uint64_t> erasing_strays_;  // keys of the due index -> the batch that erases them
  archive_ledger archive_;
  resume_sweep sweep_;
  evaluations evaluations_;
  std::unordered_map<std::uint64_t, std::unique_ptr<live_task>> live_;
  std::unordered_map<std::string, recent_id> recent_ids_;              // taken, not yet committed
  std::unordered_multimap<std::uint64_t, std::uint64_t> subscribers_;  // task number -> subscriber

  launches launches_;
  families families_;

  struct due_step {
    std::uint64_t sequence = 0;  // the batch that makes it durable
    v1::Recover what;
  };
  std::deque<due_step> going_on_;                       // in the order of their batches
  std::uint64_t turns_ = 0;                             // how often steps have gone on
  std::deque<std::uint64_t> pending_ahead_;             // next pending tasks, read ahead from their index
  std::unordered_set<std::uint64_t> suspects_;          // tasks that waited in vain at the last check
  std::unordered_map<std::uint64_t, unsigned> mended_;  // tasks whose waits were found in vain -> how often
};

}  // namespace fairlead
